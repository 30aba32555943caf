#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit`, `ambit devices`, and the options common to all commands."""
import re, tempfile

import tool

COMMANDS = "run explain gen bench port devices cache completion".split()


def help_goes_to_standard_output_and_has_examples():
    for words in ([], ["--help"], ["-h"], ["help"]):
        out, err = tool.run(*words)
        assert "examples:" in out and err == "", words
        for c in COMMANDS:
            assert f"\n  {c} " in out, c


def every_command_has_help_with_an_example():
    for c in COMMANDS:
        a, b = tool.run(c, "--help")[0], tool.run("help", c)[0]
        assert a == b and a.startswith(f"usage: ambit {c} "), c
        assert f"example" in a and f"  ambit {c}" in a.split("example")[1], c


def the_version_is_the_library_s():
    out, _ = tool.run("--version")
    assert out.startswith("ambit ") and len(out.split()[1].split(".")) == 3, out


def an_unknown_command_gets_the_nearest_name():
    tool.refuses("rum", saying=["'rum'", "did you mean 'run'?"])
    tool.refuses("help", "bnch", saying="did you mean 'bench'?")


def an_unknown_option_gets_the_nearest_name():
    for c, typed, meant in (("run", "--stesp", "--steps"), ("explain", "--soruce", "--source"),
                            ("gen", "--ouput", "--output"), ("bench", "--limit", "--limits"),
                            ("devices", "--quik", "--quick")):
        tool.refuses(c, typed, saying=[typed, f"did you mean {meant}?"])


def a_missing_or_surplus_value_is_told():
    tool.refuses("run", "star2d1", "--size", saying="--size needs a value")
    tool.refuses("run", "star2d1", "--report=yes", saying="takes no value")


def options_of_the_library_work_everywhere():
    tool.refuses("devices", "--ambit-threds=2", saying="threads")
    out, _ = tool.run("devices", "--quick", "--ambit-threads=1")
    assert "1 thread\n" in out, out


def devices_are_listed_with_memory_and_speeds():
    out, _ = tool.run("devices")
    assert "cpu:0" in out and "ref:0" in out, out
    assert out.count("GiB") == len(re.findall(r"^\w+:\d  ", out, re.M)) >= 2, out
    assert re.search(r"^ *copy +[\d.]+ +GB/s", out, re.M), out
    assert "GB/s" not in tool.run("devices", "--quick")[0]


def a_measurement_is_remembered_and_can_be_given_to_other_runs():
    with tempfile.TemporaryDirectory() as tmp:
        _measures_once(tmp)


def _measures_once(tmp):
    cache = f"--ambit-cache={tmp}/cache"
    assert "speeds: as recorded" in tool.run("devices", cache)[0]
    tool.run("run", "star2d1", "--size", "64x64", "--steps", "1", "-q", cache)
    assert "speeds: measured" not in tool.run("devices", cache)[0], "a short run does not measure"
    measured = tool.run("devices", "--measure", cache)[0].split("\nopencl:")[0].split("\nref:")[0]
    assert "speeds: measured" in measured, measured
    again = tool.run("devices", cache)[0]
    lines = re.findall(r"^ {9}(\w.*)$", measured, re.M)
    assert lines and all(line in again for line in lines), (measured, again)
    _, log = tool.run("run", "star2d1", "--size", "64x64", "--steps", "1", "-q", "--device", "cpu", "--ambit-tune=1", "--ambit-verbose=1", cache)
    assert "G/s multiply-adds, measured in" not in log, "a search takes the speeds that are known: " + log
    with open(f"{tmp}/box.txt", "w") as f:
        f.write("\n".join(lines).replace("measured 1", "copy 123.5"))
        f.write("\ncopy 123.5\n")
    assert "123.5" in tool.run("devices", f"--ambit-machine={tmp}/box.txt")[0]
    tool.refuses("devices", "--ambit-machine=abacus", saying=["abacus", "xeon16"])


def plans_are_made_for_machines_that_are_not_here():
    words = ["explain", "star3d1", "--size", "512x512x512", "--ambit-devices=cuda"]
    assert "plan on an NVIDIA H200, in CUDA" in tool.run(*words)[0]
    laptop = tool.run(*words, "--ambit-machine=laptop")[0]
    assert "plan on a laptop's GPU, in CUDA\n  (" in laptop, laptop


tool.main(globals())
