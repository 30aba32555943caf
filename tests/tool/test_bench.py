#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit bench`: its checks and its output. Speed is not tested."""
import json, pathlib

import tool


def _lines(*words, code=0):
    out, err = tool.run("bench", *words, code=code)
    return [json.loads(line) for line in out.splitlines()], err


def a_problem_gives_one_line_with_all_that_was_measured():
    (r,), err = _lines("star2d1 300x400 float t3 r4")
    want = {"problem": "star2d1 300x400 float t3 r4", "stencil": "star2d1", "size": "300x400", "type": "float",
            "iterations": 3, "device": "cpu", "verified": True}
    assert {k: r[k] for k in want} == want, r
    assert len(r["reps"]) == 4 and r["gcells"] == max(r["reps"]), r
    assert min(r["reps"]) <= r["median"] <= r["gcells"] and r["plan"].startswith("("), r
    assert abs(r["gbytes"] - 8 * r["gcells"]) < 1e-3 * r["gbytes"], r
    limit = min(r["limit_bytes"], r["limit_ops"])
    assert limit > 0 and abs(r["share"] - r["gcells"] / limit) < 1e-3 * r["share"], r
    assert "star2d1" in err and "Gcells/s" in err, err


def options_of_the_library_reach_the_problem():
    _, err = _lines("star2d1 300x400 float t6 r1", "--ambit-depth=3", "--ambit-verbose=1")
    assert "(wavefront depth 3 " in err, err
    tool.refuses("bench", "star2d1 300x400 float t6 r1", "--ambit-weights=1,1", saying="the grid has only 1 part", code=1)


def exchanges_are_timed_turn_by_turn():
    (r,), _ = _lines("--exchange", "star2d1 300x400 t3 r4", "--device", "cpu*2")
    assert (r["processes"], r["parts"]) == (1, 2) and {len(v) for v in r["ms"].values()} == {4}, r
    ratios = sorted(x / y for x, y in zip(r["ms"]["two_way"], r["ms"]["alone"]))
    assert ratios[1] * 0.9 <= r["two_way_over_alone"] <= ratios[2] * 1.1, (ratios, r)


def exchanges_need_parts_and_a_problem():
    tool.refuses("bench", "--exchange", saying="needs a problem")
    tool.refuses("bench", "--exchange", "star2d1 30x40 t3", "--device", "cpu", saying="has only one part, so there is nothing to exchange")


def words_may_come_in_any_order_and_be_left_out():
    (r,), _ = _lines("2d4 t2 periodic r1 f64 ref 40^2")
    assert (r["type"], r["size"], r["device"], r["plan"]) == ("double", "40x40", "ref", "(ref)"), r


def kernel_files_take_their_parameters_from_the_line():
    with tool.folder(heat_c=tool.HEAT, where_c="void where(float *u) { u[0][0] = u[0][0] + (float)index(1); }") as f:
        (r,), _ = _lines(f"{f / 'heat.c'} 100x100 t2 r1 k=0.2 periodic")
        assert r["verified"] and r["type"] == "float"
        (r,), _ = _lines(f"{f / 'where.c'} 100x100 t2 r1", "--strict")
        assert r["verified"]
        tool.refuses("bench", f"{f / 'heat.c'} 100x100 t2", saying="add k=...")


# Enlarges the last bit of a sum of products, which differs from ref on a device that fuses them.
FUSED = """
void fused(const float *u, float *v)
{
  v[0] = sinf(1e7f * (u[0] * u[1] + 0.3f * u[1]));
}
"""


def _fuses():
    """Whether this processor is known to have fused multiply-add."""
    info = pathlib.Path("/proc/cpuinfo")
    words = info.read_text().split() if info.exists() else []
    return "fma" in words or "asimd" in words


def a_result_that_is_not_that_of_ref_is_not_timed():
    with tool.folder(fused_c=FUSED) as f:
        problem = f"{f / 'fused.c'} 5000 t2 r1"
        if _fuses():
            tool.refuses("bench", problem, saying="differs from ref", code=1)
        (r,), _ = _lines(problem, "--strict")
        assert r["verified"]


def several_problems_give_several_lines():
    results, _ = _lines("star1d1 100000 t2 r1", "star3d1 20x30x40 t2 r1 double")
    assert [r["stencil"] for r in results] == ["star1d1", "star3d1"]


def a_word_that_is_nothing_is_refused():
    tool.refuses("bench", "star2d1 64x64 flaot", saying=["'flaot'", "is not a size"])
    tool.refuses("bench", "star2d1 64", saying="2 dimensions")
    tool.refuses("bench", "star2d1 64x64 r1000", saying=["bench: r is '1000'", "must be an integer"])
    tool.refuses("bench", "star2d1 64x64 t0", saying=["bench: t is '0'", "must be an integer"])
    tool.refuses("bench", "star2d1 64x64 t3.5", saying=["bench: t is '3.5'", "must be an integer"])
    tool.refuses("bench", "start2d1 64x64", saying="star2d1", code=1)


def the_limits_of_the_machine_are_measured():
    for _ in range(3):  # another process may take a core during a measurement
        (r,), _ = _lines("--limits")
        if r["copy_gbytes"] > 0.1 and r["fma32_gops"] > r["fma64_gops"] * 0.9 > 0.01:
            return
    assert False, r


def start_and_iteration_are_timed():
    (r,), err = _lines("--overhead", "--ambit-report")
    assert " slept in " not in err, err  # the values are at rest long before the end
    assert 0.01 < r["us_per_iteration"] < 1e5, r
    (r,), _ = _lines("--startup")
    assert 0 < r["warm_ms"] and 0 < r["cold_ms"], r


tool.main(globals())
