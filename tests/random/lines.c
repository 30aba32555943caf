/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - sweeps and profiles in random programs: seeds with bit 43.
 *
 * A sweep along some axis, from either end, on all cells or a box, carries a number or two; or a
 * reduction over some axes goes to a field of the others, which all cells read. Each takes values
 * from a field of the program and changes another one, by halves, so that values stay as large as
 * they are.
 */
#include "program.h"

typedef struct line_plan {
  bool sweeps;    /* or reduces onto a profile */
  unsigned from;  /* face of a sweep */
  unsigned axes;  /* of the profile, or of the carried fields */
  int components; /* of them */
  bool in_box;
  int64_t lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];
  const char *reduce; /* sum, min, max */
  int in, out;        /* fields */
  bool real;          /* values are double; else long */
  ambit_order order;
} line_plan;

static line_plan make(const program_plan *p, int number)
{
  static const char *const words[] = {"sum", "min", "max"};
  dice d = {.state = p->seed * 0x9e3779b97f4a7c15u + (uint64_t)number};
  const int axis = dice_below(&d, p->ndims), side = dice_below(&d, 2);
  line_plan l = {.sweeps = dice_chance(&d, 60), .from = AMBIT_FACE(axis, side)};

  for (int i = 0; i < p->ndims; i++) {
    const int64_t n = p->extents[i];

    if (l.sweeps ? i != axis : i != axis && dice_chance(&d, 50)) l.axes |= AMBIT_AXIS(i);
    l.lo[i] = n > 2 ? dice_below(&d, (int)(n / 2)) : 0;
    l.hi[i] = n - (n > 2 ? dice_below(&d, (int)(n / 2)) : 0);
  }
  l.in = dice_below(&d, p->nfields);
  l.out = dice_below(&d, p->nfields);
  l.real = is_real(p->fields[l.in].type) && is_real(p->fields[l.out].type);
  l.in_box = dice_chance(&d, 40);
  l.components = dice_chance(&d, 60) ? 1 : 2;
  l.order = dice_chance(&d, 50) ? AMBIT_SOA : AMBIT_AOS;
  l.reduce = words[dice_below(&d, 3)];
  return l;
}

/* "float *a[3]" with the field's type and components; first component: "*a[0]". */
static void declare(char *to, size_t size, const field_plan *f, const char *before, char name)
{
  if (f->components > 1)
    snprintf(to, size, "%s%s *%c[%d]", before, ambit_type_name(f->type), name, f->components);
  else
    snprintf(to, size, "%s%s *%c", before, ambit_type_name(f->type), name);
}

/* The text of the kernels: the first one sweeps or reduces, the second one spreads a profile. */
static void write_rules(const program_plan *p, const line_plan *l, char *text, size_t size)
{
  const field_plan *in = &p->fields[l->in], *out = &p->fields[l->out];
  const char *type = l->real ? "double" : "long", *a = in->components > 1 ? "*a[1]" : "*a";
  const char *b = out->components > 1 ? "*b[0]" : "*b", *own = l->sweeps && l->in == l->out ? b : a;
  const char *c = l->components > 1 ? "*c[0]" : "*c", *e = l->components > 1 ? "*c[1]" : "*c";
  char first[80], second[80], carried[80], values[2][80] = {"*c", ""};

  declare(first, sizeof first, in, "const ", 'a');
  declare(second, sizeof second, out, "", 'b');
  snprintf(carried, sizeof carried, l->components > 1 ? "%s *c[2]" : "%s *c", type);
  if (l->components > 1) snprintf(values[1], sizeof values[1], "%s = (%s)%s / 4;", e, type, own);
  if (l->sweeps && l->in != l->out)
    snprintf(text, size,
             "void line(%s, %s, %s) { %s = %s / 2 + (%s)%s / 2; %s %s = %s / 2 + %s / 2; }", first,
             carried, second, c, c, type, a, values[1], b, b, e);
  else if (l->sweeps)
    snprintf(text, size, "void line(%s, %s) { %s = %s / 2 + (%s)%s / 2; %s %s = %s / 2 + %s / 2; }",
             carried, second, c, c, type, b, values[1], b, b, e);
  else
    snprintf(text, size,
             "void line(%s, %s %s) { %s = (%s)%s / 2; %s }\n"
             "void spread(const %s, %s) { %s = %s / 2 + %s / %ld; }",
             first, l->reduce, carried, c, type, a, values[1], carried, second, b, b, e,
             (long)program_cells(p));
}

void lines_append(const program_plan *p, ambit_program *to, ambit_grid *g, ambit *a,
                  ambit_field *const *fields)
{
  const int n = p->seed >> 43 & 1 ? 1 + (int)(p->seed % 2) : 0;

  for (int i = 0; i < n; i++) {
    const line_plan l = make(p, i);
    ambit_field *c = ambit_field_create_vector_on(g, "c", l.real ? AMBIT_F64 : AMBIT_I64,
                                                  l.components, l.order, l.axes);
    const int64_t *lo = l.in_box ? l.lo : NULL, *hi = l.in_box ? l.hi : NULL;
    ambit_kernel *k;
    char text[1000];

    write_rules(p, &l, text, sizeof text);
    k = ambit_kernel_create(a, text);
    if (!l.sweeps) {
      ambit_apply(to, k, fields[l.in], c);
      ambit_apply(to, ambit_kernel_find(k, "spread"), c, fields[l.out]);
    } else if (l.in != l.out) {
      ambit_sweep_box(to, l.from, lo, hi, k, fields[l.in], c, fields[l.out]);
    } else {
      ambit_sweep_box(to, l.from, lo, hi, k, c, fields[l.out]);
    }
  }
}

void lines_print(const program_plan *p, FILE *to)
{
  const int n = p->seed >> 43 & 1 ? 1 + (int)(p->seed % 2) : 0;
  char text[1000];

  for (int i = 0; i < n; i++) {
    const line_plan l = make(p, i);

    write_rules(p, &l, text, sizeof text);
    fprintf(to, "%s\n%s from face 0x%x of f%d to f%d, axes 0x%x%s\n", text,
            l.sweeps ? "sweep" : "reduction", l.from, l.in, l.out, l.axes,
            l.in_box && l.sweeps ? ", in a box" : "");
  }
}
