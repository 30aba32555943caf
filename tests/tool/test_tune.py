#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit tune`: the fastest plan is found, shown, remembered and used."""
import re

import tool


def _tune(folder, *words):
    return tool.run("tune", "star2d1", "--size", "96x80", "--device", "cpu", *words, AMBIT_CACHE=str(folder))[0]


def times_are_shown_and_the_fastest_is_kept():
    with tool.folder() as f:
        out = _tune(f)
        times = {plan: float(s) for s, plan in re.findall(r"(\S+) s per iteration: (depth .*)", out)}
        best = out.splitlines()[0]
        assert len(times) >= 2 and "depth 1" in times, out
        assert all("(wavefront depth" in plan for plan in times if plan not in ("depth 1", "depth 1 (cells")), out
        assert "depth 1 (cells" in times, out  # the plain nest
        assert re.search(r"device  cpu: .*, compiler \S", out), out
        assert 0.97 * times[best] <= min(times.values()), out
        assert "program star2d1\n" in out and "grid    96x80, 1 part\n" in out and "device  cpu: " in out, out
        assert _tune(f) == out  # nothing is measured again
        notes = [n for n in f.iterdir() if n.name.startswith("tuned-")]
        assert len(notes) == 1, list(f.iterdir())
        _, err = tool.run("run", "star2d1", "--size", "96x80", "--steps", "64", "--device", "cpu",
                          AMBIT_CACHE=str(f), AMBIT_VERBOSE="1")
        assert "at once take" not in err, err  # no trial: it is known
        notes[0].write_text("depth 8 (wavefront depth 8 rows -8)\n")  # damaged
        _, err = tool.run("run", "star2d1", "--size", "96x80", "--steps", "64", "--device", "cpu", "--report", AMBIT_CACHE=str(f))
        assert re.search(r"\(wavefront depth 8 rows \d", err), err


def other_problems_are_measured_themselves():
    with tool.folder() as f:
        _tune(f)
        _tune(f, "--strict")
        _tune(f, "--type", "double")
        assert len([n for n in f.iterdir() if n.name.startswith("tuned-")]) == 3, list(f.iterdir())


def a_stencil_is_needed():
    tool.refuses("tune", saying="the stencil is missing")
    tool.refuses("tune", "star2d1", "--ambit-depth=4", saying="option depth fixes the plan")
    tool.refuses("tune", "star2d1", "--ambit-plan=(wavefront", saying="option plan fixes the plan")


tool.main(globals())
