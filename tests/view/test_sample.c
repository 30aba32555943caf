/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of pictures: those of the cells, on every device, from any number of parts and
 * processes. */
#include "support/devices.h"
#include "support/test.h"
#include "view/sample.h"

#include <math.h>

static ambit *a;

/* Distinct values that a type of 8 bits has too. */
static double value_at(const int64_t *index, int component, void *user)
{
  const int ndims = *(const int *)user;
  int64_t x = component + 1;

  for (int d = 0; d < ndims; d++)
    x = (x * 31 + index[d]) % 101;
  return (double)x;
}

static ambit_program *make(int ndims, const int64_t *extents, ambit_type type, int components,
                           ambit_field **f)
{
  static int kept;
  ambit_grid *g = ambit_grid_create(a, ndims, extents);

  kept = ndims;
  *f = ambit_field_create_vector(g, "f", type, components, AMBIT_SOA);
  ambit_field_fill(*f, value_at, &kept);
  return ambit_program_create(g);
}

static ambit__scene scene_of(const ambit_field *f)
{
  ambit__scene s = {.number = 1, .ndims = f->grid->box.ndims, .nfields = 1};

  memcpy(s.extents, f->grid->box.hi, sizeof s.extents);
  s.fields[0] =
      (ambit__scene_field){.field = (ambit_field *)(uintptr_t)f, .components = f->components};
  return s;
}

/* The value that is shown of a cell. */
static double shown(const ambit__scene *s, const ambit__sight *x, int64_t *index)
{
  int ndims = s->ndims;
  double sum = 0, most = -1;
  int64_t first = x->most ? 0 : -1;

  if (x->component >= 0 && first < 0) return value_at(index, x->component, &ndims);
  do {
    double v;

    if (first >= 0) index[x->axis] = first;
    sum = 0;
    for (int c = 0; c < s->fields[0].components; c++)
      sum += pow(value_at(index, c, &ndims), 2);
    v = x->component >= 0 ? value_at(index, x->component, &ndims) : sqrt(sum);
    most = v > most ? v : most;
  } while (first >= 0 && ++first < s->extents[x->axis]);
  return most;
}

/* Compares a picture of one pixel per cell. */
static void check_cells(const ambit__scene *s, const ambit__sight *x, const ambit__pixels *p)
{
  const int rows = ambit__sight_rows(s, x), columns = ambit__sight_columns(s, x);
  int64_t index[AMBIT_MAX_DIMS];

  CHECK_EQ(1, p->block);
  CHECK_EQ(x->hi[0] - x->lo[0], p->rows);
  CHECK_EQ(x->hi[1] - x->lo[1], p->columns);
  for (int r = 0; p->values && r < p->rows; r++)
    for (int c = 0; c < p->columns; c++) {
      double want;

      memcpy(index, x->plane, sizeof index);
      if (rows >= 0) index[rows] = x->lo[0] + r;
      index[columns] = x->lo[1] + c;
      want = shown(s, x, index);
      CHECK_MSG(fabs(p->values[r * p->columns + c] - want) < 1e-3 * (1 + want),
                "pixel %d, %d is %g, not %g", r, c, p->values[r * p->columns + c], want);
    }
}

static bool is_many(void)
{
  bool many;

  a = ambit_open(NULL, NULL);
  many = ambit_processes(a) > 1;
  ambit_close(a);
  return many;
}

static void sample_all(ambit_program *p, ambit_field *f)
{
  const ambit__scene s = scene_of(f);
  ambit__sight x = ambit__sight_first(&s);
  ambit__pixels out;

  for (int i = 0; i < (s.ndims > 2 ? s.ndims : 1); i++, ambit__sight_next_axis(&s, &x))
    for (int most = 0; most <= (x.axis >= 0); most++)
      for (int c = -1; c < f->components; c++) {
        x.most = most;
        x.component = c;
        CHECK_EQ(AMBIT_OK, ambit__sample(p, &s, &x, 1000, 1000, &out));
        CHECK((out.values != NULL) == !a->net->rank);
        check_cells(&s, &x, &out);
        free(out.values);
      }
}

static void pictures_are_the_values_of_cells_on_every_device_and_part(void)
{
  static const int64_t extents[] = {7, 11, 13, 3};

  EACH_DEVICE(d)
  {
    if (is_many() && !strcmp(*d, "ref")) continue; /* it has one process */
    for (int parts = 1; parts <= (strcmp(*d, "ref") ? 4 : 1); parts += 3)
      for (int ndims = 1; ndims <= 4; ndims++) {
        ambit_field *f;
        ambit_program *p;
        char text[32];

        a = ambit_open(NULL, NULL);
        snprintf(text, sizeof text, "%s*%d", *d, parts);
        ambit_option_set(a, "devices", parts > 1 ? text : *d);
        if (parts > 1 && a->net->size == 1 && ndims == 2) ambit_option_set(a, "partition", "2x2");
        p = make(ndims, extents, ndims == 3 ? AMBIT_F64 : AMBIT_F32, ndims == 2 ? 3 : 1, &f);
        sample_all(p, f);
        CHECK_EQ(AMBIT_OK, ambit_close(a));
      }
  }
}

/* Of both signs where the type has them; of real types some are NaN, and all of one column. */
static double mixed_at(const int64_t *i, int component, void *user)
{
  const ambit_type type = *(const ambit_type *)user;
  const double x = (double)((i[0] * 31 + i[1] * 7 + i[2] * 3 + component * 11) % 101);

  if (ambit__type_is_real(type) && ((i[1] == 2 && i[2] == 3) || (i[0] + i[1]) % 4 == 0)) return NAN;
  return ambit__type_is_unsigned(type) ? x : x - 50;
}

static double greatest(const ambit__sight *x, const int64_t *at, int64_t n, ambit_type type)
{
  int64_t index[3] = {at[0], at[1], at[2]};
  double most = NAN;

  for (index[x->axis] = 0; index[x->axis] < n; index[x->axis]++) {
    const double one = mixed_at(index, 0, &type), two = mixed_at(index, 1, &type);
    const double v = x->component < 0 ? sqrt(one * one + two * two) : x->component ? two : one;

    if (v > most || isnan(most)) most = v;
  }
  return most;
}

static void check_maxima(const ambit__scene *s, const ambit__sight *x, ambit_type type,
                         const ambit__pixels *p)
{
  const int rows = ambit__sight_rows(s, x), columns = ambit__sight_columns(s, x);

  for (int r = 0; p->values && r < p->rows; r++)
    for (int c = 0; c < p->columns; c++) {
      const double got = p->values[r * p->columns + c];
      int64_t at[3] = {0};
      double want;

      at[rows] = r;
      at[columns] = c;
      want = greatest(x, at, s->extents[x->axis], type);
      CHECK_MSG(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-5 * fabs(want),
                "%s, component %d, axis %d: pixel %d, %d is %g, not %g", ambit_type_name(type),
                x->component, x->axis, r, c, got, want);
    }
}

static void maxima_are_those_of_all_types_and_of_norms_on_every_device(void)
{
  EACH_DEVICE(d)
  {
    if (is_many() && !strcmp(*d, "ref")) continue; /* it has one process */
    a = ambit_open(NULL, NULL);
    ambit_option_set(a, "devices", *d);
    for (int type = 0; ambit_type_size((ambit_type)type); type++) {
      ambit_grid *g = ambit_grid_create(a, 3, (int64_t[]){9, 6, 7});
      ambit_field *f = ambit_field_create_vector(g, "f", (ambit_type)type, 2, AMBIT_SOA);
      const ambit_program *p = ambit_program_create(g);
      const ambit__scene s = scene_of(f);
      ambit__sight x = ambit__sight_first(&s);

      ambit_field_fill(f, mixed_at, &type);
      for (int i = 0; i < 3; i++, ambit__sight_next_axis(&s, &x))
        for (x.component = -1, x.most = true; x.component < 2; x.component++) {
          ambit__pixels out;

          CHECK_EQ(AMBIT_OK, ambit__sample(p, &s, &x, 1000, 1000, &out));
          check_maxima(&s, &x, (ambit_type)type, &out);
          free(out.values);
        }
    }
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static void every_type_is_shown(void)
{
  for (int type = 0; ambit_type_size((ambit_type)type); type++) {
    ambit_field *f;
    ambit_program *p;

    a = ambit_open(NULL, NULL);
    p = make(2, (int64_t[]){9, 12}, (ambit_type)type, 2, &f);
    sample_all(p, f);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

/* A slope: the mean of cells of a pixel is the value in its middle. */
static double slope(const int64_t *index, int component, void *user)
{
  (void)component, (void)user;
  return (double)(1000 * index[0] + index[1]);
}

static void large_fields_have_the_size_of_the_view(void)
{
  static const int rooms[][2] = {{100, 100}, {40, 300}, {7, 7}, {1, 1}, {1000, 10}};
  ambit_field *f;
  ambit_program *p;
  ambit__scene s;
  ambit__sight x;

  a = ambit_open(NULL, NULL);
  p = make(2, (int64_t[]){600, 900}, AMBIT_F64, 1, &f);
  ambit_field_fill(f, slope, NULL);
  s = scene_of(f);
  x = ambit__sight_first(&s);
  ambit__sight_zoom(&s, &x, 1.1, 0.2, 0.7);
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    ambit__pixels out;

    CHECK_EQ(AMBIT_OK, ambit__sample(p, &s, &x, rooms[i][0], rooms[i][1], &out));
    CHECK_MSG(out.rows <= 2 * rooms[i][0] + 1 && out.columns <= 2 * rooms[i][1] + 1,
              "%d x %d pixels for %d x %d", out.rows, out.columns, rooms[i][0], rooms[i][1]);
    for (int r = 0; out.values && r < out.rows; r++)
      for (int c = 0; c < out.columns; c++) {
        const double v = out.values[r * out.columns + c], row = floor(v / 1000);

        CHECK_MSG(fabs(row - (double)(x.lo[0] + r * out.block)) <= (double)out.block, "row %d: %g",
                  r, v);
        CHECK_MSG(fabs(fmod(v, 1000) - (double)(x.lo[1] + c * out.block)) <= 501, "column %d: %g",
                  c, v);
      }
    free(out.values);
  }
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static int is_disc(const int64_t *index, void *user)
{
  const int64_t y = index[0] - 20, x = index[1] - 25;

  (void)user;
  return y * y + x * x < 300;
}

static void inactive_cells_of_sparse_grids_have_their_constant(void)
{
  int ndims = 2;
  ambit_grid *g;
  ambit_field *f;
  ambit__scene s;
  ambit__sight x;
  ambit__pixels out;

  a = ambit_open(NULL, NULL);
  g = ambit_grid_create_sparse(a, 2, (int64_t[]){40, 50}, is_disc, NULL);
  f = ambit_field_create(g, "f", AMBIT_F32);
  ambit_field_fill(f, value_at, &ndims);
  s = scene_of(f);
  x = ambit__sight_first(&s);
  CHECK_EQ(AMBIT_OK, ambit__sample(ambit_program_create(g), &s, &x, 1000, 1000, &out));
  for (int64_t r = 0; out.values && r < 40; r++)
    for (int64_t c = 0; c < 50; c++) {
      const int64_t at[] = {r, c};

      CHECK_EQ(is_disc(at, NULL) ? value_at(at, 0, &ndims) : 0, out.values[r * 50 + c]);
    }
  free(out.values);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name}
      T(pictures_are_the_values_of_cells_on_every_device_and_part),
      T(maxima_are_those_of_all_types_and_of_norms_on_every_device),
      T(every_type_is_shown),
      T(large_fields_have_the_size_of_the_view),
      T(inactive_cells_of_sparse_grids_have_their_constant),
#undef T
      {0}};

  return test_main(argc, argv, tests);
}
