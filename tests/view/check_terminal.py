#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The view in a terminal, through a pseudo-terminal: what is drawn, keys, sizes, and that the terminal is as before after every end.

    check_terminal.py path/to/ambit
"""
import contextlib, fcntl, os, pathlib, pty, re, select, shutil, signal, struct, subprocess, sys, tempfile, termios, time, traceback

AMBIT = os.path.abspath(sys.argv[1])
LEAVE = b"\033[?1049l"
KERNEL = """
void heat(const float *u, float *v, float k)
{
  *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
}
"""


SOON = 200  # seconds: nothing here takes so long, on a busy machine either


def lead(words, settings):
    """The leader of the terminal's session, as a shell: runs a program in the foreground. It prints the number of the
    process first and the status last, and lives on: when a leader ends, the system itself resets the terminal."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        os.write(1, b"\033]pid;%d\a" % os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execve(words[0], words, settings)
    _, status = os.waitpid(pid, 0)
    os.write(1, b"\033]ended;%d\a" % status)
    signal.pause()


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, *words, rows=30, columns=90, answers=b"", late=0, **env):
        self.folder = tempfile.TemporaryDirectory()
        kernel = pathlib.Path(self.folder.name, "heat.c")
        kernel.write_text(KERNEL)
        self.text, self.all, self.answers, self.late = b"", b"", answers, late  # text: of all, what is not matched yet
        settings = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", **env}
        for name in ("TMUX", "NO_COLOR", "LC_ALL", "SSH_CONNECTION"):
            if name not in env:
                settings.pop(name, None)
        self.fd, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.leader = os.fork()
        if not self.leader:
            os.chdir(self.folder.name)
            os.close(self.fd)
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(slave, fd)
            lead([AMBIT, "run", "heat.c", "--size", "200x300", "--set", "k=0.2", "--steps", "100000000", *words], settings)
        os.close(slave)
        self.pid = int(self.until(rb"\033\]pid;(\d+)\a")[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in (self.pid, self.leader):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.waitpid(self.leader, 0)
        os.close(self.fd)
        self.folder.cleanup()

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        if not select.select([self.fd], [], [], 0.1)[0]:
            return
        more = os.read(self.fd, 1 << 16)
        self.text += more
        self.all += more
        if self.answers and b"\033[c" in self.all:
            time.sleep(self.late)
            os.write(self.fd, self.answers)
            self.answers = b""

    def until(self, what, most=1 << 24):
        """Reads until a pattern of at most so many bytes occurs behind the last one; returns its match."""
        end, searched, pattern = time.monotonic() + SOON, 0, re.compile(what, re.S)
        while time.monotonic() < end:
            m = pattern.search(self.text, max(0, searched - most))
            if m:
                self.text = self.text[m.end():]
                return m
            searched = len(self.text)
            self.read()
        raise AssertionError(f"no {what} in ...{self.text[-300:]}")

    def status(self, what=rb""):
        return self.until(rb"\033\[\d+;1H(?:\033\[7m)?([^\033]*" + what + rb"[^\033]*)\033\[K", 1000)[1].decode()

    def press(self, keys):
        os.write(self.fd, keys)

    def save(self):
        """Presses the key that writes a picture; returns its name. A build without libpng says so instead, and has none."""
        self.press(b"p")
        line = self.status(rb"(?:saved|built without libpng)")
        return None if "without libpng" in line else re.match(r"saved (\S+)", line)[1]

    def signal(self, number):
        os.kill(self.pid, number)

    def end(self):
        """Waits for the end; returns its status."""
        self.until(rb"\033\]ended;(\d+)\a", 100)
        self.text, _, status = self.all.rpartition(b"\033]ended;")
        return int(status[:-1])

    def check_restored(self):
        assert LEAVE in self.text and b"\033[?25h" in self.text, self.text[-200:]
        now = termios.tcgetattr(self.fd)
        assert now[:4] == self.before[:4], "the modes of the terminal are not restored"
        assert now[6] == self.before[6], "the keys of the terminal are not restored"


def half_blocks_and_a_status_line_are_drawn():
    with Terminal("--view") as t:
        t.until(re.escape(b"\033[?1049h"))
        status = t.status(rb"of 100000000")
        assert re.match(r"u  \d+ of 100000000  0", status), status
        frame = t.until(rb"\033\[H(.*?)\033\[30;1H")[1].decode()
        rows = [line for line in frame.split("\r\n") if "▀" in line]
        assert len(rows) == 29 and all(r.count("▀") == 87 for r in rows), [r.count("▀") for r in rows]
        assert "38;2;" in frame and "48;2;" in frame
        t.press(b"q")
        t.until(re.escape(LEAVE), 100)


def iterations_go_on_and_pauses_hold_them():
    with Terminal("--view") as t:
        first = int(t.status(rb"of 1").split()[1])
        while int(t.status(rb"of 1").split()[1]) <= first:
            pass
        t.press(b" ")
        held = int(t.status(rb"paused").split()[1])
        for _ in range(3):
            t.press(b"?")  # draws again
            t.until(rb"\033\[2J")
            assert int(t.status(rb"paused").split()[1]) == held
        t.press(b".")
        now = held
        while now == held:
            now = int(t.status(rb"paus").split()[1])
        assert now == held + 1
        t.press(b" ")
        t.status(rb"left")
        t.signal(signal.SIGINT)
        t.end()
        t.check_restored()


def keys_change_what_is_shown():
    with Terminal("--view=paused") as t:
        assert t.status(rb"paused").startswith("u ")
        t.press(b"f")
        t.status(rb"v  0")
        t.press(b"++")
        t.status(rb"paused")
        t.press(b"\033[C\033[B\033OA\033[D0krlFcC[]m")  # arrows and all others
        t.status(rb"u  0")
        name = t.save()
        assert not name or pathlib.Path(t.folder.name, name).read_bytes()[:4] == b"\x89PNG"
        t.press(b"\033\033[99;99Z\xff\x00\x80")  # nothing of this is a key
        t.press(b"?")
        t.until(rb"space", 100)
        t.press(b"q")
        t.until(re.escape(LEAVE), 100)


def the_picture_follows_the_size_of_the_terminal():
    with Terminal("--view", rows=40, columns=120) as t:
        t.status(rb"of 1")
        for rows, columns in [(10, 30), (3, 8), (1, 1), (60, 200), (24, 80)]:
            t.resize(rows, columns)
            frame = t.until(rb"\033\[2J((?:(?!\033\[2J).)*?)\033\[%d;1H" % rows)[1]
            for line in frame.split(b"\r\n"):
                assert line.count("▀".encode()) <= columns
        t.signal(signal.SIGTERM)
        t.end()
        t.check_restored()


def the_terminal_is_restored_after_every_end():
    for number, blocked in [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, None),
                            (signal.SIGSEGV, None), (signal.SIGABRT, None), (signal.SIGBUS, None)]:
        with Terminal("--view") as t:
            t.status(rb"of 1")
            t.signal(number)
            status = t.end()
            assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) in (blocked, 1), (number, status)
            t.check_restored()
            assert "▀".encode() not in t.text.split(LEAVE)[-1] or number == signal.SIGINT, "it draws on a screen that it has given back"
    with Terminal("--view", "--steps", "20") as t:
        assert t.end() == 0
        t.check_restored()


def the_control_key_ends_the_program():
    with Terminal("--view") as t:
        t.status(rb"of 1")
        t.press(b"\x03")
        assert os.waitstatus_to_exitcode(t.end()) == 130
        t.check_restored()


def output_of_the_program_comes_after_the_view():
    with Terminal("--view", "--steps", "300") as t:
        assert t.end() == 0
        picture, text = t.text.split(LEAVE)
        assert b"Gcells/s\r\n" in text and b"iterations in" in text and b"iterations in" not in picture, text[-300:]
        assert "▀".encode() in text  # the last picture stays


def colours_are_those_that_the_terminal_has():
    for env, pattern, absent in [({"COLORTERM": ""}, rb"38;5;\d+m", b"38;2;"), ({"COLORTERM": "", "TERM": "xterm"}, rb"\033\[3\dm|\033\[9\dm", b"38;"),
                                 ({"NO_COLOR": "1"}, rb"[.:=+*#%@]{4}", "▀".encode()), ({"TERM": "dumb"}, rb"[.:=+*#%@]{4}", b"38;")]:
        with Terminal("--view", **env) as t:
            t.until(pattern)
            t.signal(signal.SIGTERM)
            t.end()
            assert absent not in t.text, (env, t.text[:200])


KITTY, SIXEL = b"\033_Gi=31;OK\033\\\033[6;20;10t\033[?62c", b"\033[?62;4c"


def graphics_are_used_where_the_terminal_says_so():
    with Terminal("--view", answers=KITTY) as t:
        t.until(rb"\033_Ga=T,f=24,s=(\d+),v=(\d+)")
    with Terminal("--view", answers=SIXEL) as t:
        t.until(rb"\033P0;1;0q\"1;1;\d+;\d+#\d+;2;")


def an_answer_that_comes_late_counts_and_is_no_key():
    with Terminal("--view=paused", answers=KITTY, late=2) as t:
        assert t.until(rb"\033_Ga=T,f=24,s=(\d+),v=(\d+)")[1] != b"300"  # of characters of 10 x 20 pixels
        assert t.status(rb"paused").startswith("u  0 of")
        t.save()


def a_terminal_that_does_not_answer_is_not_waited_for():
    with Terminal("--view", "--steps", "1") as t:
        assert t.end() == 0
        t.check_restored()


def it_works_in_tmux():
    tmux = shutil.which("tmux")
    if not tmux:
        return "there is no tmux"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "heat.c").write_text(KERNEL)

        def do(*words):
            r = subprocess.run([tmux, "-S", f"{folder}/socket", "-f", "/dev/null", *words], capture_output=True, text=True, timeout=SOON,
                               cwd=folder, env={**os.environ, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"})
            assert r.returncode == 0, r.stderr
            return r.stdout

        def until(is_right):  # of the lines of the screen
            end = time.monotonic() + SOON
            while not is_right(lines := do("capture-pane", "-p", "-e").splitlines() or [""]):
                assert time.monotonic() < end, "\n".join(lines)
                time.sleep(0.1)

        def shows(lines, rows, status):
            return sum("▀" in line and "48;2;" in line for line in lines) == rows and status in lines[-1]

        try:
            do("new-session", "-d", "-x", "90", "-y", "30", "sh")
            do("send-keys", f"{AMBIT} run heat.c --size 200x300 --set k=0.2 --steps 100000000 --view=paused", "Enter")
            until(lambda s: shows(s, 29, "u  0 of 100000000  paused"))
            do("send-keys", ".")
            until(lambda s: shows(s, 29, "u  1 of 100000000  paused"))
            do("resize-window", "-x", "60", "-y", "20")
            until(lambda s: shows(s, 19, "u  1 of 100000000  paused"))
            do("send-keys", "q")
            until(lambda s: "ambit run heat.c" in "".join(s))  # the shell's screen is back
            do("send-keys", "C-c")
            do("send-keys", "echo $((6*7))", "Enter")
            until(lambda s: any(re.search(r"\b42\b", line) for line in s))  # and its modes
        finally:
            do("kill-server")


def without_a_terminal_it_says_so_and_runs_on():
    with tempfile.TemporaryDirectory() as folder:
        kernel = pathlib.Path(folder, "heat.c")
        kernel.write_text(KERNEL)
        r = subprocess.run([AMBIT, "run", kernel, "--size", "64x64", "--set", "k=0.2", "--steps", "20", "--view"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=SOON, start_new_session=True)
    assert r.returncode == 0 and "the run is not shown: there is no terminal" in r.stderr and "20 iterations" in r.stderr, r.stderr


def main():
    bad = 0
    tests = [f for f in globals().values() if callable(f) and getattr(f, "__module__", "") == "__main__" and f not in (Terminal, lead, main)]
    for test in tests:
        if len(sys.argv) > 2 and test.__name__ != sys.argv[2]:
            continue
        try:
            missing = test()
            print("ok -", test.__name__, f"# SKIP {missing}" if missing else "")
        except Exception:
            bad += 1
            print("not ok -", test.__name__)
            traceback.print_exc()
    return bad != 0


sys.exit(main())
