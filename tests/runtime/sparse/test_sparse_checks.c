/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse grids with the options that check launches. Random programs with them are in random/
 * (--sparse --checked). */
#include "runtime/run/run.h"
#include "runtime/sparse/ring.h"

/* Reads of inactive cells, clamped and tested, and reads beyond faces; in iteration 3 a NaN. */
#define STAR "0.25f * (u[0][-1][0] + u[1][1][0] + u[0][0][-2] + (outside(0, 1) ? 3 : u[1][0][1]))"

static const char star[] = "void star(const float *u[2], float *v[2])\n"
                           "{\n"
                           "  *v[0] = " STAR ";\n"
                           "  *v[1] = 1;\n"
                           "  if (step() == 3 && index(0) > 14 && index(1) > 40)\n"
                           "    *v[1] = (*u[1] - *u[1]) / (*u[1] - *u[1]);\n"
                           "}\n";

/* Two fields on the annulus; u has values. */
typedef struct scene {
  ambit *a;
  ambit_grid *g;
  ambit_field *u, *v;
  ambit_program *p;
} scene;

static scene set_up(const char *device, const char *storage, const char *nan)
{
  scene s = {.a = open_on(device)};

  ambit_option_set(s.a, "nan", nan);
  ambit_option_set(s.a, "strict", "1");
  ambit_option_set(s.a, "storage", storage);
  s.g = ring(s.a);
  s.u = ambit_field_create_vector(s.g, "u", AMBIT_F32, 2, AMBIT_AOS);
  s.v = ambit_field_create_vector(s.g, "v", AMBIT_F32, 2, AMBIT_AOS);
  ambit_field_boundary(s.u, AMBIT_AXIS(0), AMBIT_PERIODIC, 0);
  ambit_field_boundary(s.u, AMBIT_AXIS(1), AMBIT_CONSTANT, 1);
  ambit_field_boundary(s.u, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
  ambit_field_fill(s.u, ramp, NULL);
  s.p = ambit_program_create(s.g);
  ambit_apply(s.p, ambit_kernel_create(s.a, star), s.u, s.v);
  ambit_swap(s.p, s.u, s.v);
  return s;
}

/* Checks the error message and closes the context. */
static void expect(scene *s, const char *words)
{
  CHECK_FAILED(s->a, AMBIT_EPROGRAM, words);
  ambit_close(s->a);
}

/* Devices, parts and storages: those that compile slowly have one storage in make check. */
typedef struct variant {
  const char *device, *storage;
} variant;

static bool next_variant(int *i, variant *v)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*3", "opencl", "opencl*2", "cuda"};
  static const char *const storages[] = {"runs", "list"};
  enum { DEVICES = sizeof devices / sizeof *devices, STORAGES = 2 };

  for (; *i < DEVICES * STORAGES; ++*i) {
    char name[16];

    *v = (variant){devices[*i / STORAGES], storages[*i % STORAGES]};
    snprintf(name, sizeof name, "%.*s", (int)strcspn(v->device, "*"), v->device);
    if (!device_is_here(name)) continue;
    if (compiles_slowly(name) && !test_takes(*i + test_number, 6)) continue;
    ++*i;
    return true;
  }
  return false;
}

#define EACH_VARIANT(v)                                                                            \
  variant v;                                                                                       \
  for (int i = 0; next_variant(&i, &v);)

/* ---- NaN ---- */

/* Neither inactive cells nor those beyond faces count as never set. */
static void a_nan_is_told_by_the_cell_of_the_box(void)
{
  static float want[N][M][2], got[N][M][2];
  scene plain = set_up("ref", "runs", "0");

  CHECK_EQ(AMBIT_OK, ambit_run(plain.p, 3));
  ambit_field_read(plain.u, NULL, NULL, want);
  ambit_close(plain.a);
  EACH_VARIANT(v)
  {
    scene s = set_up(v.device, v.storage, "1");

    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 3));
    CHECK_OK(s.a);
    ambit_field_read(s.u, NULL, NULL, got);
    CHECK_MSG(!memcmp(want, got, sizeof want), "%s %s", v.device, v.storage);
    ambit_run(s.p, 3);
    expect(&s,
           "kernel:6:5: error: kernel star writes NaN to component 1 of field 'v' at cell [15][43] "
           "in iteration 3\n"
           "    *v[1] = (*u[1] - *u[1]) / (*u[1] - *u[1]);\n"
           "    ^~~~~\n"
           "  no value read for it is NaN: this arithmetic produced it");
  }
}

/* A read that clamps stands for one of the cell itself, which the text of the kernel does not have.
 */
static void the_read_that_gave_a_nan_is_told(void)
{
  EACH_VARIANT(v)
  {
    scene s = set_up(v.device, v.storage, "1");
    const float none[2] = {NAN, 1};

    ambit_field_write(s.u, AMBIT_INDEX(12, 5), AMBIT_INDEX(13, 6), none);
    ambit_run(s.p, 1);
    CHECK_FAILED(s.a, AMBIT_EPROGRAM,
                 "kernel:3:3: error: kernel star writes NaN to component 0 of field 'v' at cell "
                 "[12][7] in iteration 0\n    *v[0] = " STAR ";\n    ^~~~~\n"
                 "  an input is NaN: component 0 of field 'u' at offset [0][-2], cell [12][5]");
    ambit_field_fill(s.u, ramp, NULL);
    ambit_field_write(s.u, AMBIT_INDEX(12, 3), AMBIT_INDEX(13, 4), none);
    ambit_run(s.p, 1);
    expect(&s, "field 'v' at cell [12][3] in iteration");
  }
}

/* ---- cells that were never set ---- */

static int in_half(const int64_t *i, void *user)
{
  (void)user;
  return i[1] < M / 2;
}

static void new_cells_are_not_set(void)
{
  EACH_DEVICE(d)
  {
    scene s = set_up(*d, "auto", "1");

    CHECK_EQ(AMBIT_OK, ambit_run(s.p, 1));
    ambit_grid_activate(s.g, in_half, NULL);
    ambit_run(s.p, 1);
    expect(&s,
           "an input is NaN: component 0 of field 'u' at offset [-1][0], cell [-1][0], which was "
           "never set");
  }
}

/* ---- order ---- */

enum { LARGE = 400 };

static int behind_first_row(const int64_t *i, void *user)
{
  (void)user;
  return i[0] > 0;
}

static double one(const int64_t *i, int component, void *user)
{
  (void)i, (void)component, (void)user;
  return 1;
}

/* Threads of a GPU have cells of several tiles (grid/assignment.h), so later ones may be lower. */
static void of_several_cells_the_first_is_told(void)
{
  static const char text[] = "void k(float *u)\n"
                             "{\n"
                             "  if (index(1) < 128 ? index(0) % 16 == 15 : index(0) == 1)\n"
                             "    *u = 0 / (*u - 1);\n"
                             "}\n";

  for (const char *const *d = devices_here(); *d; d++) {
    const int64_t extents[] = {LARGE, LARGE};
    ambit_grid *g;
    ambit_field *u;
    ambit_program *p;
    ambit *a;

    if (!strcmp(*d, "ref") || !strcmp(*d, "cpu")) continue; /* in the order of rows */
    a = open_on(*d);
    ambit_option_set(a, "nan", "1");
    ambit_option_set(a, "storage", "runs");
    g = ambit_grid_create_sparse(a, 2, extents, behind_first_row, NULL);
    u = ambit_field_create(g, "u", AMBIT_F32);
    p = ambit_program_create(g);
    ambit_field_fill(u, one, NULL);
    ambit_apply(p, ambit_kernel_create(a, text), u);
    ambit_run(p, 1);
    CHECK_FAILED(a, AMBIT_EPROGRAM, "writes NaN to field 'u' at cell [1][128] in iteration 0");
    ambit_close(a);
  }
}

/* ---- parts that would be too large ---- */

enum { HIGH = 240, WIDE = 100 };

static int in_rows(const int64_t *i, void *user)
{
  return i[0] < *(const int64_t *)user && (7 * i[0] + i[1]) % 5 != 0;
}

/* Iterations while activity grows. Returns the number of parts that the grid has then. The second
 * program reads so far that fields are stored anew. */
static int grow(const char *device, const char *storage, int64_t most, double *values)
{
  static const char *const rules[] = {
      "void near(const double *u, double *v) { *v = 0.25 * (u[-1][0] + u[1][0] + u[0][1]) + 1; }",
      "void far(const double *u, double *v) { *v = 0.5 * (u[-2][0] + u[0][-7]); }"};
  const int64_t extents[] = {HIGH, WIDE}, limit = ambit__active_most;
  int64_t rows = 30;
  ambit *a = open_on(device);
  ambit_field *u, *v;
  ambit_grid *g;
  int nparts;

  ambit__active_most = most;
  ambit_option_set(a, "strict", "1");
  ambit_option_set(a, "storage", storage);
  if (!strcmp(device, "cpu*2")) ambit_option_set(a, "weights", "1,2");
  g = ambit_grid_create_sparse(a, 2, extents, in_rows, &rows);
  u = ambit_field_create(g, "u", AMBIT_F64);
  v = ambit_field_create(g, "v", AMBIT_F64);
  for (int k = 0; k < 2; k++) {
    ambit_field_boundary(k ? v : u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_boundary(k ? v : u, AMBIT_INACTIVE, AMBIT_CLAMP, 0);
  }
  ambit_field_fill(u, ramp, NULL);
  for (int k = 0; k < 2; k++) {
    ambit_program *p = ambit_program_create(g);

    ambit_apply(p, ambit_kernel_create(a, rules[k]), u, v);
    ambit_swap(p, u, v);
    for (rows = k ? HIGH : 30; rows <= HIGH; rows += 70) {
      ambit_grid_activate(g, in_rows, &rows);
      ambit_run(p, 2);
    }
  }
  CHECK_OK(a);
  ambit_field_read(u, NULL, NULL, values);
  nparts = g ? g->nparts : -1;
  ambit_close(a);
  ambit__active_most = limit;
  return nparts;
}

static void activity_that_grows_makes_more_parts(void)
{
  static double want[HIGH * WIDE], got[HIGH * WIDE];
  const int64_t most = ambit__active_most;

  CHECK_EQ(1, grow("ref", "auto", most, want));
  CHECK(grow("cpu", "runs", 10000, got) > 3);
  CHECK(!memcmp(want, got, sizeof got));
  CHECK_EQ(2, grow("cpu*2", "list", most, got));
  CHECK_EQ(4, grow("cpu*2", "list", 9000, got));
  CHECK(!memcmp(want, got, sizeof got));
  for (const char *const *d = devices_here(); *d; d++) {
    if (!strcmp(*d, "ref") || !strcmp(*d, "cpu")) continue;
    if (compiles_slowly(*d) && !test_takes(1, 2)) continue;
    CHECK(grow(*d, "runs", 10000, got) > 3);
    CHECK(!memcmp(want, got, sizeof got));
  }
}

/* Cells that are almost alone, or all. */
static int in_columns(const int64_t *i, void *user)
{
  return *(const int *)user || i[1] % 20 == 3;
}

/* All cells take 24,000 positions in a list and 31,000 in runs, which are faster. */
static void auto_takes_no_storage_whose_parts_are_too_large(void)
{
  for (int i = 0; i < 2; i++) {
    const int64_t extents[] = {HIGH, WIDE}, limit = ambit__active_most;
    ambit *a = open_on("cpu");
    int all = 0;
    ambit_grid *g = ambit_grid_create_sparse(a, 2, extents, in_columns, &all);
    ambit_field *u = ambit_field_create(g, "u", AMBIT_F32);
    ambit_field *v = ambit_field_create(g, "v", AMBIT_F32);
    ambit_program *p = ambit_program_create(g);

    ambit_field_boundary(u, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
    ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, 0);
    ambit_apply(p, ambit_kernel_create(a, "void k(const float *u, float *v) { *v = u[1][1]; }"), u,
                v);
    ambit_run(p, 1);
    CHECK_EQ(STORAGE_LIST, g->active->storage);
    if (i) ambit__active_most = 27500;
    all = 1;
    ambit_grid_activate(g, in_columns, &all);
    ambit_run(p, 1);
    CHECK_OK(a);
    CHECK_EQ(i ? STORAGE_LIST : STORAGE_RUNS, g->active->storage);
    CHECK_EQ(1, g->nparts);
    ambit_close(a);
    ambit__active_most = limit;
  }
}

/* ---- accesses ---- */

#ifdef AMBIT_ACCESS_CHECKS
static scene set_up_access(const char *device, const char *storage)
{
  scene s = set_up(device, storage, "0");

  ambit_option_set(s.a, "check", "1");
  CHECK_EQ(AMBIT_OK, ambit__program_seal(s.p));
  return s;
}

/* A chunk with an active cell above its first one; its indices. */
static int64_t find_chunk(const scene *s, const ambit__chunks *c, int64_t *cell)
{
  int64_t k = 0;

  for (; k < c->n; k++) {
    cell[0] = c->first[k] / M - 1;
    cell[1] = c->first[k] % M;
    if (cell[0] >= 0 && ambit__active_has(s->g->active, cell)) break;
  }
  cell[0]++;
  CHECK(k < c->n);
  return k;
}

/* The table leads to the cell beside the one that is read. */
static void a_wrong_distance_in_a_table_is_found(void)
{
  EACH_VARIANT(v)
  {
    scene s = set_up_access(v.device, v.storage);
    const ambit__apply *a = &s.p->applies[0];
    const ambit__chunks *c;
    int64_t cell[2], k;
    char words[200];
    int column = 0;

    if (!ambit__can(s.a->engines[0].device->backend, ghosts) || s.g->nparts > 1) {
      ambit_close(s.a);
      continue;
    }
    CHECK_EQ(AMBIT_OK, ambit__apply_chunks(s.p, a, 0, &a->region, &c));
    k = find_chunk(&s, c, cell);
    while (a->form.columns[column].offset[0] != -1 || !a->form.columns[column].reads)
      column++;
    c->table[k * c->words + AMBIT__CHUNK_COLUMN + column]++;
    snprintf(words, sizeof words,
             "kernel star reads component 0 of field 'u' at offset [-1][0] from cell [%d][%d] in "
             "iteration 0: that is cell [%d][%d], and not at the position",
             (int)cell[0], (int)cell[1], (int)cell[0] - 1, (int)cell[1]);
    ambit_run(s.p, 1);
    expect(&s, words);
  }
}

/* A halo that lacks the layer beyond the cut. */
static void a_halo_that_is_not_kept_is_found(void)
{
  scene s = set_up_access("cpu*2", "runs");
  const ambit__box own = s.g->parts[0];
  const ambit__field_halo *h = ambit__halos_find(&s.p->halos, s.u);

  for (int i = 0; i < h->nslices; i++)
    for (int d = 0; d < 2; d++)
      if (own.hi[d] < s.g->box.hi[d]) h->slices[i].halo.reaches[0].reach.hi[d] = own.hi[d];
  ambit_run(s.p, 1);
  expect(&s, "outside the part's stored cells, [");
}
#endif

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"a_nan_is_told_by_the_cell_of_the_box", a_nan_is_told_by_the_cell_of_the_box},
      {"the_read_that_gave_a_nan_is_told", the_read_that_gave_a_nan_is_told},
      {"new_cells_are_not_set", new_cells_are_not_set},
      {"of_several_cells_the_first_is_told", of_several_cells_the_first_is_told},
      {"activity_that_grows_makes_more_parts", activity_that_grows_makes_more_parts},
      {"auto_takes_no_storage_whose_parts_are_too_large",
       auto_takes_no_storage_whose_parts_are_too_large},
#ifdef AMBIT_ACCESS_CHECKS
      {"a_wrong_distance_in_a_table_is_found", a_wrong_distance_in_a_table_is_found},
      {"a_halo_that_is_not_kept_is_found", a_halo_that_is_not_kept_is_found},
#endif
      {NULL, NULL},
  };

  return test_main(argc, argv, cases);
}
