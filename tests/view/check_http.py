#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The server of the view, and what it refuses: forged requests, rubbish, slow and greedy clients.

    check_http.py path/to/ambit [MPIRUN [test]]
"""
import contextlib, json, os, pathlib, random, re, signal, socket, struct, subprocess, sys, tempfile, threading, time, traceback

AMBIT = os.path.abspath(sys.argv[1])
MPIRUN = sys.argv[2] if len(sys.argv) > 2 else ""
KERNEL = """
void heat(const float *u, float *v, float k, max float *top)
{
  *v = *u + k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * *u);
  *top = *v;
}
"""


SOON = 200  # seconds: nothing here takes so long, on a busy machine either


class Run:
    """A run with a server; ends with the block."""

    def __init__(self, *words, size="200x300", view="http", steps=100000000, kernel=KERNEL, processes=1):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name, "heat.c")
        path.write_text(kernel)
        self.view = view.replace("FOLDER", self.folder.name)
        start = [MPIRUN, "-n", str(processes)] if processes > 1 else []
        env = dict(os.environ)
        if start:  # MPI keeps memory until the end; tests with the label mpi look for leaks
            env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "").replace("detect_leaks=1", "detect_leaks=0")
        self.process = subprocess.Popen([*start, AMBIT, "run", path, "--size", size, *(["--set", "k=0.2"] if "float k" in kernel else []), "--steps", str(steps),
                                         "--view=" + self.view, "-q", *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)
        self.line = "ambit: warning"
        while self.line.startswith("ambit: warning"):  # of compilers that take long
            self.line = self.process.stderr.readline()
        m = re.search(r"http://(?:127.0.0.1|localhost):(\d+)/#([0-9a-f]{32})\b", self.line)
        assert m, self.line
        self.port, self.token = int(m[1]), m[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate() if self.process.args[0] == MPIRUN else self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.folder.cleanup()

    def connect(self):
        if "FOLDER" in self.view or "/" in self.view:
            s = socket.socket(socket.AF_UNIX)
            s.connect(self.view.split(":", 1)[1].split(",")[0])
        else:
            s = socket.create_connection(("127.0.0.1", self.port))
        s.settimeout(SOON)
        return s

    def raw(self, data):
        """The status of the answer to these bytes; 0: the connection was closed without one."""
        with self.connect() as s:
            try:
                s.sendall(data)
                answer = s.recv(1 << 16)
            except (ConnectionResetError, BrokenPipeError):
                return 0
            return int(answer.split()[1]) if answer else 0

    def head(self, path, method="GET", **headers):
        fields = {"Host": f"127.0.0.1:{self.port}", "X-Ambit-Token": self.token, "X-Ambit-Client": "test"}
        fields.update({k.replace("_", "-"): v for k, v in headers.items()})
        return (f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items() if v is not None) + "\r\n").encode()

    def ask(self, path, body=None, **headers):
        """Status, headers and body of an answer."""
        more = {} if body is None else {"Content_Length": str(len(body))}
        with self.connect() as s:
            s.sendall(self.head(path, "GET" if body is None else "POST", Connection="close", **more, **headers) + (body or "").encode())
            data = b""
            while more := s.recv(1 << 16):
                data += more
        head, _, rest = data.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), rest

    def do(self, command, client="test"):
        return self.ask("/do", command, X_Ambit_Client=client)[0]

    def frame(self, after=0, rows=64, columns=64, client="test"):
        """The next picture: its head and its values. A run that is slow has none at first (status 204)."""
        status, end = 204, time.monotonic() + SOON
        while status == 204 and time.monotonic() < end:
            status, _, body = self.ask(f"/frame?after={after}&rows={rows}&columns={columns}", X_Ambit_Client=client)
        assert status == 200, status
        line, _, values = body.partition(b"\n")
        assert (len(line) + 1) % 2 == 0
        f = json.loads(line)
        assert len(values) == 2 * f["rows"] * f["columns"]
        return f, values

    def until(self, check, f=None, **more):
        """The first picture after f that passes."""
        end = time.monotonic() + SOON
        while True:
            f, values = self.frame(after=f["number"] if f else 0, **more)
            if check(f):
                return f, values
            assert time.monotonic() < end, f


def pages_and_pictures_are_served():
    with Run() as r:
        status, head, page = r.ask("/", X_Ambit_Token=None)
        assert status == 200 and b"<title>Ambit</title>" in page
        nonces = set(re.findall(rb'nonce="(\w+)"', page))
        assert len(nonces) == 1 and f"'nonce-{nonces.pop().decode()}'" in head and "default-src 'none'" in head
        assert not re.search(rb'(src|href)="(?!data:,)', page), "the page fetches something"
        scene = json.loads(r.ask("/scene")[2])
        assert [f["name"] for f in scene["fields"]] == ["u", "v"] and scene["extents"] == [200, 300] and scene["scalars"] == ["top"]
        assert all(len(m["colours"]) == 6 * 256 for m in scene["maps"]) and len(scene["maps"]) == 9
        f, values = r.frame()
        assert f["rows"] * f["block"] >= 200 and f["least"] >= 0 and f["greatest"] <= 1 and f["scalars"]
        again = r.until(lambda g: g["iteration"] > f["iteration"], f)[0]
        assert again["number"] > f["number"]


def commands_control_the_run():
    with Run(view="http,paused", size="64x64x48", kernel="""
void f(const float *u, float *v, float k) { *v = *u + k * (u[-1][0][0] + u[1][0][0] - 2 * *u); }""") as r:
        f, _ = r.frame()
        assert f["paused"] and f["held"] and f["iteration"] == 0 and f["axis"] == 0 and f["plane"] == 32
        for command, check in [("step", lambda f: f["iteration"] == 1), ("plane=3", lambda f: f["plane"] == 3),
                               ("axis=2", lambda f: f["axis"] == 2 and f["rect"] == [0, 64, 0, 64]), ("most=1", lambda f: f["most"]),
                               ("field=v", lambda f: f["field"] == 1), ("colours=magma", lambda f: f["map"] == "magma"),
                               ("range=0:4", lambda f: f["fixed"] and f["range"] == [0, 4]), ("relief=1", lambda f: f["relief"]),
                               ("zoom=2", lambda f: f["rect"] == [16, 48, 16, 48]), ("whole", lambda f: f["rect"] == [0, 64, 0, 64]),
                               ("pause=0", lambda f: not f["paused"] and f["iteration"] > 1)]:
            assert r.do(command) == 204, command
            f, _ = r.until(check, f)
        assert r.do("colours=rainbow") == 400 and r.do("rm -rf") == 400


def values_are_exact_for_whole_numbers():
    life = "void life(const unsigned char *u, unsigned char *v) { *v = (unsigned char)(*u + 3); }"
    with tempfile.TemporaryDirectory(), Run(view="http,paused", size="20x30", kernel=life) as r:
        f, values = r.until(lambda f: f["rows"] == 20, rows=400, columns=400)
        steps = struct.unpack(f"<{f['rows'] * f['columns']}H", values)
        assert f["columns"] == 30 and f["hi"] - f["lo"] == 65534 and set(steps) <= {0, 1}
        assert r.do("step") == 204
        f, values = r.until(lambda f: f["iteration"] == 1, f, rows=400, columns=400)
        assert f["lo"] == 3, f


def pauses_hold_the_run():
    with Run() as r:
        first, _ = r.until(lambda f: f["iteration"] > 0)
        assert r.do("pause=1") == 204
        held, _ = r.until(lambda f: f["held"], first)
        for command, check in [("relief=1", lambda f: f["relief"]), ("colours=magma", lambda f: f["map"] == "magma")]:
            assert r.do(command) == 204
            f, _ = r.until(check, held)
            assert f["held"] and f["iteration"] == held["iteration"]
        assert r.do("step") == 204
        f, _ = r.until(lambda f: f["iteration"] != held["iteration"], f)
        assert f["iteration"] == held["iteration"] + 1
        assert r.do("pause=0") == 204
        r.until(lambda f: not f["held"] and f["iteration"] > held["iteration"] + 1, f)


def processes_send_their_parts_to_the_one_that_serves():
    if not MPIRUN:
        return "there is no MPI"
    seen = {}
    for processes in (1, 2, 3):
        with Run("--strict", view="http,paused", steps=4, processes=processes) as r:
            f, _ = r.frame()
            for i in range(3):
                assert r.do("step") == 204
                f, values = r.until(lambda f: f["iteration"] == i + 1, f)
            for command, check in [("field=v", lambda f: f["field"] == 1), ("zoom=4", lambda f: f["rect"][1] - f["rect"][0] < 200)]:
                assert r.do(command) == 204
                f, more = r.until(check, f)
                values += more
            seen[processes] = values, f["scalars"], f["rect"], f["least"], f["greatest"]
            assert r.do("pause=0") == 204
            assert r.process.wait(SOON) == 0 and "http:" not in r.process.stderr.read()  # one address, not three
    assert seen[1] == seen[2] == seen[3]


def forged_requests_are_refused():
    with Run() as r:
        bad = [dict(Host="evil.example"), dict(Host=f"127.0.0.1.evil.example:{r.port}"), dict(Host="127.0.0.1:80evil"), dict(Host="localhostevil"),
               dict(Host="169.254.1.1"), dict(Origin="http://evil.example"), dict(Origin="null"), dict(Origin=f"https://127.0.0.1:{r.port}"),
               dict(Origin=f"http://127.0.0.1:{r.port}.evil.example"), dict(X_Ambit_Token=None), dict(X_Ambit_Token=""), dict(X_Ambit_Token="0" * 32),
               dict(X_Ambit_Token=r.token[:-1]), dict(X_Ambit_Token=r.token + "0"), dict(X_Ambit_Token=r.token.upper() + "x"), dict(X_Ambit_Token=r.token[:-1] + "g")]
        for headers in bad:
            assert r.ask("/frame", **headers)[0] == 403, headers
            assert r.ask("/do", "pause=1", **headers)[0] == 403, headers
        r.frame()  # from now on there is one for everybody
        assert r.ask("/", Host="evil.example")[0] == 403  # the page, too: its name may be bound to 127.0.0.1
        assert r.ask("/frame", Origin=f"http://127.0.0.1:{r.port}")[0] == 200
        assert r.ask("/scene", Host="localhost:9999", Origin="http://localhost:9999")[0] == 200  # through ssh -L
        assert not r.frame()[0]["paused"]
        assert r.ask("/do")[0] == 405 and r.ask("/scene", "x")[0] == 405
        assert r.ask("/etc/passwd")[0] == 404 and r.ask("/../../etc/passwd")[0] == 404


def one_client_controls():
    with Run() as r:
        assert r.do("pause=1", "one") == 204
        assert r.do("pause=0", "two") == 423
        assert r.frame(client="one")[0]["controls"] and not r.frame(client="two")[0]["controls"]
        assert r.do("take", "two") == 204 and r.do("pause=0", "two") == 204 and r.do("pause=1", "one") == 423
        assert r.ask("/do", "pause=1", X_Ambit_Client=None)[0] == 400


def rubbish_does_no_harm():
    random.seed(7)
    with Run() as r:
        cases = [(b"\r\n\r\n", 400), (b"GET\r\n\r\n", 400), (b"GET / HTTP/1.1\n\n", 400), (b"GET / HTTP/2.0\r\n\r\n", 505), (b"BREW / HTTP/1.1\r\n\r\n", 405),
                 (b"GET http://x/ HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nHost\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n : x\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n\r\n", 403),
                 (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400), (b"POST /do HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501),
                 (b"POST /do HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 413), (b"POST /do HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
                 (b"POST /do HTTP/1.1\r\nContent-Length: 257\r\n\r\n", 413), (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", 431),
                 (b"GET / HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n", 431), (b"GET /\0 HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nHost: \x01\r\n\r\n", 400)]
        for data, status in cases:
            assert r.raw(data) in (status, 0 if len(data) > 8000 else status), (data[:60], status)
        for _ in range(200):
            data = bytes(random.randrange(256) for _ in range(random.randrange(1, 300))) + b"\r\n\r\n"
            with contextlib.suppress(OSError), r.connect() as s:
                s.settimeout(0.02)
                s.sendall(data)
                s.recv(100)
        valid = r.head("/frame?after=0&rows=1&columns=99999999999999999999&x=%00")
        for _ in range(200):  # valid ones with a few bytes changed
            data = bytearray(valid)
            for _ in range(random.randrange(1, 5)):
                data[random.randrange(len(data))] = random.randrange(256)
            with contextlib.suppress(OSError), r.connect() as s:
                s.settimeout(0.02)
                s.sendall(bytes(data))
                s.recv(100)
        r.frame()
        assert r.process.poll() is None


def slow_and_silent_clients_hold_nobody_up():
    with Run(size="1500x1500") as r:
        first, _ = r.frame(rows=1500, columns=1500)
        lazy = []
        for i in range(8):  # ask for pictures and read nothing of them
            s = r.connect()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(r.head("/frame?after=0&rows=1500&columns=1500") * 3)
            lazy.append(s)
        for i in range(4):  # send a request byte by byte
            s = r.connect()
            s.sendall(b"GET / HT")
            lazy.append(s)
        r.until(lambda f: f["iteration"] > first["iteration"], first)
        for s in lazy[8:]:  # closed after their time
            assert not s.recv(100), "half a request is answered"
        for s in lazy:
            s.close()


def connections_are_limited():
    with Run() as r:
        many = [r.connect() for _ in range(16)]
        assert r.raw(r.head("/frame")) in (503, 0)
        for s in many:
            s.close()
        end = time.monotonic() + SOON
        while r.raw(r.head("/frame")) != 200:
            assert time.monotonic() < end


def requests_one_after_the_other_are_answered_in_order():
    with Run() as r, r.connect() as s:
        r.frame()
        s.sendall(r.head("/nothing") + r.head("/scene") + r.head("/frame", Connection="close"))
        data = b""
        while more := s.recv(1 << 16):
            data += more
        assert re.findall(rb"HTTP/1.1 (\d+)", data) == [b"404", b"200", b"200"]


def a_socket_of_unix_serves_too_and_is_removed():
    with Run(view="http:FOLDER/view.sock") as r:
        path = pathlib.Path(r.folder.name, "view.sock")
        assert path.is_socket() and path.stat().st_mode & 0o077 == 0 and "ssh -L" in r.line
        r.frame()
        r.process.send_signal(signal.SIGTERM)
        r.process.wait(SOON)
        assert not path.exists()


def a_port_in_use_is_told_and_the_run_goes_on():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "heat.c")
            path.write_text(KERNEL)
            r = subprocess.run([AMBIT, "run", path, "--size", "64x64", "--set", "k=0.2", "--steps", "20", f"--view=http:{s.getsockname()[1]}"],
                               capture_output=True, text=True, timeout=SOON)
        assert r.returncode == 0 and "the run is not shown: port" in r.stderr, r.stderr


def the_last_picture_is_delivered():
    with Run(view="http,paused", steps=3) as r:
        f, _ = r.frame()
        for i in range(2):
            assert r.do("step") == 204
            f, _ = r.until(lambda f: f["iteration"] == i + 1, f)
        with r.connect() as s:  # asks before there is one
            s.sendall(r.head(f"/frame?after={f['number'] + 1}", Connection="close"))  # the next one is of the step
            assert r.do("step") == 204
            with contextlib.suppress(OSError):
                r.frame(after=f["number"])
            data = b""
            while more := s.recv(1 << 16):
                data += more
        last = json.loads(data.partition(b"\r\n\r\n")[2].partition(b"\n")[0])
        assert last["iteration"] == 3 and last["ended"], last
        assert r.process.wait(SOON) == 0


def only_this_machine_can_connect():
    with Run() as r:
        lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()
        mine = [line.split()[1] for line in lines if line.split()[1].endswith(f":{r.port:04X}") and line.split()[3] == "0A"]
        assert mine == [f"0100007F:{r.port:04X}"], mine


def main():
    bad = 0
    for test in [f for f in globals().values() if callable(f) and getattr(f, "__module__", "") == "__main__" and f not in (Run, main)]:
        if len(sys.argv) > 3 and test.__name__ != sys.argv[3]:
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
