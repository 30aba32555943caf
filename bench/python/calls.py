# SPDX-License-Identifier: BSD-3-Clause
"""Python beside C: the same heat program, in turns, and the microseconds of short calls; CPU time of all threads.

    calls.py [SIZE ITERATIONS ROUNDS]     with PYTHONPATH=python and a library in build/
"""
import os, pathlib, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZE, ITERATIONS, ROUNDS = [int(x) for x in sys.argv[1:4] or (1024, 1000, 9)] if sys.argv[1:2] != ["--once"] else (0, 0, 0)
BATCHES, CALLS = 20, 200  # the best batch counts


def once(size, iterations):
    sys.path.insert(0, str(ROOT / "python"))
    import ambit
    import numpy as np
    heat = ambit.kernel("void heat(const float *u, float *v, float k)\n"
                        "{ *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }")
    g = ambit.Grid(size, size)
    i, j = np.mgrid[0:size, 0:size]
    u, v = g.field("u", boundary="clamp", value=(131 * i + 17 * j) % 251), g.field("v")
    s = ambit.scalar("s", "f4")
    p = g.program(heat(u, v, 0.2), ambit.swap(u, v))
    p.run(iterations)
    start = time.process_time()
    p.run(iterations)
    times = [time.process_time() - start]
    for what in (lambda: p.run(0), lambda: setattr(s, "value", 1), lambda: u[0, :8]):
        batches = []
        for _ in range(BATCHES):
            start = time.process_time()
            for _ in range(CALLS):
                what()
            batches.append((time.process_time() - start) / CALLS * 1e6)
        times.append(min(batches))
    print(*[f"{t:.6f}" for t in times])


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "heat")
        subprocess.run(["cc", "-O2", "-I", ROOT / "include", ROOT / "bench/python/heat.c", "-o", program, "-L", ROOT / "build", "-lambit",
                        f"-Wl,-rpath,{ROOT / 'build'}"], check=True)
        sides = {"C": [program, str(SIZE), str(ITERATIONS)],
                 "Python": [sys.executable, __file__, "--once", str(SIZE), str(ITERATIONS)]}
        times = {side: [] for side in sides}
        for _ in range(ROUNDS):
            for side, command in sides.items():
                out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                times[side].append([float(x) for x in out.split()])
    best = {side: [min(column) for column in zip(*rows)] for side, rows in times.items()}
    ratios = [b[0] / a[0] for a, b in zip(times["C"], times["Python"])]
    print(f"{SIZE}^2, {ITERATIONS} iterations, {ROUNDS} rounds in turns, CPU seconds")
    print(f"best: C {best['C'][0]:.4f} s, Python {best['Python'][0]:.4f} s, ratio {best['Python'][0] / best['C'][0]:.4f}; "
          f"median of the ratios {statistics.median(ratios):.4f}")
    for name, c, p in zip(("run(0)", "scalar.value = x", "u[0, :8]"), best["C"][1:], best["Python"][1:]):
        print(f"{name}: C {c:.2f} us, Python {p:.2f} us, {p - c:.2f} us more")


if sys.argv[1:2] == ["--once"]:
    once(int(sys.argv[2]), int(sys.argv[3]))
else:
    main()
