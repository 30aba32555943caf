# SPDX-License-Identifier: BSD-3-Clause
"""Heat and Gray-Scott in Ambit, Numba, JAX, Taichi and Devito, and the acoustic example of Devito, from one Python.

    peers.py [ROUNDS [PROBLEM...]]   runs each in a process of its own, in turns; those that are not installed are left out
    $PEERS_PYTHON           a Python for the peers, if they are not in this one; $DEVITO_PYTHON, for Devito

Prints the lines of code, the time to the first result (start of Python, imports, compilation, one iteration) and the CPU
time per iteration: other programs may have the cores meanwhile. All compute in float, with cells at the edge kept.
The acoustic example is examples/seismic/acoustic of Devito's package: layers, an absorbing layer of 40 cells, a source and
2,500 receivers, of fourth order in space; Devito's own classes make its model, and both programs read it from a file.
Functions between the marks are counted as code.
"""
import inspect, os, shutil, statistics, subprocess, sys, tempfile, time

N, STEPS = 1024, 200


# ---- code that is counted


def heat_ambit(u0, n):
    import ambit
    heat = ambit.kernel("""void heat(const float *u, float *v)
        { *v = *u + 0.2f * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u); }""")
    g = ambit.Grid(*u0.shape)
    u, v = g.field("u", boundary="fixed", value=u0), g.field("v", boundary="fixed")
    p = g.program(heat(u, v), ambit.swap(u, v))
    yield p.run(1)
    yield p.run(n)
    yield u[...]


def heat_numba(u0, n):
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def heat(u, v, n):
        k = numba.float32(0.2)
        for _ in range(n):
            for i in numba.prange(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    v[i, j] = u[i, j] + k * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
            u, v = v, u
        return u, v
    u, v = heat(u0.copy(), u0.copy(), 1)
    yield 1
    u, v = heat(u, v, n)
    yield n
    yield u


def heat_jax(u0, n):
    import jax
    import jax.numpy as jnp

    def step(_, u):
        c = u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].set(c + 0.2 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * c))
    run = jax.jit(lambda u, n: jax.lax.fori_loop(0, n, step, u))
    u = run(jnp.asarray(u0), 1).block_until_ready()
    yield 1
    u = run(u, n).block_until_ready()
    yield n
    yield u


def heat_taichi(u0, n):
    import taichi as ti
    ti.init(arch=ti.cpu, log_level=ti.ERROR, offline_cache=False)
    u, v = ti.field(ti.f32, u0.shape), ti.field(ti.f32, u0.shape)

    @ti.kernel
    def heat(u: ti.template(), v: ti.template()):
        for i, j in ti.ndrange((1, u0.shape[0] - 1), (1, u0.shape[1] - 1)):
            v[i, j] = u[i, j] + 0.2 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
    u.from_numpy(u0)
    v.from_numpy(u0)
    heat(u, v)
    ti.sync()
    yield 1
    for _ in range(n):
        u, v = v, u
        heat(u, v)
    ti.sync()
    yield n
    yield v.to_numpy()


def heat_devito(u0, n):
    import devito
    grid = devito.Grid(shape=u0.shape, extent=tuple(s - 1 for s in u0.shape))
    u = devito.TimeFunction(name="u", grid=grid, space_order=2)
    u.data[:] = u0
    op = devito.Operator([devito.Eq(u.forward, u + 0.2 * u.laplace, subdomain=grid.interior)])
    op(time_m=0, time_M=0)
    yield 1
    op(time_m=1, time_M=n)
    yield n
    yield u.data[(n + 1) % 2]


def reaction_ambit(u0, n):
    import ambit

    @ambit.kernel
    def gray_scott(u, v, p, q):
        a, b = u[0, 0], v[0, 0]
        r = a * b * b
        p[0, 0] = a + 0.16 * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1] - 4 * a) - r + 0.035 * (1 - a)
        q[0, 0] = b + 0.08 * (v[-1, 0] + v[1, 0] + v[0, -1] + v[0, 1] - 4 * b) + r - 0.1 * b
    g = ambit.Grid(*u0.shape)
    u, v, p, q = (g.field(x, boundary="fixed", value=y) for x, y in zip("uvpq", (1 - u0, u0, 1 - u0, u0)))
    program = g.program(gray_scott(u, v, p, q), ambit.swap(u, p), ambit.swap(v, q))
    yield program.run(1)
    yield program.run(n)
    yield v[...]


def reaction_numba(u0, n):
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def gray_scott(u, v, p, q, n):
        f, one = numba.float32, numba.float32(1)
        for _ in range(n):
            for i in numba.prange(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    a, b = u[i, j], v[i, j]
                    r = a * b * b
                    p[i, j] = a + f(0.16) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * a) - r + f(0.035) * (one - a)
                    q[i, j] = b + f(0.08) * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4 * b) + r - f(0.1) * b
            u, v, p, q = p, q, u, v
        return u, v, p, q
    state = gray_scott(1 - u0, u0.copy(), 1 - u0, u0.copy(), 1)
    yield 1
    state = gray_scott(*state, n)
    yield n
    yield state[1]


def reaction_jax(u0, n):
    import jax
    import jax.numpy as jnp

    def lap(u):
        return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]

    def step(_, state):
        u, v = state
        a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
        r = a * b * b
        return (u.at[1:-1, 1:-1].set(a + 0.16 * lap(u) - r + 0.035 * (1 - a)),
                v.at[1:-1, 1:-1].set(b + 0.08 * lap(v) + r - 0.1 * b))
    run = jax.jit(lambda s, n: jax.lax.fori_loop(0, n, step, s))
    state = jax.block_until_ready(run((jnp.asarray(1 - u0), jnp.asarray(u0)), 1))
    yield 1
    state = jax.block_until_ready(run(state, n))
    yield n
    yield state[1]


def reaction_taichi(u0, n):
    import taichi as ti
    ti.init(arch=ti.cpu, log_level=ti.ERROR, offline_cache=False)
    u, v, p, q = (ti.field(ti.f32, u0.shape) for _ in range(4))

    @ti.kernel
    def gray_scott(u: ti.template(), v: ti.template(), p: ti.template(), q: ti.template()):
        for i, j in ti.ndrange((1, u0.shape[0] - 1), (1, u0.shape[1] - 1)):
            a, b = u[i, j], v[i, j]
            r = a * b * b
            p[i, j] = a + 0.16 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * a) - r + 0.035 * (1 - a)
            q[i, j] = b + 0.08 * (v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4 * b) + r - 0.1 * b
    for field, values in ((u, 1 - u0), (v, u0), (p, 1 - u0), (q, u0)):
        field.from_numpy(values)
    gray_scott(u, v, p, q)
    ti.sync()
    yield 1
    for _ in range(n):
        u, v, p, q = p, q, u, v
        gray_scott(u, v, p, q)
    ti.sync()
    yield n
    yield q.to_numpy()


def reaction_devito(u0, n):
    import devito
    grid = devito.Grid(shape=u0.shape, extent=tuple(s - 1 for s in u0.shape))
    u, v = (devito.TimeFunction(name=x, grid=grid, space_order=2) for x in "uv")
    u.data[:], v.data[:] = 1 - u0, u0
    r, inside = u * v * v, grid.interior
    op = devito.Operator([devito.Eq(u.forward, u + 0.16 * u.laplace - r + 0.035 * (1 - u), subdomain=inside),
                          devito.Eq(v.forward, v + 0.08 * v.laplace + r - 0.1 * v, subdomain=inside)])
    op(time_m=0, time_M=0)
    yield 1
    op(time_m=1, time_M=n)
    yield n
    yield v.data[(n + 1) % 2]


def acoustic_ambit(shot, n):
    import ambit

    @ambit.kernel
    def wave(past, now, new, vp, damp, dt, h):
        lap = 4 / 3 * (now[-1, 0, 0] + now[1, 0, 0] + now[0, -1, 0] + now[0, 1, 0] + now[0, 0, -1] + now[0, 0, 1]) \
            - (now[-2, 0, 0] + now[2, 0, 0] + now[0, -2, 0] + now[0, 2, 0] + now[0, 0, -2] + now[0, 0, 2]) / 12 - 7.5 * now[0, 0, 0]
        a = (vp[0, 0, 0] * dt) ** 2
        d = damp[0, 0, 0] * a / dt
        new[0, 0, 0] = ((2 + d) * now[0, 0, 0] - past[0, 0, 0] + a / (h * h) * lap) / (1 + d)
    g = ambit.Grid(*shot["vp"].shape)
    past, now, new = (g.field(x, boundary=0) for x in ("past", "now", "new"))
    vp, damp = g.field("vp", value=shot["vp"]), g.field("damp", value=shot["damp"])
    source, receivers, seen = ambit.Points(g, shot["source"]), ambit.Points(g, shot["receivers"]), ambit.Record("seen")
    p = g.program(wave(past, now, new, vp, damp, shot["dt"], shot["h"]), ambit.inject(source, ambit.Record("w", shot["wavelet"]), new),
                  ambit.sample(receivers, now, seen), ambit.rotate(past, now, new))
    yield p.run(1)
    yield p.run(n - 1)
    yield seen[...]


def acoustic_devito(shot, n):
    import devito
    size = shot["vp"].shape
    grid = devito.Grid(shape=size, extent=[shot["h"] * (k - 1) for k in size])
    u = devito.TimeFunction(name="u", grid=grid, time_order=2, space_order=4)
    vp, damp = (devito.Function(name=x, grid=grid, space_order=4) for x in ("vp", "damp"))
    vp.data[:], damp.data[:] = shot["vp"], shot["damp"]
    src = devito.SparseTimeFunction(name="src", grid=grid, npoint=1, nt=n, coordinates=shot["h"] * shot["source"])
    rec = devito.SparseTimeFunction(name="rec", grid=grid, npoint=len(shot["receivers"]), nt=n, coordinates=shot["h"] * shot["receivers"])
    src.data[:] = shot["unscaled"]
    m, dt = 1 / vp**2, grid.stepping_dim.spacing
    step = devito.Eq(u.forward, devito.solve(m * u.dt2 - u.laplace + damp * u.dt, u.forward))
    op = devito.Operator([step] + src.inject(u.forward, src * dt**2 / m) + rec.interpolate(u))
    op(time_m=0, time_M=0, dt=shot["dt"])
    yield 1
    op(time_m=1, time_M=n - 1, dt=shot["dt"])
    yield n - 1
    yield rec.data


# ---- the measurement

PEERS = ("ambit", "numba", "jax", "taichi", "devito")
PROBLEMS = {"heat": PEERS, "reaction": PEERS, "acoustic": ("ambit", "devito")}


def make_shot(path):
    """The model of Devito's acoustic example, and the norm of its record; in the Python that has Devito."""
    import numpy as np
    from examples.seismic.acoustic.acoustic_example import acoustic_setup
    solver = acoustic_setup(shape=(50, 50, 50), spacing=(20.0, 20.0, 20.0), tn=1000.0, nbl=40, space_order=4)
    model, shot, rec = solver.model, solver.geometry, solver.forward()[0]
    dt, vp, h = float(model.critical_dt), np.asarray(model.vp.data), model.spacing[0]

    def cells(at):
        return (np.asarray(at) - np.asarray(model.origin)) / h + model.nbl
    source = cells(shot.src_positions)
    wavelet = np.asarray(shot.src.data)
    i, j, k = source[0].astype(int)
    np.savez(path, vp=vp, damp=np.asarray(model.damp.data), dt=dt, h=float(h), source=source, receivers=cells(shot.rec_positions),
             unscaled=wavelet, wavelet=wavelet * (dt * vp[i, j, k]) ** 2, norm=np.linalg.norm(rec.data))


def once(name):
    import numpy as np
    if name.startswith("acoustic"):
        shot = dict(np.load(os.environ["SHOT"]))
        shot.update(dt=float(shot["dt"]), h=float(shot["h"]))
        run, steps = globals()[name](shot, len(shot["wavelet"])), len(shot["wavelet"]) - 1
    else:
        i, j = np.mgrid[0:N, 0:N]
        run, steps = globals()[name](((131 * i + 17 * j) % 251 / 251 / 4).astype("f4"), STEPS), STEPS
    next(run)
    first = time.time() - float(os.environ["STARTED"])
    start, wall = time.process_time(), time.perf_counter()
    next(run)
    cpu, wall = time.process_time() - start, time.perf_counter() - wall
    result = np.asarray(next(run)).astype("f8")
    print(first, cpu / steps, wall / steps, float(np.linalg.norm(result) if name.startswith("acoustic") else result.sum()), "result", flush=True)
    os._exit(0)


def lines(name):
    text = inspect.getsource(globals()[name]).splitlines()[1:]
    return sum(bool(line.strip()) for line in text)


def main(rounds, problems):
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    folder = tempfile.mkdtemp()
    env = {**os.environ, "PYTHONPATH": os.path.join(root, "python"), "DEVITO_LANGUAGE": "openmp", "DEVITO_LOGGING": "ERROR",
           "JAX_PLATFORMS": "cpu", "AMBIT_CACHE": "none", "AMBIT_DEVICES": "cpu", "SHOT": os.path.join(folder, "shot.npz")}
    pythons = {peer: os.environ.get("DEVITO_PYTHON" if peer == "devito" else "PEERS_PYTHON", sys.executable) for peer in PEERS}
    if "acoustic" in problems:
        subprocess.run([pythons["devito"], __file__, "--shot", env["SHOT"]], env=env, check=True)
    for problem in problems:
        found = {}
        for _ in range(rounds):
            for peer in PROBLEMS[problem]:
                r = subprocess.run([pythons[peer], __file__, "--once", f"{problem}_{peer}"], capture_output=True, text=True,
                                   env={**env, "STARTED": str(time.time())})
                if r.stdout.strip().endswith("result"):
                    found.setdefault(peer, []).append([float(x) for x in r.stdout.split()[-5:-1]])
                else:
                    print(f"{problem}, {peer}: {r.stderr.strip().splitlines()[-1:]}")
        print(f"{problem}, float: peer, lines, first result s, CPU ms and wall ms per iteration (best of {rounds}), "
              "median ratio of CPU times to Ambit's, sum or norm")
        for peer, rows in found.items():
            first, cpu, wall, _ = (min(column) for column in zip(*rows))
            ratio = statistics.median(r[1] / a[1] for r, a in zip(rows, found["ambit"]))
            print(f"  {peer:8} {lines(f'{problem}_{peer}'):3} {first:8.2f} {1e3 * cpu:9.3f} {1e3 * wall:9.3f} {ratio:7.2f}  "
                  f"{statistics.median(r[3] for r in rows):.2f}", flush=True)
    shutil.rmtree(folder)


if sys.argv[1:2] == ["--once"]:
    once(sys.argv[2])
elif sys.argv[1:2] == ["--shot"]:
    make_shot(sys.argv[2])
else:
    main(int((sys.argv[1:] or ["3"])[0]), sys.argv[2:] or list(PROBLEMS))
