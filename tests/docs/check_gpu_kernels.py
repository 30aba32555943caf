#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The C program in docs/gpu-kernels.md compiles without a warning, and runs its own kernel, with the correct
result, on every kind of GPU that is present, including OpenCL on the processor.

    check_gpu_kernels.py LIBRARY TOOL WORK_FOLDER CC
"""
import pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = "-std=c11 -Wall -Wextra -Werror -O2".split()
SKIP = 77


def program():
    blocks = re.findall(r"^```c\n(.*?)^```$", (ROOT / "docs/gpu-kernels.md").read_text(), re.M | re.S)
    if len(blocks) != 1:
        sys.exit(f"docs/gpu-kernels.md has {len(blocks)} blocks of C; it should have one")
    return blocks[0]


def main():
    library, tool, work, cc = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4]
    work.mkdir(parents=True, exist_ok=True)
    (work / "own.c").write_text(program())
    command = [cc, *FLAGS, "-I", ROOT / "include", "own.c", library, f"-Wl,-rpath,{library.parent}", "-lm", "-o", "own"]
    subprocess.run(list(map(str, command)), cwd=work, check=True)
    listed = subprocess.run([tool, "devices", "--quick"], capture_output=True, text=True, check=True).stdout
    devices = [d for d in ("cuda", "opencl") if re.search(rf"^\s*{d}\b", listed, re.M)]
    for device in devices:
        done = subprocess.run([work / "own", f"--ambit-devices={device}"], cwd=work, capture_output=True, text=True)
        print(device, done.stdout, done.stderr, sep="\n")
        if done.returncode:
            sys.exit(f"the program of docs/gpu-kernels.md returned {done.returncode} on {device}")
        if done.stderr.count("(registered)") != 1:
            sys.exit(f"the program did not run its own kernel on {device}")
    if not devices:
        print("skipped: there is no GPU here, and no OpenCL")
        sys.exit(SKIP)


main()
