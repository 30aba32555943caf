# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of the Python package with the first Python that has NumPy and pytest.

    run.py LIBRARY [arguments of pytest...]

A library with sanitizers works too: theirs are loaded first, and leaks are left to the tests in C, because Python keeps memory
at its end.

The Python is build/python (scripts/setup check-all), that of this script, or the system's. Without one, exit status 77
(skipped). A single test that is skipped says why.
"""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
VENV = HERE.parents[1] / "build/python/bin/python"


def has(python, modules):
    return subprocess.run([python, "-c", f"import {modules}"], capture_output=True).returncode == 0


for python in (str(VENV), sys.executable, "/usr/bin/python3"):
    if os.path.exists(python) and has(python, "numpy, pytest"):
        break
else:
    print("skipped: no Python here has NumPy and pytest; scripts/setup check installs them")
    sys.exit(77)
library = pathlib.Path(sys.argv[1]).resolve()
env = {**os.environ, "LIBAMBIT": str(library)}
sanitizers = sorted({s.decode() for s in re.findall(rb"lib(?:a|ub)san\.so\.\d+", library.read_bytes())})
if sanitizers:
    env.update(LD_PRELOAD=":".join(sanitizers), ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")
done = subprocess.run([python, "-B", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--rootdir", HERE, *sys.argv[2:]],
                      env=env, cwd=HERE)
sys.exit(done.returncode)
