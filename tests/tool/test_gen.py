#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`ambit gen`: its output compiles without a warning, can be registered, and replaces the generated
kernel without a compiler; on GPUs, if there are any, as source.

    test_gen.py path/to/ambit cc include-folder library [libraries...]
"""
import os, re, subprocess, sys

import tool

CC, INCLUDE, LIBRARY = sys.argv[2], sys.argv[3], sys.argv[4:]
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wmissing-prototypes", "-Werror", f"-I{INCLUDE}"]

# Registers the kernel, then runs it on a grid, given as argument, on cpu and on ref; both must agree.
USER = r"""
#include <ambit_compiled.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

%(declare)s
static const char text[] = %(text)s;

static double start(const int64_t *i, int c, void *user)
{
  (void)user;
  return (double)((i[0] * 31 + i[1] * 17 + c) %% 13) / 8;
}

static ambit *open_on(const char *device)
{
  ambit *a = ambit_open(NULL, NULL);

  ambit_option_set(a, "devices", device);
  ambit_option_set(a, "cc", "none");
  ambit_option_set(a, "strict", "1");
  return a;
}

static int run(ambit *a, int64_t n, int64_t m, %(type)s *out, double *sum, int reports)
{
  const int64_t size[] = {n, m};
  ambit_grid *g = ambit_grid_create(a, 2, size);
  ambit_field *u = ambit_field_create(g, "u", %(tag)s), *v = ambit_field_create(g, "v", %(tag)s);
  ambit_scalar *s = ambit_scalar_create(a, "s", AMBIT_F64);
  ambit_kernel *k = ambit_kernel_create(a, text);
  ambit_program *p = ambit_program_create(g);

  ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_field_fill(u, start, NULL);
  ambit_scalar_set(s, 0);
  (void)s;
  ambit_apply(p, k, %(args)s);
  ambit_swap(p, u, v);
  ambit_run(p, 5);
  ambit_field_read(u, NULL, NULL, out);
  *sum = ambit_scalar_get(s);
  if (reports) ambit_program_report(p);
  ambit_grid_destroy(g);
  return ambit_error(a);
}

int main(void)
{
  static const int64_t sizes[][2] = {{1, 1}, {17, 31}, {100, 140}, {5, 700}};

  ambit *device, *ref = open_on("ref"); /* one of each: how fast memory is, which reports tell, is measured once */

  if (%(register)s) return 2;
  device = open_on("%(device)s");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t n = (size_t)(sizes[i][0] * sizes[i][1]);
    %(type)s *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
    double sum_a, sum_b;

    if (run(device, sizes[i][0], sizes[i][1], a, &sum_a, 1)) return 3;
    if (run(ref, sizes[i][0], sizes[i][1], b, &sum_b, 0)) return 3;
    for (size_t j = 0; j < n; j++)
      if (fabs((double)a[j] - (double)b[j]) > %(apart)s) return 4;
    if (fabs(sum_a - sum_b) > 1e-9 * fabs(sum_b)) return 5;
    free(a);
    free(b);
  }
  return ambit_close(device) || ambit_close(ref) ? 3 : 0;
}
"""

WEIRD = """
void weird(const double *u, double *v, double k, sum double *s)
{
  double d = u[-1][0] - u[0][1];
  if (d > 0.5) v[0][0] = k * d; else v[0][0] = u[0][0] + 0.25 * u[1][-2];
  *s = v[0][0];
}
"""

# Combinations of operators for which compilers ask for parentheses.
MIXED = """
void mixed(const int *u, int *v)
{
  int a = u[0][1], b = u[1][0], c = u[0][-1], d = 1 - u[-1][0];
  *v = (a & (b != c)) + (a | (b ^ c)) + (a ^ (b & d)) + ((a | b) ^ c) + ((a < b) == (c < d)) + (a == (b < c))
       + ((a < b) < c) + ((a == b) != c) + (a < b && c > d || a == d) + (a && (b || c < d)) + ((!a) == b) + (!a & d)
       + (a + b & d) + (c * d | a - b) + (a - (b - c)) + (a < b ? c == d : (a != b ? b : d));
}
"""


def _quoted(text):
    return "\n".join('"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in text.splitlines())


def _kernel_text(what, *words):
    out = tool.run("explain", what, *words)[0].split("\ntext\n")[1]
    for end in "warning", "schedule of ", "iterations run ":
        out = out.split("\n" + end)[0]
    return "\n".join(line[2:] for line in out.splitlines())


def _run_user(folder, sources, device="cpu", **parts):
    env = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(LIBRARY[0])}
    (folder / "user.c").write_text(USER % {**parts, "device": device})
    subprocess.run([CC, *FLAGS, folder / "user.c", *sources, "-o", folder / "user", *LIBRARY, "-lm"],
                   check=True)
    r = subprocess.run([folder / "user"], capture_output=True, text=True, timeout=tool.SOON, env=env)
    assert r.returncode == 0, (r.returncode, r.stderr)
    return r.stderr


def _check(folder, what, name, kind, tag, args, apart, *words):
    tool.run("gen", what, *words, "-o", folder / "kernel.c")
    # -ffp-contract=off: ref and this have the same bits
    subprocess.run([CC, *FLAGS, "-fopenmp-simd", "-fwrapv", "-ffp-contract=off", "-c", folder / "kernel.c",
                    "-o", folder / "kernel.o"], check=True)
    said = _run_user(folder, [folder / "kernel.o"], declare=f"ambit_status ambit_register_{name}(void);",
                     register=f"ambit_register_{name}()", text=_quoted(_kernel_text(what, *words)),
                     type=kind, tag=tag, args=args, apart=apart)
    assert said.count("(registered)") == 4 and "much slower" not in said, said


# Registers the text of a file.
REGISTER_FILE = r"""
static char source[1 << 18];

static ambit_status register_file(const char *kernel, ambit_language language, const char *path)
{
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(source, 1, sizeof source - 1, f) : 0;

  if (f) fclose(f);
  return n ? ambit_register_source(kernel, language, source) : AMBIT_EIO;
}
"""


def _check_on(device, folder, what, kind, tag, args, apart, *words):
    tool.run("gen", f"--{device}", what, *words, "-o", folder / "kernel")
    said = _run_user(folder, [], device, declare=REGISTER_FILE, text=_quoted(_kernel_text(what, *words)),
                     register=f'register_file(text, AMBIT_{device.upper()}, "{folder / "kernel"}")',
                     type=kind, tag=tag, args=args, apart=apart)
    assert "(registered)" in said, said  # some grids are too small for the kernel


def a_catalogue_stencil_runs_registered():
    with tool.folder() as f:
        _check(f, "star2d2", "star2d2_float", "float", "AMBIT_F32", "u, v", 1e-5)


def a_strict_one_has_the_bits_of_ref():
    with tool.folder() as f:
        _check(f, "star2d2", "star2d2_float", "float", "AMBIT_F32", "u, v", 0, "--strict")


def other_types_have_other_names():
    with tool.folder() as f:
        _check(f, "box2d1", "box2d1_double", "double", "AMBIT_F64", "u, v", 1e-14, "--type", "double")
        _check(f, "2d4", "stencil_2d4_short", "short", "AMBIT_I16", "u, v", 0, "--type", "short")


def a_weights_file_runs_registered():
    with tool.folder(my_weights="dims 2\nweight -1 0 0.5\nweight 0 2 0.25\n") as f:
        _check(f, f / "my.weights", "my_float", "float", "AMBIT_F32", "u, v", 1e-5)


def a_kernel_file_with_parameters_and_reductions_runs_registered():
    with tool.folder(weird_c=WEIRD) as f:
        _check(f, f / "weird.c", "weird", "double", "AMBIT_F64", "u, v, 0.75, s", 0, "--strict")


def operators_of_all_kinds_keep_their_meaning_and_warn_nobody():
    with tool.folder(mixed_c=MIXED) as f:
        _check(f, f / "mixed.c", "mixed", "int", "AMBIT_I32", "u, v", 0)


def the_help_compiles_a_kernel_with_the_flags_that_its_file_names():
    flags = [w for w in tool.run("gen", "star2d1")[0].split("*/")[0].split() if w.startswith("-") and w != "-c"]
    help_text = tool.run("gen", "--help")[0]
    assert len(flags) > 5, flags
    assert not [w for w in flags if w not in help_text.split()], (flags, help_text)


def a_small_grid_can_be_planned_for_and_a_name_given():
    with tool.folder() as f:
        out, _ = tool.run("gen", "star2d1", "--size", "32x32", "--name", "tiny")
        assert "void ambit_cpu_tiny(const ambit_compiled_call *call)" in out and "stream)" not in out.split("*/")[1]
        for words in ((), ("--cuda",), ("--opencl",)):  # so small that fixed faces leave no cell
            assert "kernel star2d1" in tool.run("gen", *words, "star2d1", "--size", "2x1")[0]
        tool.refuses("gen", "star2d1", "--name", "a-b", saying="as in a C name")


def every_stencil_of_the_catalogue_compiles_without_a_warning():
    with tool.folder(life_c=tool.LIFE) as f:
        for what in ("1dc2", "1dnc4", "2d8", "2df5", "2dnc8", "3d27", "3df7", "3dnc12", "4d8", f / "life.c"):
            tool.run("gen", what, "-o", f / "kernel.c")
            assert "full_call" not in (f / "kernel.c").read_text()  # a registered function sees the public call alone
            subprocess.run([CC, *FLAGS, "-c", f / "kernel.c", "-o", f / "kernel.o"], check=True)


def a_kernel_written_by_hand_takes_the_place_of_the_generated_one():
    hand = r"""
#include <ambit_compiled.h>

static int64_t calls;

static void by_hand(const ambit_compiled_call *c)
{
  const int64_t n = c->stride[0][0], m = c->stride[1][0];

  calls++;
  for (int64_t i = c->lo[0]; i < c->hi[0]; i++)
    for (int64_t j = c->lo[1]; j < c->hi[1]; j++) {
      const float *u = (const float *)c->origin[0] + i * n + j;

      ((float *)c->origin[1])[i * m + j] = 0.5f * u[-n] + 0.25f * u[1];
    }
}
"""
    with tool.folder() as f:
        said = _run_user(f, [], declare=hand, register="ambit_register_cpu(text, by_hand)",
                         text='"void w(const float *u, float *v) { v[0][0] = 0.5f * u[-1][0] + 0.25f * u[0][1]; }"',
                         type="float", tag="AMBIT_F32", args="u, v", apart="(calls ? 0.0 : -1.0)")
        assert said.count("(registered)") == 4 and "much slower" not in said, said


def what_cannot_be_generated_is_explained():
    with tool.folder(flat_c="void flat(float *u) { *u = *u + 1; }") as f:
        tool.refuses("gen", f / "flat.c", saying="any number of dimensions")
        tool.refuses("gen", "star2d1", "--size", "64", saying="2 dimensions")
        tool.refuses("gen", "star2d1", "-o", f / "none" / "x.c", saying="none", code=1)
        tool.refuses("gen", saying="the stencil is missing")


def what_cannot_be_generated_for_a_gpu_is_explained():
    with tool.folder(flat_c="void flat(float *u) { *u = *u + 1; }", none_c="void none(float u) {}") as f:
        tool.refuses("gen", "--cuda", saying="the stencil is missing")
        tool.refuses("gen", "--cuda", "--opencl", "star2d1", saying="--cuda and --opencl exclude each other")
        tool.refuses("gen", "--cuda", "star2d1", "--threads", "4", saying="kernels in C")
        tool.refuses("gen", "--opencl", f / "flat.c", saying="--size")
        tool.refuses("gen", "--opencl", f / "none.c", saying="error", code=1)
        tool.refuses("gen", "--cuda", "star2d1", "--size", "64", saying="2 dimensions")
        tool.refuses("gen", "--cuda", "star9d1", saying="star9d1", code=1)
        tool.refuses("gen", "--cuda", "star2d1", "-o", f / "none" / "x.cu", saying="none", code=1)


def a_sum_that_would_not_be_exact_is_refused():
    with tool.folder(weird_c=WEIRD) as f:
        for gpu in ("--cuda", "--opencl"):
            tool.refuses("gen", gpu, f / "weird.c", "--strict", saying="the sum 's' of kernel weird cannot be exact", code=1)
            out, _ = tool.run("gen", gpu, f / "weird.c")
            assert "weird" in out


def _loops_left_scalar(rule):
    """Of the code for a rule of n and *a: the loops that gcc does not vectorise."""
    text = f"void k(const unsigned char *a, unsigned char *b)\n{{\n  int n = a[-1][0] + a[1][0];\n  *b = {rule};\n}}\n"
    with tool.folder(k_c=text) as f:
        tool.run("gen", f / "k.c", "-o", f / "out.c")
        flags = ["-O3", "-fopenmp-simd", "-fno-trapping-math", "-fwrapv", "--param=max-jump-thread-duplication-stmts=0", "-w"]
        done = subprocess.run([CC, "-std=gnu11", *flags, "-fopt-info-vec-missed", f"-I{INCLUDE}", "-c", f / "out.c", "-o", os.devnull],
                              stderr=subprocess.PIPE, text=True, check=True)
        return len(re.findall(r"missed: *not vectorized: (?:control flow|unsupported data-type)", done.stderr))


def comparisons_with_several_constants_do_not_keep_a_loop_from_vectors():
    version = subprocess.run([CC, "--version"], stdout=subprocess.PIPE, text=True).stdout
    major = re.search(r" (\d+)\.\d+\.\d+", version)
    if "clang" in version or not major or int(major[1]) < 12:
        raise tool.Skipped("there is no gcc from 12 on")
    usual = _loops_left_scalar("n == 1 ? 7 : *a")
    for rule in ("n == 1 ? 7 : n == 3 ? 8 : n == 5 ? 9 : n == 8 ? 10 : n == 12 ? 11 : n == 15 ? 12 : *a",  # a switch,
                 "n == 1 ? 7 : n == 3 ? 7 : n == 5 ? 7 : n == 8 ? 7 : *a",                                 # one by bits,
                 "n == 3 || n == 6 || n == 7 || n == 8 ? 1 : n == 4 && *a"):                               # bits of a word
        assert _loops_left_scalar(rule) == usual, rule


def a_kernel_for_a_gpu_has_the_helpers_that_it_calls():
    with tool.folder(k_c="void k(const bfloat *u, float *v) { *v = u[0][1]; }\n") as f:
        for language in ("cuda", "opencl"):
            out, _ = tool.run("gen", f"--{language}", f / "k.c")
            assert "= ambit_f32_from_bf16(" in out and "(float, ambit_f32_from_bf16, " in out, out


def a_kernel_for_a_gpu_says_how_it_is_launched():
    with tool.folder(heat_c=tool.HEAT) as f:
        out, _ = tool.run("gen", "--opencl", f / "heat.c", "--size", "32x200")
        assert "ambit-launch: ambit_opencl_heat 2d threads 64x4x1 blocks n1 / 64, n0 / 4, 1 at most 1024\n" in out
        assert " *   void heat(const float *u, float *v, float k, max float *change)\n" in out
        for gpu in ("cuda", "opencl"):
            large, _ = tool.run("gen", f"--{gpu}", "star2d1")
            small, _ = tool.run("gen", f"--{gpu}", "star2d1", "--size", "32x32")
            assert "Plan (strip " in large and "Plan (cells " in small
            assert "ambit_div_" not in large and f"AMBIT_{gpu.upper()}" in large  # only the helpers that it calls


GPUS = re.findall(r"^\s*(cuda|opencl)\b", tool.run("devices", "--quick")[0], re.M)
if GPUS:
    def kernels_for_gpus_run_registered_as_they_were_written():
        with tool.folder(weird_c=WEIRD.replace("sum double *s", "max double *s")) as f:
            for gpu in sorted(set(GPUS)):
                _check_on(gpu, f, "star2d2", "float", "AMBIT_F32", "u, v", 1e-5)
                _check_on(gpu, f, f / "weird.c", "double", "AMBIT_F64", "u, v, 0.75, s", 0, "--strict", "--size", "99x99")


tool.main(globals())
