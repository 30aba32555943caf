#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Slow compilers, signals, full disks, strange files: an error or the correct result, and no leftovers."""
import os, pathlib, resource, shutil, signal, subprocess, sys, time

import tool

np = tool.need_numpy()


def _compiler(folder, on_kernel, name="mycc"):
    """A compiler that runs these lines of shell before it compiles a kernel."""
    path = folder / name
    real = shutil.which("cc")
    path.write_text(f'#!/bin/sh\ncase "$*" in *-shared*) {on_kernel} ;; esac\nexec {real} "$@"\n')
    path.chmod(0o700)
    return path


# ---- compilers that take too long ----

def a_kernel_whose_compiling_takes_too_long_runs_all_the_same():
    with tool.folder(heat_c=tool.HEAT) as f:
        words = ["run", f / "heat.c", "--set", "k=0.2", "--size", "20x20", "--strict", "-o"]
        for trick in (f"sleep {4 * tool.SOON}", "exec yes chatter"):
            _, err = tool.run(*words, f / "slow.npy", f"--ambit-cc={_compiler(f, trick)}", AMBIT_PATIENCE="2",
                              XDG_CACHE_HOME=f / "cache")
            assert "has not finished after 1 s" in err, err
            # on a busy machine already the trial of the compiler takes too long
            assert "kernel heat runs without being compiled" in err or "kernels run without being compiled" in err, err
            assert "option patience" in err, err
        tool.run(*words, f / "ref.npy", "--device", "ref")
        assert (np.load(f / "slow.npy") == np.load(f / "ref.npy")).all()


# ---- the cache ----

def _fill_cache(folder, n):
    """Makes a cache with n kernels, a day apart. Returns their keys in order of use."""
    keys, now = [], time.time()
    for i in range(n):
        before = set(folder.glob("cache/ambit/*.so"))
        tool.run("run", "star2d1", "--size", f"{8 + i}x8", "-q", "--boundary", "periodic", "--strict", "--type",
                 ("float", "double", "int", "long", "short")[i], XDG_CACHE_HOME=folder / "cache")
        (new,) = set(folder.glob("cache/ambit/*.so")) - before
        keys.append(new.stem)
    for i, key in enumerate(keys):
        for p in folder.glob(f"cache/ambit/{key}.*"):
            os.utime(p, (now - 86400 * (n - i),) * 2)
    return keys


def _kept(folder):
    return {p.stem for p in folder.glob("cache/ambit/*.so")}


def the_cache_is_shown_trimmed_and_emptied():
    with tool.folder() as f:
        env = {"XDG_CACHE_HOME": f / "cache"}
        keys = _fill_cache(f, 4)
        (f / "cache/ambit/of-the-user.txt").write_text("mine")
        (f / "cache/ambit/dead.so.1-1.tmp").write_text("half")
        out, _ = tool.run("cache", **env)
        assert str(f / "cache/ambit") in out and "holds   5 entries" in out and "512 MiB" in out, out  # and a note
        assert tool.run("cache", "show", "--ambit-cachesize=0", **env)[0].splitlines()[2].startswith("limit   none")
        out, _ = tool.run("cache", "trim", **env)
        assert "removed 0 entries" in out and _kept(f) == set(keys), out
        oldest = f / f"cache/ambit/{keys[0]}.so"
        used = oldest.stat().st_mtime
        oldest.write_bytes(oldest.read_bytes() + b"\0" * (1 << 20))  # fills the cache
        os.utime(oldest, (used, used))
        out, _ = tool.run("cache", "trim", "--size", 1, **env)
        assert "removed 1 entry" in out and "left    4 entries" in out and _kept(f) == set(keys[1:]), out
        out, _ = tool.run("cache", "empty", **env)
        assert "left    0 entries, 0.0 MiB" in out and not _kept(f), out
        assert [p.name for p in f.glob("cache/ambit/*")] == ["of-the-user.txt"]
        tool.refuses("cache", "shwo", saying="show, trim or empty")
        tool.refuses("cache", "trim", "--size", "x", saying="must be an integer")
        tool.refuses("cache", "trim", "--ambit-cachesize=0", saying="no limit")
        tool.refuses("cache", "--ambit-cache=none", saying="not kept", code=1)


def a_folder_that_cannot_be_a_cache_is_named_once():
    _, err = tool.run("run", "star2d1", "--size", "8x8", "-q", "--device", "cpu", "--ambit-cache=/sys/no")
    assert err.count("compiled kernels are not kept in /sys/no") == 1, err
    assert "No such file" not in err, err  # but the reason why it could not be made


def a_cache_that_cannot_be_emptied_says_so():
    """As another user if this one is root, who can remove anything."""
    with tool.folder() as f:
        cache, other = f / "cache", {"user": 12345, "group": 12345} if os.geteuid() == 0 else {}
        cache.mkdir()
        (cache / f"{0:032x}.note").write_text("a note")
        f.chmod(0o755)
        cache.chmod(0o555)
        if other:
            os.chown(cache, 12345, 12345)
        for words in (["empty"], ["trim", "--size", "0"]):
            r = subprocess.run([tool.AMBIT, "cache", *words, f"--ambit-cache={cache}"], capture_output=True, text=True,
                               timeout=tool.SOON, **other)
            assert r.returncode == 1 and "removed 0 entries" in r.stdout and "left    1 entry" in r.stdout, r
            assert f"some files in {cache} cannot be removed: Permission denied" in r.stderr, r
        cache.chmod(0o755)


def the_cache_stays_below_its_limit_and_the_oldest_goes_first():
    with tool.folder() as f:
        keys = _fill_cache(f, 4)
        p = f / f"cache/ambit/{keys[0]}.so"
        used = p.stat().st_mtime
        p.write_bytes(p.read_bytes() + b"\0" * (1 << 20))
        os.utime(p, (used, used))
        tool.run("run", "2d4", "--size", "50x50", "-q", "--ambit-cachesize=1", XDG_CACHE_HOME=f / "cache")
        assert len(_kept(f) - set(keys)) == 1 and _kept(f) & set(keys) == set(keys[1:]), (keys, _kept(f))


def a_kernel_that_is_used_is_not_the_oldest():
    with tool.folder() as f:
        keys = _fill_cache(f, 3)
        tool.run("run", "star2d1", "--size", "8x8", "-q", "--boundary", "periodic", "--strict", "--type", "float",
                 XDG_CACHE_HOME=f / "cache")
        assert time.time() - (f / f"cache/ambit/{keys[0]}.so").stat().st_mtime < 3600


# ---- raised rights ----

def _can_set_user(folder):
    """Whether a program in this folder can run with the rights of another owner. Needs root."""
    return os.geteuid() == 0 and not os.statvfs(folder).f_flag & os.ST_NOSUID


def a_program_with_the_rights_of_another_starts_nothing_that_the_environment_names():
    with tool.folder() as f:
        if not _can_set_user(f):
            print("# skipped: this needs root, and a folder that is not mounted nosuid")
            return
        f.chmod(0o755)
        evil = f / "evil"
        evil.write_text(f"#!/bin/sh\ntouch {f}/open/was-here\nexec {shutil.which('cc')} \"$@\"\n")
        evil.chmod(0o755)
        (f / "bin").mkdir()
        for name in ("cc", "gcc", "clang"):
            shutil.copy(evil, f / "bin" / name)
        (f / "open").mkdir()
        (f / "open").chmod(0o777)
        mine = shutil.copy(tool.AMBIT, f / "ambit")
        os.chown(mine, 65534, 65534)
        for mode, starts in ((0o755, True), (0o4755, False)):
            os.chmod(mine, mode)
            for env in ({"CC": str(evil)}, {"AMBIT_CC": str(evil)}, {"PATH": f"{f}/bin:/usr/bin:/bin"}):
                words = [mine, "run", "star2d1", "--size", "8x8", "-q", "--device", "cpu"]  # GPUs need no C compiler
                subprocess.run(words, timeout=tool.SOON, user=12345, group=12345, capture_output=True,
                               env={"PATH": "/usr/bin:/bin", "HOME": f"{f}/open", "AMBIT_CACHE": "none", **env})
                was_here = (f / "open/was-here").exists()
                assert was_here == starts, (mode, env, was_here)
                if was_here:
                    (f / "open/was-here").unlink()


# ---- files and memory ----

def an_output_that_cannot_be_written_does_not_cost_the_run():
    with tool.folder() as f:
        (f / "folder.npy").mkdir()
        (f / "file").write_text("")
        for path in ("nosuch/x.npy", "folder.npy", "file/x.png", "nosuch/x.png"):
            tool.refuses("run", "star2d1", "--size", "64x64", "--steps", 10**12, "-o", f / "good.npy", "-o", f / path,
                         saying=path, code=1)
        tool.refuses("run", "4d8", "--size", "4^4", "--steps", 10**12, "-o", f / "x.png", saying=[".npy", "4 dim"], code=1)
        assert sorted(p.name for p in f.iterdir()) == ["file", "folder.npy"], list(f.iterdir())
        tool.run("run", "star2d1", "--size", "64x64", "-q", "-o", f / "y.npy")
        os.mkfifo(f / "pipe.npy")  # must not be opened twice: the reader would see an end of file
        p = subprocess.Popen(["cat", f / "pipe.npy"], stdout=subprocess.PIPE)
        tool.run("run", "star2d1", "--size", "64x64", "-q", "-o", f / "pipe.npy")
        assert p.communicate(timeout=tool.SOON)[0] == (f / "y.npy").read_bytes()


def a_file_beyond_the_limit_of_the_process_is_an_error():
    with tool.folder() as f:
        r = subprocess.run([tool.AMBIT, "run", "star2d1", "--size", "64x64", "-q", "-o", f / "x.npy"], capture_output=True, text=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
                           env={**os.environ, "AMBIT_CC": "none"})
        assert r.returncode == 1 and "x.npy: File too large" in r.stderr, r
        assert not list(f.iterdir())


def long_names_and_links_that_lead_nowhere_are_written():
    with tool.folder() as f:
        (f / "link.npy").symlink_to("target.npy")
        for path in ("x" * 241 + ".npy", "x" * 251 + ".npy", "x" * 241 + ".png", "link.npy"):
            tool.run("run", "star2d1", "--size", "8x8", "-q", "-o", f / path)
        assert (f / "link.npy").is_symlink() and np.load(f / "target.npy").shape == (8, 8)
        assert len(list(f.iterdir())) == 5, list(f.iterdir())


def input_may_come_from_a_pipe():
    with tool.folder() as f:
        np.save(f / "in.npy", np.random.default_rng(1).random((50, 60)))
        words = ["2d4", "--steps", 3, "-q", "--strict", "-o"]
        tool.run("run", *words, f / "want.npy", "-i", f / "in.npy")
        os.mkfifo(f / "fifo.npy")
        for name in ("fifo.npy", "/dev/stdin"):
            with open(f / "in.npy", "rb") as file:
                feeder = subprocess.Popen(["dd", f"of={f / name}" if name[0] != "/" else "status=none", "status=none"],
                                          stdin=file, stdout=subprocess.PIPE)
                r = subprocess.run([tool.AMBIT, "run", *map(str, words), f / "got.npy", "-i", f / name],
                                   stdin=feeder.stdout, capture_output=True, timeout=tool.SOON,
                                   env={**os.environ, "TMPDIR": str(f)})
                assert r.returncode == 0, r.stderr
            assert (f / "got.npy").read_bytes() == (f / "want.npy").read_bytes()
            assert not list(f.glob("ambit-input*"))
        r = subprocess.run([tool.AMBIT, "run", "2d4", "-i", "/dev/stdin"], input=b"no array", capture_output=True,
                           env={**os.environ, "TMPDIR": str(f)})
        assert r.returncode == 1 and b"a copy of /dev/stdin" in r.stderr, r.stderr
        assert not list(f.glob("ambit-input*"))


def a_grid_that_does_not_fit_is_refused_before_memory_is_touched():
    free = next(int(l.split()[1]) << 10 for l in open("/proc/meminfo") if l.startswith("MemAvailable"))
    side = int((0.75 * free / 4) ** 0.5)  # one field fits, two do not
    for device in ("cpu", "cpu*2", "ref"):
        code = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
                "print(r.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, r.stderr)")
        r = subprocess.run([sys.executable, "-c", code, tool.AMBIT, "run", "star2d1", "--size", f"{side}^2", "--steps",
                            "1", "--device", device], capture_output=True, text=True, timeout=tool.SOON)
        status, kib, err = r.stdout.split(maxsplit=2)
        assert status == "1" and "memory that is free" in err and f"{side}x{side}" in err, r.stdout
        assert int(kib) < 1 << 20, r.stdout


# ---- signals ----

def _start(folder, trick, *more):
    """Starts a run with this compiler in a new session, with all temporary files in folder/tmp."""
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen([tool.AMBIT, "run", "star2d1", "--size", "64x64", "-q", f"--ambit-cc={_compiler(folder, trick)}",
                             *more], start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "cache")})


def _is_alive(command):
    return subprocess.run(["pgrep", "-f", "-x", command], stdout=subprocess.DEVNULL).returncode == 0


def _left_in(folder):
    return sorted(str(p) for p in (folder / "tmp").rglob("*"))


def signals_end_the_compiler_and_leave_nothing_behind():
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        with tool.folder() as f:
            sleep = f"sleep {os.getpid()}.{code}"
            p = _start(f, f"touch $TMPDIR/ccXYZ.s; mkdir $TMPDIR/deeper; touch $TMPDIR/deeper/x; {sleep} & {sleep}")
            tool.wait(lambda: _is_alive(sleep))
            assert _left_in(f), "the test does not look where temporary files are"
            p.send_signal(number)
            assert p.wait(tool.SOON) == code, (p.returncode, code)
            tool.wait(lambda: not _is_alive(sleep))
            assert not _left_in(f), _left_in(f)
            assert not list(f.glob("cache/ambit/*.tmp"))


def signals_that_the_parent_ignores_stay_ignored():
    with tool.folder() as f:
        old = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            p = _start(f, f"touch {f}/here; while [ ! -e {f}/go ]; do sleep 0.1; done")
        finally:
            signal.signal(signal.SIGINT, old)
        tool.wait((f / "here").exists)
        p.send_signal(signal.SIGINT)
        (f / "go").touch()
        assert p.wait(tool.SOON) == 0


def a_killed_run_takes_its_compiler_along_and_the_next_cleans_up():
    with tool.folder() as f:
        sleep, child = f"sleep {os.getpid()}.9", f"sleep {os.getpid()}.8"  # a driver, and what it starts
        p = _start(f, f"{child} & exec {sleep}")
        tool.wait(lambda: _is_alive(sleep) and _is_alive(child))
        p.kill()
        p.wait()
        tool.wait(lambda: not _is_alive(sleep) and not _is_alive(child))
        assert _left_in(f)
        (f / "tmp" / "ambit-backup").mkdir(mode=0o700)  # the user's, with a name like ours
        (f / "tmp" / "ambit-backup" / "thesis").write_text("years of work")
        assert _start(f, ":").wait(tool.SOON) == 0
        assert [pathlib.Path(p).name for p in _left_in(f)] == ["ambit-backup", "thesis"], _left_in(f)


def a_run_beside_another_leaves_its_files_alone():
    with tool.folder() as f:
        sleep = f"sleep {os.getpid()}.7"
        first = _start(f, f"[ -e {f}/go ] || {sleep}")
        tool.wait(lambda: _is_alive(sleep))
        (f / "go").touch()
        assert _start(f, f"[ -e {f}/go ] || {sleep}").wait(tool.SOON) == 0
        assert len(list((f / "tmp").glob("ambit-*"))) == 1
        first.terminate()
        assert first.wait(tool.SOON) == 143 and not _left_in(f)


tool.main(globals())
