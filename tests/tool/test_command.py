#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit`, `ambit devices`, and the options common to all commands."""
import re

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


def devices_are_listed_with_memory_and_bandwidth():
    out, _ = tool.run("devices")
    assert "cpu:0" in out and "ref:0" in out, out
    assert out.count("GiB") == out.count("GB/s") == len(re.findall(r"^\w+:\d  ", out, re.M)) >= 2, out
    assert "GB/s" not in tool.run("devices", "--quick")[0]


tool.main(globals())
