/* SPDX-License-Identifier: BSD-3-Clause */
/* Random reductions onto profiles, of grids of 1 to 4 axes: other extents and parts, several
 * results of a step, cells of a box. Values are few enough for sums to be exact, so that all
 * devices have the bits of ref. */
#include "runtime/places.h"
#include "support/draw.h"

enum { MOST = 100000, CASES = 48 };

typedef struct problem {
  int ndims, components;
  int64_t n[4], lo[4], hi[4];
  unsigned axes; /* of the profile */
  ambit_type type;
  ambit_order order;
  bool boxed, stores, totals, strict, mixed; /* mixed: another result is onto another axis */
} problem;

typedef struct result {
  unsigned char m[3 * 8 * MOST], other[8 * MOST];
  float g[MOST];
  double total, least;
} result;

static const char *const names[] = {"float", "double", "int", "short", "unsigned char", "long"};
static const ambit_type types[] = {AMBIT_F32, AMBIT_F64, AMBIT_I32, AMBIT_I16, AMBIT_U8, AMBIT_I64};

static problem draw_problem(int *kind)
{
  static const int64_t extents[] = {1, 2, 5, 8, 13, 31, 33, 70, 129, 700, 3001, 20011};
  problem q = {.ndims = 1 + (int)draw(4), .components = 1 + (int)draw(3), .order = AMBIT_SOA};
  int64_t cells = 1;

  for (int d = 0; d < q.ndims; d++) {
    do
      q.n[d] = extents[draw(12)];
    while (cells * q.n[d] > MOST);
    cells *= q.n[d];
  }
  *kind = (int)draw(6);
  q.type = types[*kind];
  q.axes = (unsigned)draw(1 << q.ndims);
  if (q.axes == (1u << q.ndims) - 1) q.axes &= ~(1u << draw(q.ndims));
  if (draw(3) == 0) q.order = AMBIT_AOS;
  q.stores = draw(2);
  q.totals = draw(3) == 0;
  q.strict = draw(4) == 0;
  q.boxed = draw(3) == 0;
  q.mixed = q.ndims > 1 && draw(4) == 0;
  for (int d = 0; d < q.ndims; d++) {
    q.lo[d] = q.boxed ? draw(q.n[d]) : 0;
    q.hi[d] = q.boxed ? q.lo[d] + 1 + draw(q.n[d] - q.lo[d]) : q.n[d];
  }
  return q;
}

static unsigned axes_of(const problem *q)
{
  unsigned axes = 0;

  for (int d = 0; d < q->ndims; d++)
    if (q->axes >> d & 1) axes |= AMBIT_AXIS(d);
  return axes;
}

static double start(const int64_t *i, int component, void *user)
{
  (void)component;
  (void)user;
  return (double)((i[0] * 7 + i[1] * 5 + i[2] * 3 + i[3] + i[0] * i[1]) % 11 - 5);
}

/* Sums of components, or their largest values, and what else the step has. */
static void print_kernel(const problem *q, const char *type, char *text, size_t size)
{
  char sub[16] = "";
  int n = snprintf(text, size, "void all(const float *f, %s %s *m",
                   q->components == 2 ? "max" : "sum", type);

  if (q->components > 1) n += snprintf(text + n, size - (size_t)n, "[%d]", q->components);
  n += snprintf(text + n, size - (size_t)n, "%s%s%s)\n{ float v = *f;\n",
                q->mixed ? ", min float *o" : "", q->stores ? ", float *g" : "",
                q->totals ? ", sum double *total, min float *least" : "");
  for (int c = 0; c < q->components; c++) {
    if (q->components > 1) snprintf(sub, sizeof sub, "[%d]", c);
    n += snprintf(text + n, size - (size_t)n, "  %s*m%s = (%s)(v + %d);\n",
                  c == 1 ? "if (v > 1) " : "", sub, type, 5 + c);
  }
  snprintf(text + n, size - (size_t)n, "%s%s%s}", q->mixed ? "  *o = v * 2;\n" : "",
           q->stores ? "  *g = v + 0.5f;\n" : "", q->totals ? "  *total = v; *least = v;\n" : "");
}

static void solve(const char *devices, const problem *q, const char *type, result *r)
{
  ambit *a = open_on(devices);
  ambit_grid *g;
  ambit_field *f, *m, *o, *h;
  ambit_scalar *total, *least;
  ambit_program *p;
  ambit_arg args[6];
  char text[600];
  int n = 0;

  memset(r, 0, sizeof *r);
  ambit_option_set(a, "strict", q->strict ? "1" : "0");
  g = ambit_grid_create(a, q->ndims, q->n);
  f = ambit_field_create(g, "f", AMBIT_F32);
  h = ambit_field_create(g, "g", AMBIT_F32);
  m = ambit_field_create_vector_on(g, "m", q->type, q->components, q->order, axes_of(q));
  o = ambit_field_create_on(g, "o", AMBIT_F32, q->axes & 1 ? 0 : AMBIT_AXIS(0));
  total = ambit_scalar_create(a, "total", AMBIT_F64);
  least = ambit_scalar_create(a, "least", AMBIT_F32);
  p = ambit_program_create(g);
  ambit_field_fill(f, start, NULL);
  ambit_field_set(m, 3);
  args[n++] = ambit_arg_field(f);
  args[n++] = ambit_arg_field(m);
  if (q->mixed) args[n++] = ambit_arg_field(o);
  if (q->stores) args[n++] = ambit_arg_field(h);
  if (q->totals) args[n++] = ambit_arg_scalar(total);
  if (q->totals) args[n++] = ambit_arg_scalar(least);
  print_kernel(q, type, text, sizeof text);
  if (q->boxed)
    ambit_apply_box_args(p, q->lo, q->hi, ambit_kernel_create(a, text), n, args);
  else
    ambit_apply_args(p, ambit_kernel_create(a, text), n, args);
  ambit_run(p, 3);
  ambit_field_read(m, NULL, NULL, r->m);
  ambit_field_read(o, NULL, NULL, r->other);
  ambit_field_read(h, NULL, NULL, r->g);
  r->total = ambit_scalar_get(total);
  r->least = ambit_scalar_get(least);
  CHECK_OK(a);
  ambit_close(a);
}

/* Two parts of a device that has memory of its own, too. */
static void folds_have_the_bits_of_ref(void)
{
  static result want, got;

  for (int i = 0; i < CASES; i++) {
    problem q;
    int kind;

    state = (uint64_t)i;
    draw(2);
    q = draw_problem(&kind);
    if (!test_takes(i, 6)) continue;
    solve("ref", &q, names[kind], &want);
    EACH_PLACE_HERE(d)
    for (int parts = 1; parts <= 2; parts++) {
      char devices[40];

      if (parts > 1 && (!strncmp(*d, "cpu", 3) || !strcmp(*d, "ref"))) continue;
      snprintf(devices, sizeof devices, parts > 1 ? "%s*2" : "%s", *d);
      solve(devices, &q, names[kind], &got);
      CHECK_MSG(
          !memcmp(&got, &want, sizeof got),
          "%s, case %d: %d axes, %ld x %ld x %ld x %ld cells, onto axes 0x%x, %d components of "
          "%s: bits differ",
          devices, i, q.ndims, (long)q.n[0], (long)q.n[1], (long)q.n[2], (long)q.n[3], q.axes,
          q.components, names[kind]);
    }
  }
}

/* More than a device copies to the host at once: 568 bytes of each exact sum. */
static void many_strict_totals_are_read(void)
{
  enum { ROWS = 20000 };
  static float values[ROWS];

  EACH_PLACE_HERE(d)
  {
    ambit *a = open_on(*d);
    ambit_grid *g;
    ambit_field *n;
    ambit_program *p;
    int bad = 0;

    ambit_option_set(a, "strict", "1");
    g = ambit_grid_create(a, 2, (int64_t[]){ROWS, 3});
    n = ambit_field_create_on(g, "n", AMBIT_F32, AMBIT_AXIS(0));
    p = ambit_program_create(g);
    ambit_apply(p, ambit_kernel_create(a, "void k(sum float *n) { *n = index(0) + index(1); }"), n);
    ambit_run(p, 1);
    ambit_field_read(n, NULL, NULL, values);
    for (int i = 0; i < ROWS; i++)
      bad += values[i] != (float)(3 * i + 3);
    CHECK_MSG(!bad, "%s: %d sums differ", *d, bad);
    CHECK_OK(a);
    ambit_close(a);
  }
}

/* Enough iterations to be recorded (run/replay.c), with one piece of each total, and several. */
static void iterate(const char *devices, const int64_t *n, unsigned axes, int *values)
{
  ambit *a = open_on(devices);
  ambit_grid *g = ambit_grid_create(a, 2, n);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_I32),
              *h = ambit_field_create(g, "h", AMBIT_I32);
  ambit_field *m = ambit_field_create_on(g, "m", AMBIT_I32, axes);
  ambit_program *p = ambit_program_create(g);
  ambit_kernel *k = ambit_kernel_create(
      a, "void total(const int *f, sum int *m) { *m = *f; }\n"
         "void push(const int *f, const int *m, int *h) { *h = (f[0][1] * 3 + *m) % 1001; }");

  ambit_field_set(f, 7);
  ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CONSTANT, 5);
  ambit_apply(p, k, f, m);
  ambit_apply(p, ambit_kernel_find(k, "push"), f, m, h);
  ambit_swap(p, f, h);
  ambit_run(p, 40);
  ambit_field_read(f, NULL, NULL, values);
  CHECK_OK(a);
  ambit_close(a);
}

static void many_iterations_fold_alike(void)
{
  enum { CELLS = 6000 };
  static const int64_t extents[][2] = {{300, 20}, {20, 300}, {3, 2000}, {2000, 3}};
  static int want[CELLS], got[CELLS];

  for (int i = 0; i < 8; i++) {
    const unsigned axes = i % 2 ? AMBIT_AXIS(0) : AMBIT_AXIS(1);

    if (!test_takes(i, 3)) continue;
    iterate("ref", extents[i / 2], axes, want);
    EACH_PLACE_HERE(d)
    {
      iterate(*d, extents[i / 2], axes, got);
      CHECK_MSG(!memcmp(got, want, sizeof got), "%s, case %d: bits differ", *d, i);
    }
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {{"folds_have_the_bits_of_ref", folds_have_the_bits_of_ref},
                                    {"many_strict_totals_are_read", many_strict_totals_are_read},
                                    {"many_iterations_fold_alike", many_iterations_fold_alike},
                                    {NULL, NULL}};

  return test_main(argc, argv, tests);
}
