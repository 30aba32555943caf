#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `ambit port` and `ambit run` do around the translation itself.

    test_tool.py ambit-port libambit.so source-folder cc ambit
"""
import json, pathlib, re, resource, sys, tempfile, traceback

import check

PORT, LIBRARY, SOURCE, CC, AMBIT = sys.argv[1:6]
TOOLS = check.Tools(PORT, LIBRARY, SOURCE, CC, [])
PROGRAMS = check.HERE / "programs"

OVERLAP = """
#include <stdio.h>
static double a[64];
static void shift(double *to, const double *from, int n)
{
#pragma ambit
  for (int i = 1; i < n; i++)
    to[i] = from[i - 1] * 0.5 + 1;
}
int main(void)
{
  for (int i = 0; i < 64; i++)
    a[i] = i;
  shift(a, a, 64);
  shift(a + 1, a, 63);
  for (int i = 0; i < 64; i++)
    printf("%.17g\\n", a[i]);
  return 0;
}
"""


OPENMP = """
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
  int n = 50;
  double *a = malloc(sizeof(double) * n * n), *b = malloc(sizeof(double) * n * n);
  for (int k = 0; k < n * n; k++)
    a[k] = b[k] = k % 9;
#pragma ambit
  for (int t = 0; t < 3; t++) {
#pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = 0.5 * (a[(i - 1) * n + j] + a[i * n + j + 1]);
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i * n + j] = b[i * n + j];
  }
  for (int k = 0; k < n * n; k++)
    printf("%.17g\\n", a[k]);
  free(a);
  free(b);
  return 0;
}
"""


def ported(folder, source, *options):
    path = folder / f"{source.stem}_ported.c"
    TOOLS.translate(source, path, options=options)
    return TOOLS.compile_ported(path, folder / f"{source.stem}_ported")


def a_time_loop_without_host_access_is_one_run(folder):
    program = ported(folder, PROGRAMS / "jacobi_flat.c")
    trace = folder / "trace.json"
    TOOLS.must(program, env={"AMBIT_TRACE": str(trace)})
    names = [e.get("name") for e in json.loads(trace.read_text())["traceEvents"]]
    assert names.count("main_20") + sum(n.startswith("main_") for n in names) > 0, names
    # 17 steps that swap two arrays: a period of two, eight times, and the last step
    assert sum(n.startswith("main_") for n in names) == 17, names
    assert names.count("wait for devices") == 2, names


def check_finds_nothing_in_a_right_program(folder):
    program = ported(folder, PROGRAMS / "redblack.c", "--check")
    r = TOOLS.must(program)
    assert "differs" not in r.stderr, r.stderr
    assert r.stdout == TOOLS.must(TOOLS.compile_serial(PROGRAMS / "redblack.c", folder / "serial")).stdout


def check_names_the_first_cell_that_differs(folder):
    path = folder / "wrong.c"
    TOOLS.translate(PROGRAMS / "static_arrays.c", path, options=["--check"])
    text = path.read_text()
    wrong = text.replace("*b = (0.2 *", "*b = (0.25 *", 1)
    assert wrong != text
    path.write_text(wrong)
    r = TOOLS.must(TOOLS.compile_ported(path, folder / "wrong"))
    assert re.search(r"static_arrays\.c:\d+: the step differs from the serial nest first at cell\[1\]\[1\]: ", r.stderr), r.stderr


def a_proposal_is_a_program_that_can_be_translated(folder):
    plain = folder / "plain.c"
    plain.write_text("".join(l for l in (PROGRAMS / "fdtd.c").open() if "#pragma" not in l))
    proposed = folder / "proposed.c"
    flags = ["-I", str(PROGRAMS)]
    r = TOOLS.must(PORT, "--propose", plain, "-o", proposed, "--", *flags)
    found = r.stderr.count("this nest would run in parallel")
    assert found >= 5 and proposed.read_text().count("#pragma ambit") == found, r.stderr
    assert f": {found} nests in parallel" in TOOLS.translate(proposed, folder / "out.c", *flags)


def a_proposal_gives_a_reason_for_each_nest_that_stays_serial(folder):
    r = TOOLS.must(PORT, "--propose", check.HERE / "refused" / "seidel.c", "-o", folder / "out.c")
    assert "Gauss-Seidel" in r.stderr and "#pragma ambit\n  for (int t" in (folder / "out.c").read_text()


def run_translates_compiles_and_runs_a_program(folder):
    want = TOOLS.must(TOOLS.compile_serial(PROGRAMS / "jacobi_flat.c", folder / "serial"), 12, 9).stdout
    r = TOOLS.must(AMBIT, "run", PROGRAMS / "jacobi_flat.c", "--ambit-threads=1", "--", 12, 9,
                   env={"CFLAGS": "-O2 -ffp-contract=off", "CC": CC})
    assert r.stdout == want, r.stdout


def directives_of_openmp_before_a_nest_are_left_out(folder):
    source = folder / "openmp.c"
    source.write_text(OPENMP)
    want = TOOLS.must(TOOLS.compile_serial(source, folder / "serial")).stdout
    TOOLS.translate(source, folder / "out.c")
    assert "\n#pragma omp" not in (folder / "out.c").read_text()
    assert TOOLS.must(TOOLS.compile_ported(folder / "out.c", folder / "ported", "-fopenmp")).stdout == want


def arrays_that_overlap_run_serially_and_say_so(folder):
    source = folder / "overlap.c"
    source.write_text(OVERLAP)
    want = TOOLS.must(TOOLS.compile_serial(source, folder / "serial")).stdout
    r = TOOLS.must(ported(folder, source))
    assert r.stdout == want
    assert r.stderr.count("overlap.c:7: this nest runs serially: arrays overlap") == 1, r.stderr


def a_thousand_lines_take_less_than_two_seconds(folder):
    nest = "    for (int j = 1; j < n - 1; j++)\n      for (int i = 1; i < n - 1; i++)\n        {0}[j * n + i] = 0.25 * ({1}[j * n + i - 1] + {1}[(j + {2}) * n + i]);\n"
    text = "#include <stdlib.h>\n"
    for f in range(25):
        text += f"void work{f}(double *a, double *b, int n)\n{{\n#pragma ambit\n  for (int t = 0; t < 9; t++) {{\n"
        text += "".join(nest.format("ab"[k % 2], "ba"[k % 2], k % 2) for k in range(11)) + "  }\n}\n"
    source = folder / "long.c"
    source.write_text(text)
    assert text.count("\n") > 950
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    notes = TOOLS.translate(source, folder / "out.c")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert "275 nests in parallel" in notes, notes
    assert seconds < 2, f"{seconds:.1f} s"


def main():
    failed = 0
    for name, test in list(globals().items()):
        if "_" not in name or not callable(test) or test.__module__ != "__main__":
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
                print("ok", name)
            except Exception:
                failed += 1
                print("FAILED", name)
                traceback.print_exc(file=sys.stdout)
    return failed != 0


sys.exit(main())
