/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields: values are read back as written, in every type, order and number of dimensions. */
#define _XOPEN_SOURCE 700
#include "runtime/runtime_test.h"
#include "support/number.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static const ambit_type types[] = {AMBIT_F32, AMBIT_F64, AMBIT_I32, AMBIT_U8,
                                   AMBIT_I16, AMBIT_I64, AMBIT_F16, AMBIT_BF16};
enum { NTYPES = sizeof types / sizeof *types, MOST_VALUES = 4096 };

/* A number that depends on index and component, and fits in a byte. */
static double place_value(const int64_t *index, int component, void *user)
{
  int64_t n = component;

  for (int d = 0; d < *(const int *)user; d++)
    n = n * 7 + index[d];
  return (double)(n % 251);
}

static void a_new_field_is_zero_and_knows_what_it_is(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_field *f =
        ambit_field_create_vector(grid_2d(a, 3, 4), "velocity", AMBIT_I16, 2, AMBIT_AOS);
    int16_t values[24];

    memset(values, 1, sizeof values);
    CHECK_STR("velocity", ambit_field_name(f));
    CHECK_EQ(AMBIT_I16, ambit_field_type(f));
    CHECK_EQ(2, ambit_field_components(f));
    CHECK_EQ(AMBIT_OK, ambit_field_read(f, NULL, NULL, values));
    for (int i = 0; i < 24; i++)
      CHECK_EQ(0, values[i]);
    ambit_close(a);
  }
}

/* The same; -1 if the index has numbers along axes that the grid has not. */
static double whole_index(const int64_t *index, int component, void *user)
{
  for (int d = *(const int *)user; d < AMBIT_MAX_DIMS; d++)
    if (index[d]) return -1;
  return place_value(index, component, user);
}

typedef ambit_status fill_call(ambit_field *f, ambit_fill_fn fn, void *user);

static void check_fill(ambit *a, fill_call *fill, int ndims, ambit_type type, int components,
                       ambit_order order)
{
  static const int64_t extents[] = {3, 2, 5, 4};
  static unsigned char values[MOST_VALUES * sizeof(double)];
  ambit_grid *g = ambit_grid_create(a, ndims, extents);
  ambit_field *f = ambit_field_create_vector(g, "f", type, components, order);
  int64_t at[4] = {0}, n = 0;
  int d;

  fill(f, whole_index, &ndims);
  ambit_field_read(f, NULL, NULL, values);
  do {
    for (int c = 0; c < components; c++, n++)
      CHECK_EQ(place_value(at, c, &ndims), number_at(values, n, type));
    for (d = ndims - 1; d >= 0 && ++at[d] == extents[d]; d--)
      at[d] = 0;
  } while (d >= 0);
  CHECK_OK(a);
  ambit_grid_destroy(g);
}

static void check_fills(fill_call *fill)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);

    ambit_option_set(a, "threads", "3");
    for (int t = 0; t < NTYPES; t++)
      for (int ndims = 1; ndims <= 4; ndims++)
        for (int components = 1; components <= 3; components++) {
          check_fill(a, fill, ndims, types[t], components, AMBIT_SOA);
          check_fill(a, fill, ndims, types[t], components, AMBIT_AOS);
        }
    ambit_close(a);
  }
}

static void fill_gives_every_cell_the_value_of_its_index(void)
{
  check_fills(ambit_field_fill);
}

static void so_does_a_fill_by_several_threads(void)
{
  check_fills(ambit_field_fill_parallel);
}

static void check_value(const char *device)
{
  enum { ROWS = 67, COLUMNS = 129, COMPONENTS = 3 };

  for (int order = 0; order < 2; order++) {
    ambit *a = open_on(device);
    ambit_grid *g = grid_2d(a, ROWS, COLUMNS);
    ambit_field *f = ambit_field_create_vector(g, "f", AMBIT_I16, COMPONENTS, (ambit_order)order);
    static int16_t values[ROWS * COLUMNS * COMPONENTS];
    int wrong = 0;

    CHECK_EQ(AMBIT_OK, ambit_field_set(f, 7));
    ambit_field_read(f, NULL, NULL, values);
    for (int n = 0; n < ROWS * COLUMNS * COMPONENTS; n++)
      wrong += values[n] != 7;
    CHECK_EQ(0, wrong);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
}

static void a_value_reaches_every_component_of_every_cell(void)
{
  EACH_DEVICE(device)
  {
    check_value(*device);
  }
  check_value("cpu*3");
}

/* The calling threads, and the number of calls. */
static struct {
  atomic_int calls;
  pthread_mutex_t lock;
  pthread_t threads[8];
  int nthreads;
} fillers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double note_thread(const int64_t *index, int component, void *user)
{
  int i = 0;

  (void)index, (void)component, (void)user;
  atomic_fetch_add(&fillers.calls, 1);
  pthread_mutex_lock(&fillers.lock);
  while (i < fillers.nthreads && !pthread_equal(fillers.threads[i], pthread_self()))
    i++;
  if (i == fillers.nthreads && i < 8) fillers.threads[fillers.nthreads++] = pthread_self();
  pthread_mutex_unlock(&fillers.lock);
  return 1;
}

static void check_fillers(fill_call *fill, int threads)
{
  ambit *a = open_on("cpu");
  ambit_field *f;

  ambit_option_set(a, "threads", "3");
  f = ambit_field_create_vector(grid_2d(a, 30, 40), "f", AMBIT_F32, 2, AMBIT_SOA);
  fillers.nthreads = 0;
  atomic_store(&fillers.calls, 0);
  CHECK_EQ(AMBIT_OK, fill(f, note_thread, NULL));
  CHECK_EQ(30 * 40 * 2, atomic_load(&fillers.calls));
  CHECK_EQ(threads, fillers.nthreads);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_fill_uses_other_threads_only_if_asked_to(void)
{
  check_fillers(ambit_field_fill, 1);
  CHECK(pthread_equal(fillers.threads[0], pthread_self()));
  check_fillers(ambit_field_fill_parallel, 3);
}

static void a_row_longer_than_a_piece_is_filled_whole(void)
{
  enum { N = 200001 };
  ambit *a = open_on("cpu");
  ambit_field *f = ambit_field_create_vector(grid_1d(a, N), "f", AMBIT_F64, 2, AMBIT_SOA);
  const int64_t lo[] = {N - 2}, hi[] = {N};
  int ndims = 1;
  double values[4];

  ambit_field_fill(f, place_value, &ndims);
  ambit_field_read(f, lo, hi, values);
  for (int64_t i = 0; i < 2; i++)
    for (int c = 0; c < 2; c++) {
      const int64_t at[] = {N - 2 + i};

      CHECK_EQ(place_value(at, c, &ndims), values[2 * i + c]);
    }
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* Writes a box of 99s into a field of 1s, and checks all cells. */
static void check_box(ambit *a, ambit_type type, ambit_order order)
{
  const int64_t lo[] = {1, 2}, hi[] = {3, 5};
  ambit_grid *g = grid_2d(a, 4, 7);
  ambit_field *f = ambit_field_create_vector(g, "f", type, 2, order);
  ambit_field *same = ambit_field_create_vector(g, "same", type, 2, order);
  unsigned char box[12 * sizeof(double)], all[56 * sizeof(double)], again[12 * sizeof(double)];

  ambit_field_set(f, 1);
  ambit_field_set(same, 99);
  ambit_field_read(same, lo, hi, box);
  ambit_field_write(f, lo, hi, box);
  ambit_field_read(f, NULL, NULL, all);
  ambit_field_read(f, lo, hi, again);
  for (int64_t i = 0; i < 56; i++) {
    int64_t row = i / 14, column = i / 2 % 7;
    bool inside = row >= 1 && row < 3 && column >= 2 && column < 5;

    CHECK_EQ(inside ? 99 : 1, number_at(all, i, type));
  }
  CHECK(!memcmp(box, again, 12 * ambit_type_size(type)));
  CHECK_OK(a);
  ambit_grid_destroy(g);
}

static void a_box_is_written_and_read_back_and_the_rest_stays(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);

    for (int t = 0; t < NTYPES; t++) {
      check_box(a, types[t], AMBIT_SOA);
      check_box(a, types[t], AMBIT_AOS);
    }
    ambit_close(a);
  }
}

static void one_end_of_a_box_may_be_left_to_the_grid(void)
{
  ambit *a = open_on("ref");
  ambit_field *f = ambit_field_create(grid_1d(a, 5), "f", AMBIT_I32);
  const int64_t two[] = {2};
  int32_t values[5] = {1, 2, 3, 4, 5}, tail[3], begin[2];

  ambit_field_write(f, NULL, NULL, values);
  ambit_field_read(f, two, NULL, tail);
  ambit_field_read(f, NULL, two, begin);
  CHECK(tail[0] == 3 && tail[2] == 5 && begin[0] == 1 && begin[1] == 2);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void numbers_are_cut_to_the_type_of_the_field(void)
{
  static const struct {
    ambit_type type;
    double number, stored;
  } rows[] = {{AMBIT_U8, 300.7, 255},       {AMBIT_U8, -1, 0},
              {AMBIT_U8, 3.99, 3},          {AMBIT_I16, -1e9, -32768},
              {AMBIT_I32, -2.9, -2},        {AMBIT_I32, 1e30, INT32_MAX},
              {AMBIT_I64, NAN, 0},          {AMBIT_F32, 0.1, 0.1f},
              {AMBIT_F64, 0.1, 0.1},        {AMBIT_F32, INFINITY, INFINITY},
              {AMBIT_F16, 0.1, 0x1.998p-4}, {AMBIT_F16, 1e6, INFINITY},
              {AMBIT_BF16, 0.1, 0x1.9ap-4}, {AMBIT_BF16, 1e39, INFINITY}};
  ambit *a = open_on("ref");
  ambit_grid *g = grid_1d(a, 1);
  double bytes;

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ambit_field *f = ambit_field_create(g, "f", rows[i].type);

    ambit_field_set(f, rows[i].number);
    ambit_field_read(f, NULL, NULL, &bytes);
    CHECK_MSG(number_at(&bytes, 0, rows[i].type) == rows[i].stored, "row %zu: %g", i,
              number_at(&bytes, 0, rows[i].type));
  }
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_box_must_lie_within_the_grid(void)
{
  const int64_t low[] = {0, -1}, high[] = {3, 5}, one[] = {1, 1}, two[] = {2, 2};
  ambit *a = open_on("ref");
  ambit_field *f = ambit_field_create(grid_2d(a, 3, 4), "heat", AMBIT_F32);
  float values[12];

  ambit_field_read(f, low, NULL, values);
  CHECK_FAILED(a, AMBIT_EINVAL, "field 'heat': the box");
  ambit_field_write(f, NULL, high, values);
  CHECK_FAILED(a, AMBIT_EINVAL, "is not within the grid");
  ambit_field_read(f, two, one, values);
  CHECK_FAILED(a, AMBIT_EINVAL, "is not within the grid");
  CHECK_EQ(AMBIT_OK, ambit_field_read(f, one, one, values));
  ambit_close(a);
}

static void what_cannot_be_a_field_is_refused(void)
{
  ambit *a = open_on("ref");
  ambit_grid *g = grid_1d(a, 4);

  CHECK(!ambit_field_create(g, "", AMBIT_F32));
  CHECK_FAILED(a, AMBIT_EINVAL, "a field needs a name");
  CHECK(!ambit_field_create(g, "f", (ambit_type)17));
  CHECK_FAILED(a, AMBIT_EINVAL, "field 'f': 17 is not a value type");
  CHECK(!ambit_field_create_vector(g, "f", AMBIT_F32, 0, AMBIT_SOA));
  CHECK_FAILED(a, AMBIT_EINVAL, "with 0 components; it must have 1 to 4096");
  CHECK(!ambit_field_create_vector(g, "f", AMBIT_F32, 2, (ambit_order)5));
  CHECK_FAILED(a, AMBIT_EINVAL, "5 is not a component order");
  ambit_close(a);
}

static void what_cannot_be_a_grid_is_refused(void)
{
  const int64_t zero[] = {4, 0}, huge[] = {INT64_MAX / 2, 4};
  ambit *a = open_on("ref");

  CHECK(!ambit_grid_create(a, 2, zero));
  CHECK_FAILED(a, AMBIT_EINVAL, "extent 1 of a grid is 0; it must be at least 1");
  CHECK(!ambit_grid_create(a, 2, huge));
  CHECK_FAILED(a, AMBIT_EINVAL, "its number of cells overflows");
  CHECK(!ambit_grid_create(a, 7, huge));
  CHECK_FAILED(a, AMBIT_EINVAL, "a grid of 7 dimensions was requested; it must have 1 to 6");
  ambit_close(a);
}

static void what_cannot_be_a_boundary_is_refused(void)
{
  ambit *a = open_on("ref");
  ambit_field *f = ambit_field_create(grid_1d(a, 4), "f", AMBIT_F32);

  ambit_field_boundary(f, AMBIT_LOW(0), (ambit_boundary)12, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "field 'f': 12 is not a kind of boundary");
  ambit_field_boundary(f, AMBIT_LOW(1), AMBIT_CLAMP, 0);
  CHECK_FAILED(a, AMBIT_EINVAL, "set at AMBIT_LOW(1), and the grid has 1 axis");
  CHECK_EQ(AMBIT_OK, ambit_field_boundary(f, AMBIT_ALL_FACES, AMBIT_CLAMP, 0));
  ambit_close(a);
}

static void an_axis_is_periodic_on_both_its_faces_or_on_none(void)
{
  EACH_DEVICE(device)
  {
    ambit *a = open_on(*device);
    ambit_grid *g = grid_1d(a, 4);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_field_boundary(u, AMBIT_LOW(0), AMBIT_PERIODIC, 0);
    ambit_field_boundary(u, AMBIT_HIGH(0), AMBIT_CLAMP, 0);
    ambit_apply(
        p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[-1] + u[1]; }"), u, v);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "field 'u' is periodic on one face of axis 0 only");
    ambit_field_boundary(u, AMBIT_HIGH(0), AMBIT_PERIODIC, 0);
    CHECK_EQ(AMBIT_OK, ambit_run(p, 1));
    ambit_close(a);
  }
}

/* The error for a grid that does not fit names one that does, of a reasonable size. */
static void an_absurd_grid_is_refused_with_the_largest_that_fits(void)
{
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

  EACH_DEVICE(device)
  for (int i = 0; i < 2; i++) { /* also one that is a cell wide */
    ambit *a = open_on(*device);
    ambit_grid *g = grid_2d(a, i ? 1000000000000 : 1000000, i ? 1 : 1000000);
    const char *words = "a grid of about ", *at, *told;
    const char *has[] = {"the device has ", "the free memory is "}; /* the smaller of the two */
    const char **had = has;
    double rows = 0, columns = 0, gib = 0;

    CHECK_OK(a);
    CHECK(!ambit_field_create(g, "huge", AMBIT_F64));
    CHECK_EQ(AMBIT_ENOMEM, ambit_error(a));
    at = strstr(ambit_error_text(a), words);
    CHECK_MSG(strstr(ambit_error_text(a), i ? "1000000000000x1 " : "1000000x1000000") &&
                  strstr(ambit_error_text(a), "'huge'"),
              "%s", ambit_error_text(a));
    CHECK_MSG(at && sscanf(at + strlen(words), "%lfx%lf", &rows, &columns) == 2, "%s",
              ambit_error_text(a));
    told = strstr(ambit_error_text(a), has[0]);
    if (!told) told = strstr(ambit_error_text(a), *++had);
    CHECK(told && sscanf(told + strlen(*had), "%lf GiB", &gib) == 1);
    CHECK_MSG(rows > 100 && columns >= 1 && rows * columns * 8 <= gib * 1024 * 1024 * 1024, "%s",
              ambit_error_text(a));
    if (!strcmp(*device, "cpu")) CHECK((gib - 0.01) * 1024 * 1024 * 1024 <= memory);
    ambit_close(a);
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_new_field_is_zero_and_knows_what_it_is", a_new_field_is_zero_and_knows_what_it_is},
      {"fill_gives_every_cell_the_value_of_its_index",
       fill_gives_every_cell_the_value_of_its_index},
      {"so_does_a_fill_by_several_threads", so_does_a_fill_by_several_threads},
      {"a_value_reaches_every_component_of_every_cell",
       a_value_reaches_every_component_of_every_cell},
      {"a_fill_uses_other_threads_only_if_asked_to", a_fill_uses_other_threads_only_if_asked_to},
      {"a_row_longer_than_a_piece_is_filled_whole", a_row_longer_than_a_piece_is_filled_whole},
      {"a_box_is_written_and_read_back_and_the_rest_stays",
       a_box_is_written_and_read_back_and_the_rest_stays},
      {"one_end_of_a_box_may_be_left_to_the_grid", one_end_of_a_box_may_be_left_to_the_grid},
      {"numbers_are_cut_to_the_type_of_the_field", numbers_are_cut_to_the_type_of_the_field},
      {"a_box_must_lie_within_the_grid", a_box_must_lie_within_the_grid},
      {"what_cannot_be_a_field_is_refused", what_cannot_be_a_field_is_refused},
      {"what_cannot_be_a_grid_is_refused", what_cannot_be_a_grid_is_refused},
      {"what_cannot_be_a_boundary_is_refused", what_cannot_be_a_boundary_is_refused},
      {"an_axis_is_periodic_on_both_its_faces_or_on_none",
       an_axis_is_periodic_on_both_its_faces_or_on_none},
      {"an_absurd_grid_is_refused_with_the_largest_that_fits",
       an_absurd_grid_is_refused_with_the_largest_that_fits},
      {NULL, NULL},
  };

  return test_main(argc, argv, tests);
}
