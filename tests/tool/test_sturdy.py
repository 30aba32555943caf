#!/usr/bin/env python3
"""Slow compilers, signals, full disks, strange files: an error or the right answer, and nothing left behind."""
import os, pathlib, shutil, signal, subprocess, sys, time

import tool

np = tool.need_numpy()


def _compiler(folder, on_kernel, name="mycc"):
    """A compiler that does these lines of shell before it compiles a kernel."""
    path = folder / name
    real = shutil.which("cc")
    path.write_text(f'#!/bin/sh\ncase "$*" in *-shared*) {on_kernel} ;; esac\nexec {real} "$@"\n')
    path.chmod(0o700)
    return path


# ---- compilers that take too long ----

def a_kernel_whose_compiling_takes_too_long_runs_all_the_same():
    with tool.folder(heat_c=tool.HEAT) as f:
        words = ["run", f / "heat.c", "--set", "k=0.2", "--size", "20x20", "--strict", "-o"]
        for trick in ("sleep 100", "exec yes chatter"):
            start = time.monotonic()
            _, err = tool.run(*words, f / "slow.npy", f"--ambit-cc={_compiler(f, trick)}", AMBIT_PATIENCE="2",
                              XDG_CACHE_HOME=f / "cache")
            assert time.monotonic() - start < 30
            assert "has not finished after 1 s" in err and "kernel heat runs without being compiled" in err, err
            assert "option patience" in err, err
        tool.run(*words, f / "ref.npy", "--device", "ref")
        assert (np.load(f / "slow.npy") == np.load(f / "ref.npy")).all()


tool.main(globals())
