/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue: stencils known by name.
 *
 * The fixed ones are those of the EPSILOD paper. Each is a row of a table: the weights along every
 * axis, the weight of the corner (-1, ..., -1), and the weight of all other cells of the box.
 *
 * The families star<D>d<R> and box<D>d<R> are for tests and benchmarks. Their weights are positive
 * and all different, so that exchanging two points changes the result, and they sum to 1, so that
 * values stay bounded. Each step of distance halves a weight, and a factor between 1 and 1.25
 * distinguishes points of equal distance; the ranges do not overlap. With `s` at the end of the
 * name the factor depends only on the sorted absolute offsets: the stencil is invariant under
 * reflections and permutations of axes.
 */
#include "base/spell.h"
#include "base/text.h"
#include "kernel/kernel.h"
#include "kernel/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FAMILY_RADIUS = 8 };

typedef struct entry {
  const char *name;
  int ndims;
  double along[5]; /* at the offsets -2 -1 0 1 2 of every axis; the middle one is the centre */
  double corner;   /* at (-1, ..., -1); 0: same as rest */
  double rest;     /* at all other cells of the box */
  double divisor;
} entry;

static const entry entries[] = {
    {"1dc2", 1, {0, 1, 0, 1, 0}, 0, 0, 2},     {"1dnc4", 1, {0.5, 1, 0, 1, 0.5}, 0, 0, 3},
    {"2d4", 2, {0, 1, 0, 1, 0}, 0, 0, 4},      {"2d8", 2, {0, 4, 0, 4, 0}, 0, 1, 20},
    {"2df5", 2, {1, 2, 0, 0, 0}, 0.5, 0, 6.5}, {"2dnc8", 2, {1, 4, 0, 4, 1}, 0, 0, 20},
    {"3d27", 3, {0, 1, 1, 1, 0}, 0, 1, 27},    {"3d6", 3, {0, 1, 0, 1, 0}, 0, 0, 6},
    {"3df7", 3, {1, 2, 0, 0, 0}, 0.5, 0, 9.5}, {"3dnc12", 3, {1, 6, 0, 6, 1}, 0, 0, 42},
    {"4d8", 4, {0, 1, 0, 1, 0}, 0, 0, 8},
};
enum { NENTRIES = sizeof entries / sizeof *entries };

const char *ambit__catalogue_name(int i)
{
  return i >= 0 && i < NENTRIES ? entries[i].name : NULL;
}

/* Allocates a zeroed array for all cells of the box; w->weights points to it too. */
static ambit_status new_weights(ambit__errors *errors, const char *name, ambit_weights *w,
                                double **out, size_t *cells)
{
  AMBIT_TRY(ambit__weights_shape(errors, name, w, cells));
  w->weights = *out = ambit__new(errors, *cells, sizeof **out);
  return *out ? AMBIT_OK : AMBIT_ENOMEM;
}

/* ---- fixed entries ---- */

static double entry_weight(const entry *e, const int *offset)
{
  int moved = 0, last = 0;
  bool is_corner = true;

  for (int d = 0; d < e->ndims; d++) {
    is_corner = is_corner && offset[d] == -1;
    if (!offset[d]) continue;
    moved++;
    last = offset[d];
  }
  if (moved <= 1) return e->along[2 + last];
  return is_corner && e->corner != 0 ? e->corner : e->rest;
}

static ambit_status expand_entry(ambit__errors *errors, const entry *e, ambit_weights *w)
{
  int offset[AMBIT_MAX_DIMS];
  double *weight;
  size_t cells;

  w->ndims = e->ndims;
  w->divisor = e->divisor;
  for (int d = 0; d < e->ndims; d++) {
    w->low[d] = e->along[0] != 0 ? 2 : 1;
    w->high[d] = e->along[4] != 0 ? 2 : e->along[3] != 0 ? 1 : 0;
  }
  AMBIT_TRY(new_weights(errors, e->name, w, &weight, &cells));
  for (bool more = ambit__offset_start(w, offset); more; more = ambit__offset_step(w, offset))
    *weight++ = entry_weight(e, offset);
  return AMBIT_OK;
}

/* ---- families ---- */

typedef struct family {
  bool is_box, is_symmetric;
  int ndims, radius;
} family;

static bool read_digits(const char **text, int *out)
{
  const char *start = *text;

  for (*out = 0; **text >= '0' && **text <= '9' && *out < 1000; (*text)++)
    *out = 10 * *out + (**text - '0');
  return *text > start;
}

/* family: ("star" | "box") digits "d" digits "s"? */
static bool read_family(const char *name, family *f)
{
  *f = (family){.is_box = !strncmp(name, "box", 3)};
  if (!f->is_box && strncmp(name, "star", 4)) return false;
  name += f->is_box ? 3 : 4;
  if (!read_digits(&name, &f->ndims) || *name++ != 'd' || !read_digits(&name, &f->radius))
    return false;
  f->is_symmetric = *name == 's';
  return !name[f->is_symmetric];
}

static ambit_status check_family(ambit__errors *errors, const char *name, const family *f)
{
  double width = 2 * f->radius + 1, cells;

  AMBIT_CHECK(f->ndims >= 1 && f->ndims <= AMBIT_MAX_DIMS, errors, AMBIT_EINVAL,
              "stencil %.40s: %d dimensions; a stencil has 1 to %d", name, f->ndims,
              AMBIT_MAX_DIMS);
  AMBIT_CHECK(f->radius >= 1 && f->radius <= MAX_FAMILY_RADIUS, errors, AMBIT_EINVAL,
              "stencil %.40s: radius %d; stencils of the catalogue have radius 1 to %d", name,
              f->radius, MAX_FAMILY_RADIUS);
  cells = pow(width, f->ndims);
  AMBIT_CHECK(!f->is_box || cells <= AMBIT__WEIGHTS_POINTS, errors, AMBIT_EINVAL,
              "stencil %.40s has %.0f points; a stencil has at most %d", name, cells,
              AMBIT__WEIGHTS_POINTS);
  AMBIT_CHECK(cells <= AMBIT__WEIGHTS_CELLS, errors, AMBIT_EINVAL,
              "stencil %.40s spans a box of %.0f cells; it may have at most %d", name, cells,
              AMBIT__WEIGHTS_CELLS);
  return AMBIT_OK;
}

/* The absolute offsets, sorted from large to small, as the digits of a number. */
static double symmetry_class(const family *f, const int *offset)
{
  int digits[AMBIT_MAX_DIMS];
  double number = 0;

  for (int d = 0; d < f->ndims; d++) {
    int at = d;

    for (; at > 0 && digits[at - 1] < abs(offset[d]); at--)
      digits[at] = digits[at - 1];
    digits[at] = abs(offset[d]);
  }
  for (int d = 0; d < f->ndims; d++)
    number = number * (f->radius + 1) + digits[d];
  return number;
}

static bool in_star(const family *f, const int *offset)
{
  int moved = 0;

  for (int d = 0; d < f->ndims; d++)
    moved += offset[d] != 0;
  return moved <= 1;
}

/* 2^-distance times a factor of 1 to 1.25, by the number of the point. */
static double family_weight(const family *f, const int *offset, double order, double orders)
{
  int distance = 0;

  for (int d = 0; d < f->ndims; d++)
    distance += abs(offset[d]);
  return ldexp(1 + order / (4 * orders), -distance);
}

/* Scales the sum to 1; the centre absorbs the rounding error. */
static void normalise(const ambit_weights *w, double *weights, size_t cells)
{
  static const int zero[AMBIT_MAX_DIMS];
  size_t centre = ambit__offset_place(w, zero);
  double total = 0, others = 0;

  for (size_t i = 0; i < cells; i++)
    total += weights[i];
  for (size_t i = 0; i < cells; i++) {
    weights[i] /= total;
    if (i != centre) others += weights[i];
  }
  weights[centre] = 1 - others;
}

static ambit_status expand_family(ambit__errors *errors, const char *name, const family *f,
                                  ambit_weights *w)
{
  int offset[AMBIT_MAX_DIMS];
  size_t cells, i = 0;
  double points, classes, order = 0;
  double *weights;

  AMBIT_TRY(check_family(errors, name, f));
  w->ndims = f->ndims;
  w->divisor = 1;
  for (int d = 0; d < f->ndims; d++)
    w->low[d] = w->high[d] = f->radius;
  AMBIT_TRY(new_weights(errors, name, w, &weights, &cells));
  points = f->is_box ? (double)cells : 2.0 * f->ndims * f->radius + 1;
  classes = pow(f->radius + 1, f->ndims);
  for (bool more = ambit__offset_start(w, offset); more;
       more = ambit__offset_step(w, offset), i++) {
    if (!f->is_box && !in_star(f, offset)) continue;
    weights[i] = f->is_symmetric ? family_weight(f, offset, symmetry_class(f, offset), classes)
                                 : family_weight(f, offset, order++, points);
  }
  normalise(w, weights, cells);
  return AMBIT_OK;
}

/* ---- unknown names ---- */

enum { NAME_CHARS = 40 };

/* `nearest` keeps the name if it is the best guess. */
static void guess_families(ambit__guess *guess, char nearest[NAME_CHARS])
{
  for (int i = 0; i < 4 * AMBIT_MAX_DIMS * MAX_FAMILY_RADIUS; i++) {
    family f = {.is_box = i & 1, .is_symmetric = i & 2};
    char name[NAME_CHARS];

    f.ndims = i / 4 % AMBIT_MAX_DIMS + 1;
    f.radius = i / 4 / AMBIT_MAX_DIMS + 1;
    snprintf(name, sizeof name, "%s%dd%d%s", f.is_box ? "box" : "star", f.ndims, f.radius,
             f.is_symmetric ? "s" : "");
    if (!check_family(NULL, name, &f)) ambit__guess_offer(guess, name);
    if (guess->best == name) guess->best = memcpy(nearest, name, NAME_CHARS);
  }
}

static ambit_status raise_unknown(ambit__errors *errors, const char *name)
{
  ambit__guess guess = ambit__guess_start(name);
  char nearest[NAME_CHARS];
  ambit__text names = {0};
  char *list;

  for (int i = 0; i < NENTRIES; i++) {
    ambit__guess_offer(&guess, entries[i].name);
    ambit__print(&names, "%s%s", i ? ", " : "", entries[i].name);
  }
  guess_families(&guess, nearest);
  list = ambit__text_finish(&names);
  ambit__raise(errors, AMBIT_EINVAL,
               "no stencil of the catalogue is called \"%.*s\"%s%s\n"
               "  fixed names: %s\n"
               "  families:    star<D>d<R> and box<D>d<R> of D = 1 to %d dimensions and radius R = "
               "1 to %d, with an s at the end for symmetric weights: star3d2, box2d1s",
               NAME_CHARS, name, guess.best ? "; the nearest name is " : "",
               guess.best ? guess.best : "", list ? list : "", AMBIT_MAX_DIMS, MAX_FAMILY_RADIUS);
  free(list);
  return AMBIT_EINVAL;
}

ambit_status ambit__catalogue_find(ambit__errors *errors, const char *name, ambit_weights *w)
{
  family f;

  *w = (ambit_weights){0};
  AMBIT_CHECK(name, errors, AMBIT_EINVAL, "the name of the stencil is NULL");
  for (int i = 0; i < NENTRIES; i++)
    if (!strcmp(name, entries[i].name)) return expand_entry(errors, &entries[i], w);
  if (read_family(name, &f)) return expand_family(errors, name, &f, w);
  return raise_unknown(errors, name);
}
