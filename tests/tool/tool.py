# SPDX-License-Identifier: BSD-3-Clause
"""Common to the tests of the tool: running it, and running tests.

    test_X.py path/to/ambit [more...]

A test is a function whose name is a sentence; it fails by raising. Exit status 77 means skipped.
"""
import contextlib, os, pathlib, subprocess, sys, tempfile, time, traceback

SKIP = 77
AMBIT = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)

HEAT = """
void heat(const float *u, float *v, float k, max float *change)
{
  float d = k * (u[-1][0] + u[1][0] + u[0][-1] + u[0][1] - 4 * u[0][0]);
  v[0][0] = u[0][0] + d;
  *change = fabsf(d);
}
"""
LIFE = """
void life(const unsigned char *u, unsigned char *v, sum int *alive)
{
  int n = u[-1][-1] + u[-1][0] + u[-1][1] + u[0][-1] + u[0][1] + u[1][-1] + u[1][0] + u[1][1];
  v[0][0] = n == 3 || (n == 2 && u[0][0]);
  *alive = v[0][0];
}
"""


SOON = 300  # seconds: nothing takes so long, on a busy machine either


def wait(what):
    """Waits until something holds."""
    end = time.monotonic() + SOON
    while not what():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)


def run(*words, code=0, **env):
    """Runs the tool. Returns its standard output and standard error. Tests that need pictures are skipped without libpng."""
    r = subprocess.run([AMBIT, *map(str, words)], capture_output=True, text=True, timeout=SOON,
                       env={**os.environ, **env})
    if "Ambit was built without libpng" in r.stderr:
        raise Skipped("built without libpng")
    assert r.returncode == code, f"{words}: exit {r.returncode}, not {code}\n{r.stdout}{r.stderr}"
    return r.stdout, r.stderr


def refuses(*words, saying, code=2):
    """The command fails with these words and prints no result."""
    out, err = run(*words, code=code)
    for part in [saying] if isinstance(saying, str) else saying:
        assert part in err, f"{words}: no '{part}' in\n{err}"
    assert out == "", f"{words}: printed {out}"


@contextlib.contextmanager
def folder(**texts):
    """A temporary folder with these files: heat_c=... is heat.c."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name)
        for key, text in texts.items():
            (path / key.replace("_", ".")).write_text(text)
        yield path


def need_numpy():
    try:
        import numpy
        return numpy
    except ImportError:
        print("skipped: this python has no numpy")
        sys.exit(SKIP)


class Skipped(Exception):
    """Raised, with the reason, by a test that cannot run here."""


def main(tests):
    """Runs the tests of this table: the functions without a leading underscore."""
    bad, skipped = 0, 0
    mine = [f for name, f in tests.items() if callable(f) and getattr(f, "__module__", "") == "__main__"
            and not name.startswith("_")]
    for n, test in enumerate(mine, 1):
        try:
            test()
            word, tail = "ok", ""
        except Skipped as why:
            word, tail, skipped = "ok", f" # SKIP {why}", skipped + 1
        except Exception:
            print("# " + traceback.format_exc().replace("\n", "\n# "))
            word, tail, bad = "not ok", "", bad + 1
        print(f"{word} {n} - {test.__name__}{tail}", flush=True)
    print(f"1..{len(mine)}")
    sys.exit(1 if bad or not mine else SKIP if skipped == len(mine) else 0)
