/* SPDX-License-Identifier: BSD-3-Clause */
/* points.c - sources, receivers, steady profiles and observers in random programs: seeds with bit
 * 45.
 *
 * Behind the steps of the program, a number or the rows of a record are added to a field at a few
 * points, a field is sampled into a record, and a profile that no step changes is added to a field
 * by quarters, from the cell itself or a neighbour. An observer looks every few iterations, so that
 * runs go in stretches, as with output and checkpoints.
 */
#include "program.h"

#include "runtime/program/program.h"

#include <stdlib.h>

enum { MOST_POINTS = 5, ROWS = 7 };

typedef struct point_plan {
  int n, into, from, onto; /* points; fields: sources, receivers, the profile */
  bool linear, rows;       /* the values of sources are a record */
  bool every, first;       /* receivers in every other iteration, or before sources */
  int64_t look;            /* interval of the observer; 0: none */
  unsigned axes;           /* of the profile */
  int along, offset;       /* where it is read, along an axis it has; -1: at the cell */
  double place[MOST_POINTS * AMBIT_MAX_DIMS];
} point_plan;

static point_plan make(const program_plan *p)
{
  dice d = {.state = p->seed * 0xbf58476d1ce4e5b9u + 45};
  point_plan t = {.n = dice_between(&d, 1, MOST_POINTS), .along = -1};

  t.into = dice_below(&d, p->nfields);
  t.from = dice_below(&d, p->nfields);
  t.onto = dice_below(&d, p->nfields);
  t.linear = dice_chance(&d, 70);
  t.rows = dice_chance(&d, 50);
  t.every = dice_chance(&d, 25);
  t.first = dice_chance(&d, 30);
  t.look = dice_chance(&d, 60) ? dice_between(&d, 1, 4) : 0;
  for (int i = 0; i < t.n * p->ndims; i++) {
    const int last = (int)p->extents[i % p->ndims] - 1;

    t.place[i] = dice_chance(&d, 20)   ? dice_below(&d, 2) * last
                 : dice_chance(&d, 40) ? dice_below(&d, last + 1)
                                       : last * (dice_below(&d, 1000) / 1000.0);
  }
  for (int i = 0; i < p->ndims; i++) {
    if (!dice_chance(&d, 50)) continue;
    t.axes |= AMBIT_AXIS(i);
    if (dice_chance(&d, 50)) t.along = i, t.offset = dice_between(&d, -2, 2);
  }
  return t;
}

static double coefficient(const int64_t *index, int component, void *user)
{
  int64_t n = 7;

  (void)component, (void)user;
  for (int i = 0; i < AMBIT_MAX_DIMS; i++)
    n = n * 31 + index[i];
  return (double)(n % 9 - 4) / 4;
}

/* void steady(const double *c, half *b[2]) { *b[0] = *b[0] / 2 + (half)(c[0][1] / 4); } */
static void write_steady(const program_plan *p, const point_plan *t, char *text, size_t size)
{
  const field_plan *f = &p->fields[t->onto];
  const char *type = ambit_type_name(f->type), *b = f->components > 1 ? "*b[0]" : "*b";
  char many[8] = "", c[60] = "*c";
  int n = 0;

  if (f->components > 1) snprintf(many, sizeof many, "[%d]", f->components);
  for (int i = 0; i < p->ndims && t->along >= 0; i++)
    n += snprintf(c + n, sizeof c - (size_t)n, "%s[%d]", i ? "" : "c",
                  i == t->along ? t->offset : 0);
  snprintf(text, size, "void steady(const float *c, %s *b%s) { %s = %s / 2 + (%s)(%s / 4); }", type,
           many, b, b, type, c);
}

static void sample(const point_plan *t, ambit_program *to, ambit_points *points,
                   ambit_field *const *fields, ambit_record *seen)
{
  ambit_sample(to, points, fields[t->from], seen);
  if (t->every) ambit_step_every(to, 2);
}

static ambit_status look(ambit__observer *o, ambit_program *p)
{
  (void)o, (void)p;
  return AMBIT_OK;
}

static bool uses(const ambit__observer *o, const void *object)
{
  (void)o, (void)object;
  return false;
}

static void end(ambit__observer *o)
{
  free(o);
}

static void observe(ambit_program *to, int64_t every)
{
  ambit__observer *o = every ? malloc(sizeof *o) : NULL;

  if (!o) return;
  *o = (ambit__observer){.every = every, .look = look, .uses = uses, .end = end};
  ambit__program_observe(to, o);
}

ambit_record *points_append(const program_plan *p, ambit_program *to, ambit_grid *g, ambit *a,
                            ambit_field *const *fields)
{
  const point_plan t = make(p);
  ambit_record *seen, *source;
  ambit_points *points;
  ambit_field *c;
  double rows[ROWS];
  char text[400];

  if (!to || !(p->seed >> 45 & 1)) return NULL;
  seen = ambit_record_create(a, "seen");
  source = ambit_record_create(a, "source");
  points = ambit_points_create(g, t.n, t.place, t.linear ? AMBIT_LINEAR : AMBIT_NEAREST);
  c = ambit_field_create_on(g, "c", AMBIT_F32, t.axes);
  for (int i = 0; i < ROWS; i++)
    rows[i] = (i * 5 % ROWS - 3) / 8.0;
  ambit_record_write(source, ROWS, 1, rows);
  ambit_field_fill(c, coefficient, NULL);
  ambit_field_boundary(c, AMBIT_ALL_FACES, AMBIT_CLAMP, 0);
  write_steady(p, &t, text, sizeof text);
  if (t.first) sample(&t, to, points, fields, seen);
  if (t.rows)
    ambit_inject(to, points, source, fields[t.into]);
  else
    ambit_inject(to, points, 0.125, fields[t.into]);
  ambit_apply(to, ambit_kernel_create(a, text), c, fields[t.onto]);
  if (!t.first) sample(&t, to, points, fields, seen);
  observe(to, t.look);
  return seen;
}

void points_print(const program_plan *p, FILE *to)
{
  const point_plan t = make(p);
  char text[400];

  if (!(p->seed >> 45 & 1)) return;
  write_steady(p, &t, text, sizeof text);
  fprintf(to, "%d %s points: into f%d (%s), from f%d%s%s\n%s\nto f%d, axes 0x%x; looks every %ld\n",
          t.n, t.linear ? "linear" : "nearest", t.into, t.rows ? "rows" : "0.125", t.from,
          t.every ? " every 2" : "", t.first ? ", first" : "", text, t.onto, t.axes, (long)t.look);
}
