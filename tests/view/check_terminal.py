#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The view in a terminal, through a pseudo-terminal: what is drawn, keys, sizes, and that the terminal is as before after every end.

    check_terminal.py path/to/ambit
"""
import fcntl, os, pathlib, pty, re, select, signal, struct, subprocess, sys, tempfile, termios, time, traceback

AMBIT = os.path.abspath(sys.argv[1])
LEAVE = b"\033[?1049l"
KERNEL = """
void heat(const float *u, float *v, float k)
{
  *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
}
"""


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, *words, rows=30, columns=90, answers=b"", **env):
        self.folder = tempfile.TemporaryDirectory()
        kernel = pathlib.Path(self.folder.name, "heat.c")
        kernel.write_text(KERNEL)
        self.text, self.answers, self.rows = b"", answers, rows
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(self.folder.name)
            settings = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", **env}
            for name in ("TMUX", "NO_COLOR", "LC_ALL", "SSH_CONNECTION"):
                if name not in env:
                    settings.pop(name, None)
            os.execve(AMBIT, [AMBIT, "run", "heat.c", "--size", "200x300", "--set", "k=0.2", "--steps", "100000000",
                              *words], settings)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.fd)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.05):
        end = time.time() + seconds
        while True:
            ready, _, _ = select.select([self.fd], [], [], max(0, min(0.05, end - time.time())))
            if ready:
                try:
                    more = os.read(self.fd, 1 << 16)
                except OSError:  # the last one has closed it
                    return False
                if b"\033[c" in more and self.answers:
                    os.write(self.fd, self.answers)
                self.text += more
            if time.time() >= end:
                return True

    def until(self, what, seconds=30):
        """Reads until a pattern occurs behind the last one; returns its match."""
        end = time.time() + seconds
        while time.time() < end:
            alive = self.read()
            m = re.search(what, self.text, re.S)
            if m:
                self.text = self.text[m.end():]
                return m
            if not alive:
                break
        raise AssertionError(f"no {what} in ...{self.text[-300:]}")

    def status(self, what=rb"", seconds=30):
        return self.until(rb"\033\[\d+;1H(?:\033\[7m)?([^\033]*" + what + rb"[^\033]*)\033\[K", seconds)[1].decode()

    def press(self, keys):
        self.read(0.2)
        self.text = b""
        os.write(self.fd, keys)

    def end(self, seconds=30):
        """Waits for the end; returns its status. The terminal must be as it was."""
        limit = time.time() + seconds
        while time.time() < limit:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read(0.1)
                return status
        raise AssertionError("it does not end")

    def check_restored(self):
        assert LEAVE in self.text and b"\033[?25h" in self.text, self.text[-200:]
        now = termios.tcgetattr(self.fd)
        assert now[3] == self.before[3], "the modes of the terminal are not restored"
        assert now[6] == self.before[6], "the keys of the terminal are not restored"


def half_blocks_and_a_status_line_are_drawn():
    t = Terminal("--view")
    t.until(re.escape(b"\033[?1049h"))
    assert re.match(r"u  \d+ of 100000000  0", t.status(rb"of 100000000")), t.text[:100]
    frame = t.until(rb"\033\[H(.*?)\033\[30;1H")[1].decode()
    rows = [line for line in frame.split("\r\n") if "▀" in line]
    assert len(rows) == 29 and all(r.count("▀") == 87 for r in rows), [r.count("▀") for r in rows]
    assert "38;2;" in frame and "48;2;" in frame
    t.press(b"q")
    t.until(re.escape(LEAVE))
    os.kill(t.pid, signal.SIGKILL)
    t.end()


def iterations_go_on_and_pauses_hold_them():
    t = Terminal("--view")
    first = int(t.status(rb"of 1").split()[1])
    while int(t.status(rb"of 1").split()[1]) <= first:
        pass
    t.press(b" ")
    t.status(rb"paused")
    t.read(0.5)
    t.press(b"?")  # draws again
    held = t.status(rb"paused").split()[1]
    t.press(b"?")
    assert t.status(rb"paused").split()[1] == held
    t.press(b".")
    deadline = time.time() + 20
    while t.status(rb"paused").split()[1] != str(int(held) + 1):
        assert time.time() < deadline
    t.press(b" ")
    t.status(rb"left")
    os.kill(t.pid, signal.SIGINT)
    t.end()
    t.check_restored()


def keys_change_what_is_shown():
    t = Terminal("--view=paused")
    assert t.status(rb"paused").startswith("u ")
    t.press(b"f")
    assert t.status(rb"v  0").startswith("v ")
    t.press(b"++")
    t.status(rb"paused")
    t.press(b"\033[C\033[B\033OA\033[D0krlFcC[]m")  # arrows and all others
    t.status(rb"u  0")
    t.press(b"p")
    name = re.match(r"saved (\S+)", t.status(rb"saved"))[1]
    assert pathlib.Path(t.folder.name, name).read_bytes()[:4] == b"\x89PNG"
    t.press(b"\033\033[99;99Z\xff\x00\x80")  # nothing of this is a key
    t.press(b"?")
    t.until(rb"space")
    t.press(b"q")
    t.until(re.escape(LEAVE))
    os.kill(t.pid, signal.SIGKILL)
    t.end()


def the_picture_follows_the_size_of_the_terminal():
    t = Terminal("--view", rows=40, columns=120)
    t.status(rb"of 1")
    for rows, columns in [(10, 30), (3, 8), (1, 1), (60, 200), (24, 80)]:
        t.resize(rows, columns)
        t.until(rb"\033\[2J", 10)
        t.until(rb"\033\[%d;1H" % rows, 10)
        for line in t.text.split(b"\r\n"):
            assert line.count("▀".encode()) <= 200
    os.kill(t.pid, signal.SIGTERM)
    t.end()
    t.check_restored()


def the_terminal_is_restored_after_every_end():
    for number, blocked in [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, None),
                            (signal.SIGSEGV, None), (signal.SIGABRT, None), (signal.SIGBUS, None)]:
        t = Terminal("--view")
        t.status(rb"of 1")
        os.kill(t.pid, number)
        status = t.end()
        assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) in (blocked, 1), (number, status)
        t.check_restored()
    t = Terminal("--view", "--steps", "20")
    assert t.end() == 0
    t.check_restored()


def the_control_key_ends_the_program():
    t = Terminal("--view")
    t.status(rb"of 1")
    t.press(b"\x03")
    assert os.waitstatus_to_exitcode(t.end()) == 130
    t.check_restored()


def output_of_the_program_comes_after_the_view():
    t = Terminal("--view", "--steps", "300")
    assert t.end() == 0
    picture, text = t.text.split(LEAVE)
    assert b"Gcells/s\r\n" in text and b"iterations in" in text and b"iterations in" not in picture, text[-300:]
    assert "▀".encode() in text  # the last picture stays


def colours_are_those_that_the_terminal_has():
    for env, pattern, absent in [({"COLORTERM": ""}, rb"38;5;\d+m", b"38;2;"), ({"COLORTERM": "", "TERM": "xterm"}, rb"\033\[3\dm|\033\[9\dm", b"38;"),
                                 ({"NO_COLOR": "1"}, rb"[.:=+*#%@]{4}", "▀".encode()), ({"TERM": "dumb"}, rb"[.:=+*#%@]{4}", b"38;")]:
        t = Terminal("--view", **env)
        t.until(pattern)
        assert absent not in t.text, (env, t.text[:200])
        os.kill(t.pid, signal.SIGINT)
        t.end()


def graphics_are_used_where_the_terminal_says_so():
    t = Terminal("--view", answers=b"\033_Gi=31;OK\033\\\033[6;20;10t\033[?62c")
    t.until(rb"\033_Ga=T,f=24,s=(\d+),v=(\d+)")
    os.kill(t.pid, signal.SIGINT)
    t.end()
    t = Terminal("--view", answers=b"\033[?62;4c")
    t.until(rb"\033P0;1;0q\"1;1;\d+;\d+#\d+;2;")
    os.kill(t.pid, signal.SIGINT)
    t.end()


def a_terminal_that_does_not_answer_costs_half_a_second():
    start = time.time()
    t = Terminal("--view", "--steps", "1")
    assert t.end() == 0 and time.time() - start < 20
    t.check_restored()


def without_a_terminal_it_says_so_and_runs_on():
    with tempfile.TemporaryDirectory() as folder:
        kernel = pathlib.Path(folder, "heat.c")
        kernel.write_text(KERNEL)
        r = subprocess.run([AMBIT, "run", kernel, "--size", "64x64", "--set", "k=0.2", "--steps", "20", "--view"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=60, start_new_session=True)
    assert r.returncode == 0 and "the run is not shown: there is no terminal" in r.stderr and "20 iterations" in r.stderr, r.stderr


def main():
    bad = 0
    tests = [f for f in globals().values() if callable(f) and getattr(f, "__module__", "") == "__main__" and f not in (Terminal, main)]
    for test in tests:
        if len(sys.argv) > 2 and test.__name__ != sys.argv[2]:
            continue
        try:
            test()
            print("ok -", test.__name__)
        except Exception:
            bad += 1
            print("not ok -", test.__name__)
            traceback.print_exc()
    return bad != 0


sys.exit(main())
