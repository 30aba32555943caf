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


# ---- signals ----

def _start(folder, trick, *more):
    """Starts a run whose compiler does this, in a session of its own, with all its temporary files in folder/tmp."""
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen([tool.AMBIT, "run", "star2d1", "--size", "64x64", "-q", f"--ambit-cc={_compiler(folder, trick)}",
                             *more], start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "cache")})


def _is_alive(command):
    return subprocess.run(["pgrep", "-f", "-x", command], stdout=subprocess.DEVNULL).returncode == 0


def _wait(what, seconds=20):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)


def _left_in(folder):
    return sorted(str(p) for p in (folder / "tmp").rglob("*"))


def signals_end_the_compiler_and_leave_nothing_behind():
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        with tool.folder() as f:
            sleep = f"sleep {os.getpid()}.{code}"
            p = _start(f, f"touch $TMPDIR/ccXYZ.s; mkdir $TMPDIR/deeper; touch $TMPDIR/deeper/x; {sleep} & {sleep}")
            _wait(lambda: _is_alive(sleep))
            assert _left_in(f), "the test does not look where temporary files are"
            p.send_signal(number)
            assert p.wait(20) == code, (p.returncode, code)
            _wait(lambda: not _is_alive(sleep), 5)
            assert not _left_in(f), _left_in(f)
            assert not list(f.glob("cache/ambit/*.tmp"))


def signals_that_the_parent_ignores_stay_ignored():
    with tool.folder() as f:
        old = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            p = _start(f, f"touch {f}/here; sleep 1")
        finally:
            signal.signal(signal.SIGINT, old)
        _wait((f / "here").exists)
        p.send_signal(signal.SIGINT)
        assert p.wait(30) == 0


def a_killed_run_takes_its_compiler_along_and_the_next_cleans_up():
    with tool.folder() as f:
        sleep = f"sleep {os.getpid()}.9"
        p = _start(f, f"exec {sleep}")
        _wait(lambda: _is_alive(sleep))
        p.kill()
        p.wait()
        _wait(lambda: not _is_alive(sleep), 5)
        assert _left_in(f)
        (f / "tmp" / "ambit-backup").mkdir(mode=0o700)  # of the user, and of our kind of name
        (f / "tmp" / "ambit-backup" / "thesis").write_text("years of work")
        assert _start(f, ":").wait(30) == 0
        assert [pathlib.Path(p).name for p in _left_in(f)] == ["ambit-backup", "thesis"], _left_in(f)


def a_run_beside_another_leaves_its_files_alone():
    with tool.folder() as f:
        sleep = f"sleep {os.getpid()}.7"
        first = _start(f, f"[ -e {f}/go ] || {sleep}")
        _wait(lambda: _is_alive(sleep))
        (f / "go").touch()
        assert _start(f, f"[ -e {f}/go ] || {sleep}").wait(30) == 0
        assert len(list((f / "tmp").glob("ambit-*"))) == 1
        first.terminate()
        assert first.wait(20) == 143 and not _left_in(f)


tool.main(globals())
