/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields in files, from any number of processes and parts: the same bytes as from one. An error on
 * one process is raised on all. */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "base/file.h"
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
static void load_again(const shape *s, const char *devices, const char *partition)
{
  ambit *a = open_with(devices, partition), *alone = open_alone();
  ambit_field *f = make(a, s), *want = make_full(alone, s);
  size_t bytes = ambit__field_cell_bytes(want) * (size_t)ambit__box_volume(&want->grid->box);
  void *x = calloc(1, bytes), *y = calloc(1, bytes);

  CHECK_EQ(AMBIT_OK, ambit_field_load(f, path_of("all.npy")));
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
    load_again(&shapes[i], "cpu*2", blocks(&shapes[i]));
    compare_saved(&shapes[i], "cpu*2", blocks(&shapes[i]), "npy");
    load_again(&shapes[i], "cpu", "auto");
  }
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
    CHECK_EQ(AMBIT_OK, ambit_file_inspect(a, path_of("z.asc"), &info));
    CHECK(info.ndims == 2 && info.extents[0] == 40 && info.extents[1] == 30 &&
          info.spacing[1] == 25);
    CHECK_EQ(AMBIT_OK, ambit_field_load(z, path_of("z.asc")));
    CHECK_EQ(AMBIT_OK, ambit_field_read(z, NULL, NULL, values));
    for (int i = 0; i < 40 * 30; i++)
      CHECK(i == 77 ? isinf(values[i]) : values[i] == (float)(i * 37 % 1000));
    CHECK_EQ(AMBIT_EIO, ambit_field_load(whole, path_of("z.asc")));
    CHECK_MSG(strstr(ambit_error_text(a), "no data for cell [2][17]"), "%s", ambit_error_text(a));
    ambit_error_clear(a);
    CHECK_EQ(AMBIT_EIO, ambit_file_inspect(a, path_of("none.asc"), &info));
    ambit_error_clear(a);
    CHECK_EQ(AMBIT_EINVAL, ambit_file_inspect(a, path_of("none.txt"), &info));
    CHECK_MSG(strstr(ambit_error_text(a), "end in .npy, .png, .hgt"), "%s", ambit_error_text(a));
    ambit_error_clear(a);
    CHECK_EQ(AMBIT_OK, ambit_close(a));
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
  static const char *const names[] = {"one.npy", "all.npy", "one.png", "all.png", "u.npy", "z.asc"};

  ambit__net_barrier(shared->net);
  for (size_t i = 0; !ambit_process(shared) && i < sizeof names / sizeof *names; i++)
    unlink(path_of(names[i]));
  if (!ambit_process(shared)) CHECK_EQ(0, rmdir(folder));
}

static const test_case tests[] = {
    {"arrays_are_the_same_from_any_number_of_parts", arrays_are_the_same_from_any_number_of_parts},
    {"pictures_are_the_same_from_any_number_of_parts",
     pictures_are_the_same_from_any_number_of_parts},
    {"elevations_are_loaded_into_any_number_of_parts",
     elevations_are_loaded_into_any_number_of_parts},
    {"what_cannot_be_saved_fails_on_all", what_cannot_be_saved_fails_on_all},
    {"a_folder_that_not_all_see_is_named_on_all", a_folder_that_not_all_see_is_named_on_all},
    {"a_file_of_another_shape_is_refused_on_all", a_file_of_another_shape_is_refused_on_all},
    {"processes_must_save_the_same", processes_must_save_the_same},
    {NULL, NULL}};

int main(int argc, char **argv)
{
  int bad;

  shared = ambit_open(NULL, NULL);
  make_folder();
  bad = test_main(argc, argv, tests);
  remove_folder();
  return (ambit_close(shared) != AMBIT_OK) | bad | (test_failures > 0);
}
