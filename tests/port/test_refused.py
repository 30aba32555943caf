#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nests that must not be translated: each file says in comments which words the note must have.

    test_refused.py ambit-port
"""
import pathlib, re, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent


def fault(port, path):
    text = path.read_text()
    want = re.findall(r"/\* says: (.*?) \*/", text)
    code = int((re.findall(r"/\* exit: (\d+) \*/", text) or ["0"])[0])
    r = subprocess.run([port, str(path), "-o", "/dev/null"], capture_output=True, text=True, timeout=60)
    if not want:
        return "no words"
    if r.returncode != code:
        return f"exit {r.returncode}, not {code}\n{r.stderr}"
    for words in want:
        if words not in r.stderr:
            return f"no '{words}' in\n{r.stderr}"
    if not re.search(rf"{path.name}:\d+:\d+: ", r.stderr):
        return f"no place in\n{r.stderr}"
    if code == 0 and " 0 nests in parallel" not in r.stderr:
        return f"translated\n{r.stderr}"
    return None


def main():
    paths = sorted((HERE / "refused").glob("*.c"))
    bad = [(p.name, f) for p in paths if (f := fault(sys.argv[1], p))]
    for name, why in bad:
        print(f"FAILED {name}: {why}")
    print(f"{len(paths)} programs, {len(bad)} faults")
    return len(bad) != 0 or not paths


sys.exit(main())
