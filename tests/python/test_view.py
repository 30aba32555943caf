# SPDX-License-Identifier: BSD-3-Clause
"""Program.view shows a run while it runs."""
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

import ambit

PROGRAM = """
import ambit
with ambit.open(view="http", devices="cpu") as a:
    g = ambit.Grid(60, 80, context=a)
    u, v = g.field("u"), g.field("v")
    step = ambit.kernel("void step(const float *u, float *v) { *v = *u + 1; }")
    p = g.program(step(u, v), ambit.swap(u, v))
    p.view(u)
    p.run(2_000_000_000)
"""


def test_view_is_live():
    """A client sees two pictures of a run that has not ended, the second of a later iteration, and a pause holds it."""
    package = pathlib.Path(ambit.__file__).parents[1]
    run = subprocess.Popen([sys.executable, "-c", PROGRAM], env={**os.environ, "AMBIT_THREADS": "1", "PYTHONPATH": str(package)}, stderr=subprocess.PIPE, text=True)
    try:
        for line in run.stderr:
            m = re.search(r"(http://127\.0\.0\.1:\d+)/#(\w+)", line)
            if m:
                break

        def ask(path, body=None):
            headers = {"X-Ambit-Token": m[2], "X-Ambit-Client": "test"}
            return urllib.request.urlopen(urllib.request.Request(m[1] + path, body, headers), timeout=300).read()

        def frame(after):
            while not (data := ask(f"/frame?after={after}&rows=64&columns=64")):
                pass
            head, values = data.split(b"\n", 1)
            return json.loads(head), values

        first, values = frame(0)
        assert first["title"] == "u" and (first["rows"], first["columns"]) == (60, 80) and len(values) == 2 * 60 * 80
        later, _ = frame(first["number"])
        while later["iteration"] == first["iteration"]:
            later, _ = frame(later["number"])
        assert later["iteration"] > first["iteration"] and later["goal"] == 2_000_000_000
        ask("/do", b"pause=toggle")
        held = later
        while not held["held"]:
            held, _ = frame(held["number"])
        assert held["greatest"] == held["iteration"]  # the values are those of the iteration
        assert run.poll() is None
    finally:
        run.kill()
        run.wait()
        run.stderr.close()
