#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `ambit port` and `ambit run` do around the translation itself.

    test_tool.py ambit-port libambit.so source-folder cc ambit
"""
import json, pathlib, re, resource, shutil, sys, tempfile, traceback

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
static void scale(double *to, const double *from, int n)
{
#pragma ambit
  for (int i = 0; i < n; i++)
    to[i] = from[i] * 0.5;
}
static void twice(double *to, const double *from, int n)
{
#pragma ambit
  for (int i = 0; i < n; i++) {
    to[i] = 2 * from[i];
    to[i] += from[i];
  }
}
int main(void)
{
  for (int i = 0; i < 64; i++)
    a[i] = i;
  shift(a, a, 64);
  shift(a + 1, a, 63);
  scale(a, a, 64);
  scale(a + 1, a, 63);
  twice(a, a, 64);
  for (int i = 0; i < 64; i++)
    printf("%.17g\\n", a[i]);
  return 0;
}
"""


OPENMP = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
  int n = 50;
  double *a = malloc(sizeof(double) * n * n), *b = malloc(sizeof(double) * n * n);
#pragma omp parallel for
  for (int k = 0; k < n * n; k++)
    a[k] = b[k] = k % 9;
  if (omp_get_wtime() < 0) return 1;
#pragma ambit
  for (int t = 0; t < 3; t++) {
#pragma omp parallel
    {
# pragma omp for \\
    collapse(2)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = 0.5 * (a[(i - 1) * n + j] + a[i * n + j + 1]);
    }
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


SUM = """
#include <stdio.h>
static double a[60][50];
int main(void)
{
  double s = 0;
  for (int i = 0; i < 60; i++)
    for (int j = 0; j < 50; j++)
      a[i][j] = 1.0 / (1 + i * 50 + j);
#pragma ambit must sum(any)
  for (int i = 0; i < 60; i++)
    for (int j = 0; j < 50; j++)
      s += a[i][j];
  printf("%.17g\\n", s);
  return 0;
}
"""


SHAPE = """
#include <stdio.h>
#include <stdlib.h>
static void edges(double *u, int ny, int nx)
{
#pragma ambit must shape(u[ny][nx])
  for (int i = 0; i < nx; i++)
    u[i] = u[i + nx];
}
int main(void)
{
  double *u = malloc(12 * 9 * sizeof *u);
  for (int k = 0; k < 12 * 9; k++)
    u[k] = k;
  edges(u, 12, 9);
  for (int k = 0; k < 12 * 9; k++)
    printf("%g\\n", u[k]);
  return 0;
}
"""

LIFE = """
#define N 20
static unsigned char now[N][N], next[N][N];
static int around(int y, int x)
{
  int n = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      n += now[(y + j + N) % N][(x + i + N) % N];
  return n;
}
int main(void)
{
#pragma ambit must
  for (int y = 0; y < N; y++)
    for (int x = 0; x < N; x++)
      next[y][x] = around(y, x) == 3;
  return next[3][3];
}
"""

# Edge fills, sweeps, swaps, three levels and copies: no host access in the loop over time.
STEPS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double w[30][30], wn[30][30];
int main(int argc, char **argv)
{
  int n = 30, steps = atoi(argv[1]);
  double *old = calloc(n * n, 8), *now = calloc(n * n, 8), *new = calloc(n * n, 8);
  for (int k = 0; k < n * n; k++)
    now[k] = k % 7, (&w[0][0])[k] = k % 5;
#pragma ambit must
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++) {
      now[i] = now[n + i];
      now[(n - 1) * n + i] = now[(n - 2) * n + i];
    }
    for (int j = 1; j < n - 1; j++)
      for (int i = 1; i < n - 1; i++)
        new[j * n + i] = 2 * now[j * n + i] - old[j * n + i] +
                         0.1 * (now[j * n + i - 1] + now[j * n + i + 1] + now[(j - 1) * n + i] + now[(j + 1) * n + i] -
                                4 * now[j * n + i]);
    double *first = old;
    old = now;
    now = new;
    new = first;
    for (int j = 1; j < 29; j++)
      for (int i = 1; i < 29; i++)
        wn[j][i] = 0.25 * (w[j - 1][i] + w[j + 1][i] + w[j][i - 1] + w[j][i + 1]);
    memcpy(w, wn, sizeof w);
  }
  for (int k = 0; k < n * n; k++)
    printf("%.17g %.17g\\n", now[k], (&w[0][0])[k]);
  return 0;
}
"""


# What stands around functions must not take in the code that is inserted before them.
BETWEEN = """
#include <stdio.h>
#ifdef NEVER
static int three(int x) {
#else
static int three(void) {
#endif
  return 3;
}
typedef struct {
  double x;
} cell;
/* A comment of
 * several lines
 */
static void work(double *to, cell *from)
{
#pragma ambit must
  for (int i = 1; i < 31; i++)
    to[i] = from[i - 1].x + from[i + 1].x;
}
static const char *text = "/*"; // don't
/* one that
   ends beside */ __attribute__((noinline))
static void more(double *a)
{
#pragma ambit must /* a remark */
  for (int i = 1; i < 31; i++)
    a[i] *= 2;
}
#define TWICE(x) \\
  2 * (x)
/*
 */
#if 1
int main(void)
{
  static double a[32];
  static cell b[32];

  for (int i = 0; i < 32; i++)
    b[i].x = TWICE(i);
  work(a, b);
  more(a);
  printf("%g %g %s %d\\n", a[3], a[4], text, three());
  return 0;
}
#endif
"""

ROWS = """
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
  int n = 20000;
  double **a = malloc(n * sizeof *a), **b = malloc(n * sizeof *b), s = 0;
  for (int i = 0; i < n; i++) {
    a[i] = malloc(2 * sizeof **a);
    b[i] = malloc(2 * sizeof **b);
    a[i][0] = a[i][1] = i % 7;
    b[i][0] = b[i][1] = 0;
  }
#pragma ambit must
  for (int t = 0; t < 20; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 0; j < 2; j++)
        b[i][j] = 0.5 * (a[i - 1][j] + a[i + 1][j]);
    double **w = a;
    a = b;
    b = w;
  }
  for (int i = 0; i < n; i++) {
    s += a[i][1] * (i % 5);
    free(a[i]);
  }
  printf("%.17g\\n", s);
  return 0;
}
"""


def ported(folder, source, *options):
    path = folder / f"{source.stem}_ported.c"
    TOOLS.translate(source, path, options=options)
    return TOOLS.compile_ported(path, folder / f"{source.stem}_ported")


def traced(folder, program, *words):
    """The names of the events of a run, one iteration at a time: on a busy machine its time could be worth a trial of more."""
    trace = folder / "trace.json"
    TOOLS.must(program, *words, env={"AMBIT_TRACE": str(trace), "AMBIT_DEPTH": "1"})
    return [e.get("name") for e in json.loads(trace.read_text())["traceEvents"]]


def a_time_loop_without_host_access_is_one_run(folder):
    names = traced(folder, ported(folder, PROGRAMS / "jacobi_flat.c"))
    # 17 steps that swap two arrays: one step and a rotation, sixteen times, and the last step
    assert sum(n.startswith("main_") for n in names) == 17, names
    assert names.count("wait for devices") == 2, names


def waits(folder, program, *words):
    """How often the host waits for the device: each transfer does."""
    return traced(folder, program, *words).count("wait for devices")


def a_time_loop_without_host_access_has_no_transfers(folder):
    source = folder / "steps.c"
    source.write_text(STEPS)
    serial = TOOLS.compile_serial(source, folder / "serial")
    program = ported(folder, source)
    for steps in (24, 96):
        assert TOOLS.must(program, steps).stdout == TOOLS.must(serial, steps).stdout
    assert waits(folder, program, 96) == waits(folder, program, 24)


def a_convergence_loop_runs_in_one_go(folder):
    program = ported(folder, PROGRAMS / "until.c")
    assert waits(folder, program, 30, 40, 1e-12) == waits(folder, program, 30, 160, 1e-12)


def a_function_that_became_part_of_a_kernel_has_no_notes(folder):
    source = folder / "life.c"
    source.write_text(LIFE)
    notes = TOOLS.translate(source, folder / "out.c")
    assert "1 nest in parallel (1 step), 0 serial" in notes and "note:" not in notes, notes


def sum_any_adds_on_the_device(folder):
    source = folder / "sum.c"
    source.write_text(SUM)
    want = float(TOOLS.must(TOOLS.compile_serial(source, folder / "serial")).stdout)
    TOOLS.translate(source, folder / "out.c")
    assert "sum double *s" in (folder / "out.c").read_text()
    got = float(TOOLS.must(TOOLS.compile_ported(folder / "out.c", folder / "ported")).stdout)
    assert abs(got - want) < 1e-13, (got, want)
    source.write_text(SUM.replace("sum(any)", "sum(order)"))
    TOOLS.translate(source, folder / "out.c")
    assert float(TOOLS.must(TOOLS.compile_ported(folder / "out.c", folder / "ported")).stdout) == want


def a_note_says_in_which_order_a_sum_is_taken(folder):
    source = folder / "sum.c"
    text = ("double u[99];\nint main(void)\n{\n  double s = 0;\n#pragma ambit sum(%s)\n  for (int i = 0; i < 99; i++)\n"
            "    s += u[i] * u[i];\n  return s > 1;\n}\n")
    source.write_text(text % "order")
    assert "sum.c:6:3: note: 's' is summed in the order of the source" in TOOLS.translate(source, folder / "out.c")
    source.write_text(text % "any")
    assert "sum.c:6:3: note: 's' is summed in any order: its last digits may differ" in TOOLS.translate(source, folder / "out.c")


def nests_of_macros_have_the_line_of_their_use(folder):
    TOOLS.translate(PROGRAMS / "macros.c", folder / "out.c")
    text = (folder / "out.c").read_text()
    lines = (PROGRAMS / "macros.c").read_text().splitlines()
    places = [int(x) for x in re.findall(r'\.place = "macros\.c:(\d+)"', text)]
    want = []
    for n, line in enumerate(lines, 1):
        if n > lines.index("int main(void)"):
            want += [n] * (len(re.findall(r"FOR_|SMOOTH|MOST|BEGIN", line)) + 2 * len(re.findall("TWICE|ADVANCE", line)))
    assert places == want, (places, want)
    assert "SMOOTH(c, b)" not in text and "b[i][j] = 0.25 * (a[i - 1][j]" in text


def numbers_that_never_change_stand_in_the_kernel(folder):
    TOOLS.translate(PROGRAMS / "colours.c", folder / "out.c")
    text = (folder / "out.c").read_text()
    assert "(-0.15000000000000002) * *f" in text and "0.25 * (((" in text, text[:3000]


def a_shape_that_is_told_makes_rows_distinct(folder):
    source = folder / "shape.c"
    source.write_text(SHAPE)
    want = TOOLS.must(TOOLS.compile_serial(source, folder / "serial")).stdout
    TOOLS.translate(source, folder / "out.c")
    assert ".axes = 2" in (folder / "out.c").read_text()
    assert TOOLS.must(TOOLS.compile_ported(folder / "out.c", folder / "ported")).stdout == want
    source.write_text(SHAPE.replace(" shape(u[ny][nx])", ""))
    r = TOOLS.run(PORT, source, "-o", folder / "out.c")
    assert r.returncode == 1 and "u[nx + i] may be an element that this nest writes" in r.stderr, r.stderr


def a_share_of_the_cpu_becomes_weights(folder):
    path = folder / "share.c"
    TOOLS.translate(PROGRAMS / "jacobi_flat.c", path, options=["--cpu-share=25%"])
    text = path.read_text()
    shown = text.replace("  port_weigh();\n", '  port_weigh();\n  fprintf(stderr, "weights %s\\n", '
                         'ambit_option_get(port_context, "weights"));\n', 1)
    assert shown != text
    path.write_text(shown)
    program = TOOLS.compile_ported(path, folder / "share")
    for devices, weights in (("cpu,cpu*2", ""), ("ref,cpu", "0.75,0.25"), ("ref,cpu*2", "0.75,0.125,0.125")):
        r = TOOLS.run(program, env={"AMBIT_DEVICES": devices})
        assert f"weights {weights}\n" in r.stderr, (devices, r.stderr)
    assert TOOLS.run(PORT, "--cpu-share=2", PROGRAMS / "fdtd.c").returncode == 2


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
    r = TOOLS.must(AMBIT, "run", "--ambit-threads=1", PROGRAMS / "jacobi_flat.c", "--ambit-depth=1", "--", 12, 9,
                   env={"CFLAGS": "-O2 -ffp-contract=off", "CC": CC})
    assert r.stdout == want, r.stdout


def a_file_that_cannot_be_read_is_named_with_the_cause(folder):
    for path, cause in ((folder, "Is a directory"), (folder / "none.c", "No such file")):
        r = TOOLS.run(PORT, path)
        assert r.returncode == 1 and f"{path}: {cause}" in r.stderr, r.stderr


def run_without_the_shared_library_says_what_to_do(folder):
    (folder / "bin").mkdir()
    alone = [shutil.copy(p, folder / "bin") for p in (AMBIT, PORT)][0]
    r = TOOLS.run(alone, "run", PROGRAMS / "jacobi_flat.c")
    assert r.returncode == 1 and "libambit.so, which is not there" in r.stderr, r.stderr


def run_refuses_options_of_kernels_for_a_program(folder):
    r = TOOLS.run(AMBIT, "run", PROGRAMS / "jacobi_flat.c", "--size", "9x9")
    assert r.returncode == 2 and "'--size' is not an option of the library" in r.stderr, r.stderr


def run_takes_quoted_headers_alone_from_the_folder_of_the_program(folder):
    (folder / "math.h").write_text("#error not the header of the system\n")
    (folder / "size.h").write_text("#define N 20\n")
    (folder / "small.c").write_text("""#include "size.h"
#include <stdio.h>
int main(void)
{
  static double u[N];
#pragma ambit must
  for (int i = 0; i < N; i++)
    u[i] = 2 * i;
  printf("%g\\n", u[N - 1]);
}
""")
    assert TOOLS.must(AMBIT, "run", folder / "small.c", env={"CC": CC}).stdout == "38\n"


def directives_of_openmp_in_translated_functions_are_left_out(folder):
    source = folder / "openmp.c"
    source.write_text(OPENMP)
    want = TOOLS.must(TOOLS.compile_serial(source, folder / "serial", "-fopenmp")).stdout
    for flags in ((), ("-fopenmp",)):
        notes = TOOLS.translate(source, folder / "out.c", *flags)
        assert "2 nests in parallel" in notes, notes
        assert not re.search(r"^ *# *pragma", (folder / "out.c").read_text(), re.M)
        assert TOOLS.must(TOOLS.compile_ported(folder / "out.c", folder / "ported", "-fopenmp")).stdout == want


def code_is_inserted_between_declarations(folder):
    source = folder / "between.c"
    source.write_text(BETWEEN)
    want = TOOLS.must(TOOLS.compile_serial(source, folder / "serial")).stdout
    assert TOOLS.must(ported(folder, source)).stdout == want
    source.write_text("".join(line for line in BETWEEN.splitlines(True) if "#pragma" not in line))
    TOOLS.translate(source, folder / "proposed.c", options=["--propose"])
    assert "3 nests in parallel" in TOOLS.translate(folder / "proposed.c", folder / "out.c")


def rows_behind_pointers_take_time_in_proportion_to_their_number(folder):
    source = folder / "rows.c"
    source.write_text(ROWS)
    want = TOOLS.must(TOOLS.compile_serial(source, folder / "serial")).stdout
    program = ported(folder, source)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    r = TOOLS.must(program, env={"AMBIT_DEVICES": "ref"})
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert r.stdout == want and "serially" not in r.stderr, r.stderr
    assert seconds < 2, f"{seconds:.1f} s"


SEVERAL = check.HERE / "several"


def several_files_become_one_program(folder):
    flags = ("-I", SEVERAL)
    files = [SEVERAL / "main.c", SEVERAL / "kernels.c"]
    want = TOOLS.must(TOOLS.compile_serial(files[0], folder / "serial", files[1], *flags)).stdout
    for order in (files, files[::-1]):
        notes = TOOLS.must(PORT, *order, "-o", folder / "out").stderr
        assert "main.c: 1 nest in parallel" in notes and "kernels.c: 4 nests in parallel" in notes, notes
        program = TOOLS.compile_ported(folder / "out" / "main.c", folder / "ported", folder / "out" / "kernels.c", *flags)
        for device in ("ref", "cpu"):
            r = TOOLS.must(program, env={"AMBIT_DEVICES": device})
            assert r.stdout == want and "serially" not in r.stderr, (r.stdout, want, r.stderr)
    env = {"CFLAGS": "-O2 -ffp-contract=off", "CC": CC}
    assert TOOLS.must(AMBIT, "run", "--ambit-threads=1", *files[::-1], env=env).stdout == want
    r = TOOLS.run(PORT, *files)
    assert r.returncode == 2 and "several files need --output FOLDER" in r.stderr, r.stderr
    (folder / "main.c").write_text("int x;\n")
    r = TOOLS.run(PORT, files[0], folder / "main.c", "-o", folder / "out")
    assert r.returncode == 1 and "have the same name" in r.stderr, r.stderr


def a_file_without_main_gives_its_results_to_its_callers(folder):
    flags = ("-I", SEVERAL)
    want = TOOLS.must(TOOLS.compile_serial(SEVERAL / "main.c", folder / "serial", SEVERAL / "kernels.c", *flags)).stdout
    for translated, plain in (("kernels.c", "main.c"), ("main.c", "kernels.c")):
        notes = TOOLS.translate(SEVERAL / translated, folder / "out.c")
        assert ("no main here" in notes) == (translated == "kernels.c"), notes
        program = TOOLS.compile_ported(folder / "out.c", folder / "ported", SEVERAL / plain, *flags)
        assert TOOLS.must(program).stdout == want


def nests_that_stay_serial_for_other_nests_say_the_true_reason(folder):
    (folder / "two.c").write_text("""double u[64], v[64];
void f(void)
{
#pragma ambit
  for (int i = 0; i < 32; i++)
    v[2 * i] = u[2 * i + 1];
#pragma ambit
  for (int i = 1; i < 63; i++)
    v[i] = u[i - 1];
#pragma ambit
  for (int i = 63; i < 64; i++)
    u[i] = v[i];
}
""")
    notes = TOOLS.translate(folder / "two.c", folder / "out.c")
    assert "two.c:9:12: note: u[i - 1] leaves a row: other subscripts give 'u' rows of 2 elements" in notes, notes
    assert "two.c:12:" in notes and "1 nest in parallel" in notes, notes


def the_shape_of_an_array_in_a_struct_is_told_by_its_path(folder):
    text = (check.HERE / "refused" / "strides.c").read_text()
    (folder / "told.c").write_text(text.replace("#pragma ambit\n", "#pragma ambit must shape(g->b[g->ny][g->nx])\n").replace("(g->nx + 1)", "g->nx"))
    assert "1 nest in parallel" in TOOLS.translate(folder / "told.c", folder / "out.c")


def host_code_that_costs_copies_is_explained(folder):
    r = TOOLS.must(PORT, "--explain", PROGRAMS / "hostcode.c", "-o", folder / "out.c")
    assert ":36:5:" not in r.stderr, r.stderr  # a step
    assert ":45:9: note: host code in the loop in line 35: its steps wait, and single elements of u are copied, 1 each time" in r.stderr, r.stderr
    assert ":11:3: note: host code in the loop in line 35: u is copied to the host each time\n" in r.stderr, r.stderr
    assert "host code" not in TOOLS.translate(PROGRAMS / "hostcode.c", folder / "out.c")
    r = TOOLS.must(PORT, "--explain", PROGRAMS / "points.c", "-o", folder / "out.c")  # wave is the host's, its sources are steps
    assert r.stderr.count("host code") == 1 and "single elements of h, count are copied, 2 each time" in r.stderr, r.stderr


def single_elements_are_copied_alone(folder):
    TOOLS.translate(PROGRAMS / "elements.c", folder / "out.c")
    text = (folder / "out.c").read_text()
    for words in ("*const port_p = &w[", "if (!port_point(", "*const port_p = &g.u[0];", "_5, &trace[t], sizeof(trace[t]), 1, "):
        assert words in text, words
    assert "port_writes(w" not in text[:text.index("printf(\"%.17g")], "an array is copied as a whole"


def cells_of_one_colour_are_updated_in_place(folder):
    TOOLS.translate(PROGRAMS / "one_colour.c", folder / "out.c")
    assert (folder / "out.c").read_text().count(".in_place = AMBIT_SOURCE(") == 2


def nests_of_an_included_file_are_mentioned(folder):
    (folder / "part.c").write_text("static double u[9];\nvoid f(void)\n{\n#pragma ambit\n  for (int i = 0; i < 9; i++)\n    u[i] = i;\n}\n")
    (folder / "all.c").write_text('#include "part.c"\nint main(void)\n{\n  f();\n  return 0;\n}\n')
    notes = TOOLS.translate(folder / "all.c", folder / "out.c")
    assert "part.c: note: it is included by" in notes and "its nests stay serial" in notes, notes


def arrays_that_overlap_run_serially_and_say_so(folder):
    source = folder / "overlap.c"
    source.write_text(OVERLAP)
    want = TOOLS.must(TOOLS.compile_serial(source, folder / "serial")).stdout
    r = TOOLS.must(ported(folder, source))
    assert r.stdout == want
    assert r.stderr.count("overlap.c:7: this nest runs serially: arrays overlap") == 1, r.stderr
    assert "overlap.c:13" in r.stderr and "overlap.c:19" in r.stderr, r.stderr
    source.write_text(OVERLAP.replace("  scale(a + 1, a, 63);\n", ""))
    assert "overlap.c:13" not in TOOLS.must(ported(folder, source)).stderr  # a cell reads itself, and is then written


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
