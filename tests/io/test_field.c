/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields in files, from any number of processes and parts: the same bytes as from one. An error on
 * one process is raised on all.
 *
 *   ./test_field --write folder   writes files of all types and dimensions for check_hdf5.py
 */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "base/file.h"
#include "io/hdf5.h"
#include "runtime/run/run.h"
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static ambit *shared;   /* all processes; for collective calls of tests */
static char folder[64]; /* for files; the same on all processes */

static ambit *open_with(const char *devices, const char *partition)
{
  char d[64], p[64], name[] = "test", *words[] = {name, d, p, NULL}, **argv = words;
  int argc = 3;
  ambit *a;

  snprintf(d, sizeof d, "--ambit-devices=%s", devices);
  snprintf(p, sizeof p, "--ambit-partition=%s", partition);
  a = ambit_open(&argc, &argv);
  ambit_on_error(a, NULL, NULL);
  return a;
}

/* A context of this process alone, with one part. */
static ambit *open_alone(void)
{
  char name[] = "test", off[] = "--ambit-mpi=off", *words[] = {name, off, NULL}, **argv = words;
  int argc = 2;

  return ambit_open(&argc, &argv);
}

static const char *path_of(const char *name)
{
  static char path[2][128];
  static int turn;

  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static double any_value(const int64_t *index, int component, void *user)
{
  const int ndims = *(const int *)user;
  double x = component + 1;

  for (int d = 0; d < ndims; d++)
    x = 7 * x + (double)index[d];
  return (double)((int64_t)x % 251) / 2;
}

typedef struct shape {
  int ndims;
  int64_t extents[3];
  ambit_type type;
  int components;
  ambit_order order;
} shape;

static const shape shapes[] = {
    {1, {37}, AMBIT_F32, 1, AMBIT_SOA},        {1, {3}, AMBIT_I16, 2, AMBIT_AOS},
    {2, {13, 17}, AMBIT_F64, 1, AMBIT_SOA},    {2, {13, 17}, AMBIT_U8, 3, AMBIT_SOA},
    {2, {130, 1100}, AMBIT_F64, 2, AMBIT_AOS}, {3, {5, 6, 7}, AMBIT_I32, 1, AMBIT_SOA},
    {3, {6, 5, 9}, AMBIT_F32, 3, AMBIT_AOS},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static ambit_field *make(ambit *a, const shape *s)
{
  return ambit_field_create_vector(ambit_grid_create(a, s->ndims, s->extents), "u", s->type,
                                   s->components, s->order);
}

static ambit_field *make_full(ambit *a, const shape *s)
{
  ambit_field *f = make(a, s);
  int ndims = s->ndims;

  ambit_field_fill(f, any_value, &ndims);
  return f;
}

static bool same_files(const char *one, const char *other)
{
  ambit__errors e = {0};
  size_t n = 0, m = 0;
  void *a = NULL, *b = NULL;
  bool same = !ambit__file_read_all(&e, one, 1 << 24, &a, &n) &&
              !ambit__file_read_all(&e, other, 1 << 24, &b, &m) && n == m && !memcmp(a, b, n);

  free(a);
  free(b);
  ambit__errors_clear(&e);
  return same;
}

/* Saves a shape from one process, and from all of them, and compares the files on process 0. */
static ambit_file_info inspect(ambit *a, const char *path)
{
  const ambit_file_info *info = ambit_file_inspect(a, path);

  CHECK_MSG(info, "%s", ambit_error_text(a));
  return info ? *info : (ambit_file_info){0};
}

static void compare_saved(const shape *s, const char *devices, const char *partition,
                          const char *kind)
{
  ambit *a = open_with(devices, partition);
  char one[32], all[32];

  snprintf(one, sizeof one, "one.%s", kind);
  snprintf(all, sizeof all, "all.%s", kind);
  if (!ambit_process(shared)) {
    ambit *alone = open_alone();

    CHECK_EQ(AMBIT_OK, ambit_field_save(make_full(alone, s), path_of(one)));
    ambit_close(alone);
  }
  ambit__net_barrier(shared->net);
  ambit_field_save(make_full(a, s), path_of(all));
  CHECK_MSG(!ambit_error(a), "%s", ambit_error_text(a));
  CHECK_MSG(same_files(path_of(one), path_of(all)), "%d dims, %s, %s, .%s", s->ndims, devices,
            partition, kind);
  ambit_close(a);
}

/* The same shape with another partition has the same values. */
static void load_again(const shape *s, const char *devices, const char *partition, const char *file)
{
  ambit *a = open_with(devices, partition), *alone = open_alone();
  ambit_field *f = make(a, s), *want = make_full(alone, s);
  size_t bytes = ambit__field_cell_bytes(want) * (size_t)ambit__box_volume(&want->grid->box);
  void *x = calloc(1, bytes), *y = calloc(1, bytes);

  CHECK_EQ(AMBIT_OK, ambit_field_load(f, path_of(file)));
  CHECK_EQ(AMBIT_OK, ambit_field_read(f, NULL, NULL, x));
  CHECK_EQ(AMBIT_OK, ambit_field_read(want, NULL, NULL, y));
  CHECK_MSG(!memcmp(x, y, bytes), "%d dims, %s, %s: %s", s->ndims, devices, partition,
            ambit_error_text(a));
  free(x);
  free(y);
  ambit_close(alone);
  ambit_close(a);
}

/* Two blocks along each of two axes, if possible. */
static const char *blocks(const shape *s)
{
  if (ambit_processes(shared) != 2 || s->ndims == 1) return "auto";
  return s->ndims == 2 ? "2x2" : "1x2x2";
}

static void arrays_are_the_same_from_any_number_of_parts(void)
{
  for (int i = 0; i < SHAPES; i++) {
    compare_saved(&shapes[i], "cpu", "auto", "npy");
    load_again(&shapes[i], "cpu*2", blocks(&shapes[i]), "all.npy");
    compare_saved(&shapes[i], "cpu*2", blocks(&shapes[i]), "npy");
    load_again(&shapes[i], "cpu", "auto", "all.npy");
  }
}

static void hdf5_files_are_the_same_from_any_number_of_parts(void)
{
  static const char *const kinds[][2] = {{"h5", "all.h5"}, {"vtkhdf", "all.vtkhdf"}};

  if (ambit__h5_why_not()[0]) SKIP("%s", ambit__h5_why_not());
  for (int i = 0; i < 2 * SHAPES; i++) {
    const shape *s = &shapes[i / 2];

    compare_saved(s, "cpu*2", blocks(s), kinds[i % 2][0]);
    load_again(s, "cpu", "auto", kinds[i % 2][1]);
  }
}

/* Sparse grids: inactive cells have their value. */
static int in_ring(const int64_t *i, void *user)
{
  const int64_t y = i[0] - 20, x = i[1] - 30;

  (void)user;
  return x * x + y * y < 300 && x * x + y * y > 60;
}

static void sparse_fields_are_saved_and_loaded_with_hdf5(void)
{
  ambit *a = open_with("cpu", "auto");
  ambit_grid *g = ambit_grid_create_sparse(a, 2, (int64_t[]){40, 60}, in_ring, NULL);
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v", AMBIT_F32);
  static float x[40][60], y[40][60];
  int ndims = 2;

  if (!ambit__h5_why_not()[0]) {
    ambit_field_boundary(u, AMBIT_INACTIVE, AMBIT_CONSTANT, -7);
    ambit_field_boundary(v, AMBIT_INACTIVE, AMBIT_CONSTANT, -7);
    ambit_field_fill(u, any_value, &ndims);
    CHECK_EQ(AMBIT_OK, ambit_field_save(u, path_of("all.vtkhdf")));
    CHECK_EQ(AMBIT_OK, ambit_field_load(v, path_of("all.vtkhdf")));
    ambit_field_read(u, NULL, NULL, x);
    ambit_field_read(v, NULL, NULL, y);
    CHECK(!memcmp(x, y, sizeof x) && x[0][0] == -7 && x[20][40] != -7);
  }
  CHECK_MSG(!ambit_close(a), "see above");
  if (ambit__h5_why_not()[0]) SKIP("%s", ambit__h5_why_not());
}

/* Fields of 16 bits are float in .vtkhdf, and come back. */
static void halves_are_saved_exactly(void)
{
  static const ambit_type types[] = {AMBIT_F16, AMBIT_BF16};
  static const char *const files[] = {"all.vtkhdf", "all.h5"};

  if (ambit__h5_why_not()[0]) SKIP("%s", ambit__h5_why_not());
  for (int i = 0; i < 4; i++) {
    ambit *a = open_with("cpu", "auto");
    ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){13, 17});
    ambit_field *u = ambit_field_create_vector(g, "u", types[i % 2], 2, AMBIT_SOA),
                *v = ambit_field_create_vector(g, "v", types[i % 2], 2, AMBIT_AOS);
    uint16_t x[13][17][2], y[13][17][2];
    int ndims = 2;

    ambit_field_fill(u, any_value, &ndims);
    CHECK_EQ(AMBIT_OK, ambit_field_save(u, path_of(files[i / 2])));
    CHECK_EQ(AMBIT_OK, ambit_field_load(v, path_of(files[i / 2]))); /* the only dataset */
    ambit_field_read(u, NULL, NULL, x);
    ambit_field_read(v, NULL, NULL, y);
    CHECK_MSG(!memcmp(x, y, sizeof x), "%s: %s", files[i / 2], ambit_error_text(a));
    ambit_close(a);
  }
}

static void several_fields_share_a_file(void)
{
  ambit *a = open_with("cpu", "auto");
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){13, 17});
  ambit_field *u = ambit_field_create(g, "u", AMBIT_F32),
              *v = ambit_field_create(g, "v/x", AMBIT_F64),
              *w = ambit_field_create(g, "w", AMBIT_F64);
  ambit_field *other = ambit_field_create(ambit_grid_create(a, 1, (int64_t[]){9}), "o", AMBIT_F32);
  double x[13][17];
  ambit_file_info info;

  if (ambit__h5_why_not()[0]) goto done;
  ambit_field_set(u, 1);
  ambit_field_set(v, 2);
  ambit_grid_geometry(g, (double[]){1, 2}, (double[]){0.5, 0.25});
  CHECK_EQ(AMBIT_OK, ambit_grid_save(g, path_of("all.vtkhdf"), 2, (ambit_field *[]){u, v}));
  info = inspect(a, path_of("all.vtkhdf"));
  CHECK(info.ndims == 2 && info.extents[0] == 13 && info.extents[1] == 17);
  CHECK(info.spacing[0] == 0.5 && info.spacing[1] == 0.25 && info.type == AMBIT_F32);
  ambit_field_set(v, 3);
  CHECK_EQ(AMBIT_OK, ambit_field_load(v, path_of("all.vtkhdf")));
  ambit_field_read(v, NULL, NULL, x);
  CHECK(x[12][16] == 2);
  CHECK_EQ(AMBIT_EIO, ambit_field_load(w, path_of("all.vtkhdf")));
  CHECK_MSG(strstr(ambit_error_text(a), "has the datasets u, v_x"), "%s", ambit_error_text(a));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_EINVAL, ambit_grid_save(g, path_of("all.h5"), 2, (ambit_field *[]){u, other}));
  CHECK_MSG(strstr(ambit_error_text(a), "on another grid"), "%s", ambit_error_text(a));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_EINVAL, ambit_grid_save(g, path_of("all.h5"), 2, (ambit_field *[]){u, u}));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_EINVAL, ambit_grid_save(g, path_of("all.npy"), 2, (ambit_field *[]){u, v}));
  ambit_error_clear(a);
done:
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  if (ambit__h5_why_not()[0]) SKIP("%s", ambit__h5_why_not());
}

/* ---- for check_hdf5.py ---- */

static double whole_value(const int64_t *index, int component, void *user)
{
  const int ndims = *(const int *)user;
  int64_t x = component + 1;

  for (int d = 0; d < ndims; d++)
    x = 7 * x + index[d];
  return (double)(x % 251);
}

static void write_one(ambit *a, const char *into, int ndims, ambit_type type, int components)
{
  static const int64_t extents[] = {5, 4, 3, 2, 3, 2};
  static const double origin[] = {10, 20, 30, 40, 50, 60}, spacing[] = {0.5, 0.25, 2, 1, 1, 1};
  ambit_grid *g = ambit_grid_create(a, ndims, extents);
  ambit_field *f = ambit_field_create_vector(g, "u", type, components, AMBIT_SOA);
  char path[512];

  ambit_grid_geometry(g, origin, spacing);
  ambit_field_fill(f, whole_value, &ndims);
  for (int kind = ndims > 3; kind < 2; kind++) {
    snprintf(path, sizeof path, "%s/%d-%d-%d.%s", into, ndims, (int)type, components,
             kind ? "h5" : "vtkhdf");
    ambit_field_save(f, path);
  }
  ambit_grid_destroy(g);
}

static int write_samples(const char *into)
{
  ambit *a = ambit_open(NULL, NULL);
  ambit_grid *g;
  ambit_field *f[2];
  char path[512];
  int ndims = 2;

  for (int d = 1; d <= AMBIT_MAX_DIMS; d++)
    for (int type = 0; type <= AMBIT_BF16; type++)
      for (int components = 1; components <= 3; components += 2)
        write_one(a, into, d, (ambit_type)type, components);
  g = ambit_grid_create_sparse(a, 2, (int64_t[]){40, 60}, in_ring, NULL);
  f[0] = ambit_field_create(g, "u", AMBIT_F32);
  f[1] = ambit_field_create(g, "v", AMBIT_I64);
  ambit_field_fill(f[0], whole_value, &ndims);
  ambit_field_fill(f[1], whole_value, &ndims);
  snprintf(path, sizeof path, "%s/sparse.vtkhdf", into);
  ambit_grid_save(g, path, 2, f);
  return ambit_close(a) != AMBIT_OK;
}

static void pictures_are_the_same_from_any_number_of_parts(void)
{
#ifdef AMBIT_HAVE_PNG
  for (int i = 0; i < SHAPES; i++)
    compare_saved(&shapes[i], "cpu*2", blocks(&shapes[i]), "png");
#else
  SKIP("built without libpng");
#endif
}

/* 40 x 30 elevations, with a hole, in any number of parts. */
static void elevations_are_loaded_into_any_number_of_parts(void)
{
#ifdef AMBIT_ELEVATION
  static const int64_t extents[] = {40, 30};
  ambit_file_info info;

  for (int parts = 1; parts <= 2; parts++) {
    ambit *a = open_with(parts == 1 ? "cpu" : "cpu*2", "auto");
    ambit_field *z = ambit_field_create(ambit_grid_create(a, 2, extents), "z", AMBIT_F32);
    ambit_field *whole = ambit_field_create(ambit_grid_create(a, 2, extents), "n", AMBIT_I16);
    float values[40 * 30];

    if (parts == 1 && !ambit_process(shared)) {
      FILE *out = fopen(path_of("z.asc"), "w");

      fprintf(out, "ncols 30\nnrows 40\ncellsize 25\n");
      for (int i = 0; i < 40 * 30; i++)
        fprintf(out, "%d ", i == 77 ? -9999 : i * 37 % 1000);
      fclose(out);
    }
    ambit__net_barrier(shared->net);
    info = inspect(a, path_of("z.asc"));
    CHECK(info.ndims == 2 && info.extents[0] == 40 && info.extents[1] == 30 &&
          info.spacing[1] == 25);
    CHECK_EQ(AMBIT_OK, ambit_field_load(z, path_of("z.asc")));
    CHECK_EQ(AMBIT_OK, ambit_field_read(z, NULL, NULL, values));
    for (int i = 0; i < 40 * 30; i++)
      CHECK(i == 77 ? isinf(values[i]) : values[i] == (float)(i * 37 % 1000));
    CHECK_EQ(AMBIT_EIO, ambit_field_load(whole, path_of("z.asc")));
    CHECK_MSG(strstr(ambit_error_text(a), "no data for cell [2][17]"), "%s", ambit_error_text(a));
    ambit_error_clear(a);
    CHECK(!ambit_file_inspect(a, path_of("none.asc")));
    CHECK_EQ(AMBIT_EIO, ambit_error(a));
    ambit_error_clear(a);
    CHECK(!ambit_file_inspect(a, path_of("none.txt")));
    CHECK_EQ(AMBIT_EINVAL, ambit_error(a));
    CHECK_MSG(strstr(ambit_error_text(a), "end in .npy, .png, .hgt"), "%s", ambit_error_text(a));
    ambit_error_clear(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
  }
#else
  SKIP("built without elevation files");
#endif
}

/* A NumPy file of one float, with this shape. */
static const char *save_header(const char *size)
{
  const char *path = path_of("h.npy");
  FILE *out = ambit_process(shared) ? NULL : fopen(path, "wb");

  if (out) {
    fprintf(out, "%cNUMPY%c%c%c%c{'descr': '<f4', 'fortran_order': False, 'shape': %-12s}\n", 0x93,
            1, 0, 64, 0, size);
    fwrite("\0\0\0", 1, 4, out);
    fclose(out);
  }
  ambit__net_barrier(shared->net);
  return path;
}

static void arrays_that_are_no_field_are_not_inspected(void)
{
  static const struct {
    const char *shape, *words;
  } arrays[] = {{"()", "is a single value"}, {"(0,)", "axis 0 is 0"}, {"(3, 0)", "axis 1 is 0"}};

  for (int i = 0; i < 3; i++) {
    ambit *a = open_with("cpu", "auto");
    ambit_file_info info;

    info = inspect(a, save_header("(1,)"));
    CHECK(info.ndims == 1 && info.extents[0] == 1);
    CHECK(!ambit_file_inspect(a, save_header(arrays[i].shape)));
    CHECK_EQ(AMBIT_EIO, ambit_error(a));
    CHECK_MSG(strstr(ambit_error_text(a), arrays[i].words), "%s", ambit_error_text(a));
    ambit_close(a);
  }
}

/* Files of the folder with this ending. */
static int count_files(const char *tail)
{
  DIR *d = opendir(folder);
  int n = 0;

  for (struct dirent *e; d && (e = readdir(d));) {
    const size_t length = strlen(e->d_name), m = strlen(tail);

    n += length >= m && !strcmp(e->d_name + length - m, tail);
  }
  if (d) closedir(d);
  return n;
}

static void what_cannot_be_saved_fails_on_all(void)
{
  ambit *a = open_with("cpu", "auto");
  ambit_field *f = make_full(a, &shapes[2]);

  CHECK_EQ(AMBIT_EIO, ambit_field_save(f, path_of("missing/u.npy")));
  CHECK_MSG(strstr(ambit_error_text(a), "cannot create"), "%s", ambit_error_text(a));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_EINVAL, ambit_field_save(f, path_of("u.gif")));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_EIO, ambit_field_load(f, path_of("missing.npy")));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_OK, ambit_field_save(f, path_of("u.npy"))); /* and all processes can continue */
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

/* The last process is in another folder, as if on another machine. */
static void a_folder_that_not_all_see_is_named_on_all(void)
{
  ambit *a = open_with("cpu", "auto");
  const int last = ambit_processes(a) - 1;
  ambit_field *f = make_full(a, &shapes[2]);
  char here[512];

  if (last > 0 && getcwd(here, sizeof here)) {
    CHECK_EQ(0, chdir(ambit_process(a) == last ? "/" : folder));
    CHECK_EQ(AMBIT_EIO, ambit_field_save(f, "apart.npy"));
    CHECK_MSG(strstr(ambit_error_text(a), "shared by all processes"), "%s", ambit_error_text(a));
    ambit__net_barrier(shared->net);
    CHECK_EQ(0, count_files(".tmp"));
    CHECK_EQ(0, count_files("apart.npy"));
    CHECK_EQ(0, chdir(here));
    ambit_error_clear(a);
  }
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void a_file_of_another_shape_is_refused_on_all(void)
{
  ambit *a = open_with("cpu", "auto");
  ambit_field *f = make_full(a, &shapes[2]), *other = make(a, &shapes[5]);

  CHECK_EQ(AMBIT_OK, ambit_field_save(f, path_of("u.npy")));
  CHECK_EQ(AMBIT_EIO, ambit_field_load(other, path_of("u.npy")));
  CHECK_MSG(strstr(ambit_error_text(a), "double"), "%s", ambit_error_text(a));
  ambit_error_clear(a);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void processes_must_save_the_same(void)
{
  ambit *a = open_with("cpu", "auto");
  ambit_field *f = make_full(a, &shapes[2]);

  if (ambit_processes(a) > 1) {
    CHECK_EQ(AMBIT_EPROGRAM, ambit_field_save(f, ambit_process(a) ? "b.npy" : "a.npy"));
    CHECK_MSG(strstr(ambit_error_text(a), "process 1") && strstr(ambit_error_text(a), "b.npy"),
              "%s", ambit_error_text(a));
    ambit_error_clear(a);
  }
  CHECK_EQ(AMBIT_OK, ambit_close(a));
}

static void make_folder(void)
{
  const char *tmp = getenv("TMPDIR");

  snprintf(folder, sizeof folder, "%.40s/ambit-field-XXXXXX", tmp && *tmp ? tmp : "/tmp");
  if (!ambit_process(shared) && !mkdtemp(folder)) folder[0] = '\0';
  ambit__net_broadcast(shared->net, 0, folder, sizeof folder);
}

static void remove_folder(void)
{
  static const char *const names[] = {"one.npy", "all.npy",    "one.png",   "all.png",
                                      "u.npy",   "h.npy",      "z.asc",     "one.h5",
                                      "all.h5",  "one.vtkhdf", "all.vtkhdf"};

  ambit__net_barrier(shared->net);
  for (size_t i = 0; !ambit_process(shared) && i < sizeof names / sizeof *names; i++)
    unlink(path_of(names[i]));
  if (!ambit_process(shared)) CHECK_EQ(0, rmdir(folder));
}

static const test_case tests[] = {
    {"arrays_are_the_same_from_any_number_of_parts", arrays_are_the_same_from_any_number_of_parts},
    {"hdf5_files_are_the_same_from_any_number_of_parts",
     hdf5_files_are_the_same_from_any_number_of_parts},
    {"sparse_fields_are_saved_and_loaded_with_hdf5", sparse_fields_are_saved_and_loaded_with_hdf5},
    {"halves_are_saved_exactly", halves_are_saved_exactly},
    {"several_fields_share_a_file", several_fields_share_a_file},
    {"pictures_are_the_same_from_any_number_of_parts",
     pictures_are_the_same_from_any_number_of_parts},
    {"elevations_are_loaded_into_any_number_of_parts",
     elevations_are_loaded_into_any_number_of_parts},
    {"arrays_that_are_no_field_are_not_inspected", arrays_that_are_no_field_are_not_inspected},
    {"what_cannot_be_saved_fails_on_all", what_cannot_be_saved_fails_on_all},
    {"a_folder_that_not_all_see_is_named_on_all", a_folder_that_not_all_see_is_named_on_all},
    {"a_file_of_another_shape_is_refused_on_all", a_file_of_another_shape_is_refused_on_all},
    {"processes_must_save_the_same", processes_must_save_the_same},
    {NULL, NULL}};

int main(int argc, char **argv)
{
  int bad;

  if (argc == 3 && !strcmp(argv[1], "--write")) return write_samples(argv[2]);
  shared = ambit_open(NULL, NULL);
  make_folder();
  bad = test_main(argc, argv, tests);
  remove_folder();
  return (ambit_close(shared) != AMBIT_OK) | bad | (test_failures > 0);
}
