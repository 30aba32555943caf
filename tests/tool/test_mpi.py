#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit` on several processes: one of them prints, all exit alike, and an error is printed once, by the process
that has it.

    test_mpi.py TOOL MPIRUN
"""
import json, os, subprocess, sys

import tool

TOOL, MPIRUN = sys.argv[1:3]


def _mpirun(*command):
    r = subprocess.run([MPIRUN, *command], capture_output=True, text=True, timeout=tool.SOON)
    return r.returncode, r.stdout, r.stderr


def _run(*words, n=2):
    return _mpirun("-n", str(n), TOOL, *words)


def _differ(first, *others):
    """One process with the first words, one with the second, and so on."""
    command = ["-n", "1", TOOL, *first]
    for words in others:
        command += [":", "-n", "1", TOOL, *words]
    return _mpirun(*command)


def _once(text, *words):
    for w in words:
        assert text.count(w) == 1, f"'{w}' {text.count(w)} times in: {text}"


def files_are_the_same_as_those_of_one_process():
    with tool.folder() as folder:
        paths = [folder / name for name in ("one.npy", "two.npy", "three.npy")]
        words = "run 2d8 --strict --boundary periodic --size 40x30 --steps 9 --output".split()
        for n, path in enumerate(paths, 1):
            code, _, err = _run(*words, str(path), n=n)
            assert code == 0, err
            _once(err, "9 iterations in")
        assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()
        assert len(list(folder.iterdir())) == 3


def results_are_printed_once():
    code, out, err = _run("bench", "star2d1 96x80 float t2 r2")
    assert code == 0, err
    assert len(out.splitlines()) == 1 and json.loads(out)["processes"] == 2, out
    code, out, _ = _run("devices", "--quick")
    assert code == 0
    _once(out, "cpu:0")
    _once(_run("--help")[1], "usage:")


def wrong_words_are_told_once():
    code, _, err = _run("run", "2d8", "--stesp", "3")
    assert code == 2, code
    _once(err, "unknown option --stesp")
    code, _, err = _run("run", "2d8", "--ambit-thread=3")
    assert code == 2, code
    _once(err, "'--ambit-thread=3'")
    code, _, err = _run("run", "2d8", "--ambit-devices=gpu", n=3)
    assert code == 2, (code, err)
    _once(err, "no device is called 'gpu'")


def an_error_of_all_is_told_once_by_process_0():
    for words, story in (("run 2d8 --size 40x30 --output /missing/u.npy", "cannot create /missing/u.npy"),
                         ("run 2d8 --size 40x30 --ambit-devices=cpu:7", "there is 1 cpu device here")):
        code, _, err = _run(*words.split(), n=3)
        assert code == 1, (code, err)
        _once(err, story)
        assert "process" not in err.split(story)[0].split("ambit: error:")[-1], err


def an_error_of_one_is_told_with_its_number():
    code, _, err = _differ("run 2d8 --size 40x30".split(), "run 2d8 --size 40x30 --input /missing/u.npy".split())
    assert code == 1, (code, err)
    _once(err, "ambit: error: process 1 of 2: cannot open", "/missing/u.npy")


def processes_that_run_different_programs_are_told():
    code, _, err = _differ("run 2d8 --size 40x30".split(), "run 2d4 --size 40x30".split())
    assert code == 1, (code, err)
    _once(err, "process 1 runs a different program than process 0: step 1 is kernel 'stencil_2d4'")


# ---- processes that do not join, or differ ----

RUN = "run star2d1 --size 64x64 --steps 3".split()


def a_wrong_option_of_one_process_is_the_error_of_all():
    for word in ("--ambit-strict=maybe", "--ambit-nosuch=1"):
        code, _, err = _differ(RUN, [*RUN, word])
        assert code, err
        _once(err, "ambit: error: process 1 of 2:")


def options_that_must_be_equal_are_compared():
    with tool.folder() as f:
        for name, words in (("trace", ["--trace", str(f / "x.json")]), ("strict", ["--strict"]),
                            ("overlap", ["--ambit-overlap=none"])):
            code, _, err = _differ(RUN, RUN + words)
            assert code, err
            _once(err, "it must be the same on all processes")
            assert f"option {name} is " in err, err


def a_process_that_never_joins_ends_the_run():
    code, _, err = _differ([*RUN, "--ambit-startup=3"], [*RUN, "--ambit-mpi=off"])
    assert code, err
    # Open MPI itself may notice first that a process ended without joining
    assert "process 0 of 2: MPI has not started within 3 s (option startup)" in err or 'call "init"' in err, err


def a_process_without_others_says_so():
    env = {**os.environ, "PMI_SIZE": "4", "PMI_RANK": "1", "AMBIT_STARTUP": "3"}
    r = subprocess.run([TOOL, *RUN], capture_output=True, text=True, timeout=tool.SOON, env=env)
    assert r.returncode and "process 1" in r.stderr, f"{r.returncode} {r.stderr}"


tool.main(globals())
