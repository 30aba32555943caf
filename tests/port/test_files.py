#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of several files, serial against translated. A failure prints the seed that reproduces it.

    test_files.py ambit-port libambit.so source-folder cc device first count

All files are translated together, or, of every third program, one of them alone. AMBIT_PORT_RANDOM=n asks for more programs,
AMBIT_PORT_KEEP=folder keeps those that fail.
"""
import os, pathlib, re, shutil, sys, tempfile

import check, random_programs

FOUND = []  # seeds that found mistakes


def compare(tools, seed, device, folder):
    """Returns how many nests were translated, and how many were not."""
    for name, text in random_programs.Program(seed).files().items():
        (folder / name).write_text(text)
    files = sorted(folder.glob("part*.c"))
    want = tools.must(tools.compile_serial(files[0], folder / "serial", *files[1:])).stdout
    chosen = [files[seed % len(files)]] if seed % 3 == 0 else files
    out = folder / "out"
    out.mkdir()
    to = out if len(chosen) > 1 else out / chosen[0].name
    notes = tools.must(tools.port, *chosen, "-o", to).stderr
    all_files = [out / f.name if f in chosen else f for f in files]
    program = tools.compile_ported(all_files[0], folder / "ported", *all_files[1:], "-I", folder, "-Wno-unused-variable")
    got = tools.run(program, env={"AMBIT_DEVICES": device})
    assert got.returncode == 0, f"exit {got.returncode}\n{got.stderr[-2000:]}"
    assert got.stdout == want, f"serial:\n{want[:1500]}\nported:\n{got.stdout[:1500]}\n{got.stderr[-1000:]}"
    counts = re.findall(r"(\d+) nests? in parallel \(\d+ steps?\), (\d+) serial", notes)
    return sum(int(c[0]) for c in counts), sum(int(c[1]) for c in counts)


def main():
    port, library, source, cc, device, first, count = sys.argv[1:8]
    tools = check.Tools(port, library, source, cc, [])
    count = int(os.environ.get("AMBIT_PORT_RANDOM", count))
    failed = nests = serial = 0
    for seed in [*FOUND, *range(int(first), int(first) + count)]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                n, left = compare(tools, seed, device, pathlib.Path(folder))
                nests, serial = nests + n, serial + left
            except AssertionError as e:
                failed += 1
                print(f"FAILED seed {seed}: {e}")
                if "AMBIT_PORT_KEEP" in os.environ:
                    shutil.copytree(folder, pathlib.Path(os.environ["AMBIT_PORT_KEEP"]) / f"files_{seed}", dirs_exist_ok=True)
    print(f"{count + len(FOUND)} programs, {nests} nests translated, {serial} left serial, {failed} failed")
    return failed != 0 or nests < 10


sys.exit(main())
