#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Traces of `ambit run --trace`, alone and, if an mpirun is given, with several processes.

    test_trace.py path/to/ambit [path/to/mpirun]
"""
import collections, json, subprocess, sys

import tool

MPIRUN = sys.argv[2] if len(sys.argv) > 2 else None


def _trace(*words, processes=1):
    """Parses the file; every event has the members that the format requires."""
    with tool.folder() as f:
        words = ["run", *map(str, words), "-q", "--trace", str(f / "t.json")]
        if processes == 1:
            tool.run(*words)
        else:
            subprocess.run([MPIRUN, "-n", str(processes), tool.AMBIT, *words], check=True, timeout=tool.SOON)
        assert [p.name for p in f.iterdir()] == ["t.json"]
        trace = json.loads((f / "t.json").read_text())
    for e in trace["traceEvents"]:
        assert e["ph"] in "MXbe" and e["name"] and isinstance(e["pid"], int) and e["pid"] > 0, e  # 0 is special to Perfetto
        assert e["name"] == "process_name" or (isinstance(e["tid"], int) and e["tid"] > 0), e
        assert e["ph"] == "M" or (e["ts"] >= 0 and e["cat"]), e
        assert (e["ph"] in "be") == ("id" in e), e
        assert e["ph"] != "X" or e["dur"] >= 0, e
    return trace


def _spans(trace, name):
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and e["name"] == name]


def _check_times(trace):
    """Starts never decrease within a process; events of one thread are nested or disjoint."""
    starts, open_ends = collections.defaultdict(float), collections.defaultdict(list)
    for e in trace["traceEvents"]:
        if e["ph"] != "X":
            continue
        assert e["ts"] >= starts[e["pid"]], e
        starts[e["pid"]] = e["ts"]
        ends = open_ends[e["pid"], e["tid"]]
        while ends and ends[-1] <= e["ts"] + 0.002:  # times are rounded to a nanosecond
            ends.pop()
        assert not ends or e["ts"] + e["dur"] <= ends[-1] + 0.002, e
        ends.append(e["ts"] + e["dur"])


def launches_are_on_the_thread_of_their_part():
    trace = _trace("star2d1", "--size", "64x64", "--device", "cpu*4", "--steps", 3)
    launches = _spans(trace, "star2d1")
    assert [e["tid"] for e in launches] == [1, 2, 3, 4] * 3, launches
    assert [e["args"]["iteration"] for e in launches] == [0] * 4 + [1] * 4 + [2] * 4
    assert sum(e["args"]["cells"] for e in launches) == 3 * 62 * 62
    assert {e["args"]["which"] for e in launches} == {"all"}
    for name in ("begin", "edges", "finish", "rotate"):
        assert len(_spans(trace, name)) == 3, name
    names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert names[3] == "part 2 on cpu:0" and names[5] == "host", names
    assert trace["otherData"] == {"processes": 1, "dropped": 0, "untimed": 0}
    _check_times(trace)


def checks_are_in_it():
    with tool.folder(heat_c=tool.HEAT) as f:
        trace = _trace(f / "heat.c", "--set", "k=0.2", "--size", "16x16", "--until", "change<1e9", "--steps", 4)
        assert len(_spans(trace, "check")) == 1 and len(_spans(trace, "heat")) == 1


def the_oldest_events_make_room_for_new_ones():
    trace = _trace("star1d1", "--size", "8", "--steps", 140000)
    kept = sum(e["ph"] == "X" for e in trace["traceEvents"])
    assert kept == 131072 and trace["otherData"]["dropped"] > 0, (kept, trace["otherData"])
    assert max(e["args"].get("iteration", 0) for e in trace["traceEvents"] if e["ph"] == "X") == 139999
    _check_times(trace)


def a_folder_that_is_not_there_is_told_at_once():
    tool.refuses("run", "star1d1", "--trace", "/no/such/folder/t.json", saying="/no/such/folder/t.json", code=1)


def all_processes_are_in_one_file():
    if not MPIRUN:
        raise tool.Skipped("there is no mpirun")
    trace = _trace("star2d1", "--size", "8x8", "--ambit-partition=2x2", "--ambit-depth=1", "--steps", 3, processes=4)
    assert trace["otherData"]["processes"] == 4 and {e["pid"] for e in trace["traceEvents"]} == {1, 2, 3, 4}
    ends = collections.defaultdict(list)
    for e in trace["traceEvents"]:
        if e["ph"] in "be":
            ends[e["id"]].append(e)
    assert all([e["ph"] for e in both] == ["b", "e"] and both[0]["ts"] <= both[1]["ts"] for both in ends.values())
    way = collections.Counter()
    for b, _ in ends.values():
        here, there = b["args"]["part"], b["args"]["peer"]
        assert b["pid"] == here + 1 and b["args"]["process"] == there and b["args"]["bytes"] == 16, b
        way[(here, there) if b["name"] == "send" else (there, here), b["name"]] += 1
    pairs = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1), (2, 3), (3, 2)]
    assert way == {(pair, name): 3 for pair in pairs for name in ("send", "receive")}, way
    for name in ("pack", "unpack"):
        assert len(_spans(trace, name)) == 24, name
    assert len(_spans(trace, "wait")) == 12
    assert {e["args"]["which"] for e in _spans(trace, "star2d1")} == {"inner", "border"}
    _check_times(trace)


tool.main(globals())
