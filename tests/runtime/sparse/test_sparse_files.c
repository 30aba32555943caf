/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of fields on sparse grids, and sparse grids from masks. */
#define _XOPEN_SOURCE 700
#include "io/frames.h"
#include "io/npy.h"
#include "runtime/sparse/ring.h"
#include "support/folder.h"

static void files_are_dense_with_a_fill_value(void)
{
  ambit *a = open_on("cpu");
  ambit_grid *g = ring(a), *dense = grid_2d(a, N, M);
  ambit_field *f = ambit_field_create(g, "f", AMBIT_F32),
              *h = ambit_field_create(g, "h", AMBIT_F32);
  ambit_field *d = ambit_field_create(dense, "d", AMBIT_F32);
  static float got[N][M], all[N][M];

  if (!folder_make()) return;
  ambit_field_boundary(f, AMBIT_INACTIVE, AMBIT_NONE, 9);
  ambit_field_fill(f, ramp, NULL);
  ambit_field_save(f, folder_path("ring.npy"));
  ambit_field_load(d, folder_path("ring.npy"));
  ambit_field_load(h, folder_path("ring.npy"));
  ambit_field_read(d, NULL, NULL, all);
  ambit_field_read(h, NULL, NULL, got);
  for (int64_t i = 0; i < N; i++)
    for (int64_t j = 0; j < M; j++) {
      const int64_t at[] = {i, j};

      CHECK_EQ((float)(in_ring(at, NULL) ? ramp(at, 0, NULL) : 9) == all[i][j], 1);
      CHECK_EQ((float)(in_ring(at, NULL) ? ramp(at, 0, NULL) : 0) == got[i][j], 1);
    }
#ifdef AMBIT_HAVE_PNG
  ambit_field_save(f, folder_path("ring.png"));
  CHECK_EQ(2, folder_files());
#else
  CHECK_EQ(1, folder_files());
#endif
  CHECK_OK(a);
  folder_remove();
  ambit_close(a);
}

typedef struct record {
  int64_t index[2];
  float value[2];
} record;

/* The records of a list of two axes and components; the caller frees them. */
static record *read_list(const char *path, int64_t *n)
{
  ambit__errors errors = {0};
  ambit__npy_info info;
  ambit__npy_reader *r;
  record *list = NULL;

  CHECK(!ambit__npy_open_any(&errors, path, &info, &r));
  CHECK(info.axes == 2 && info.values == 2 && info.bytes == (size_t)info.shape[0] * sizeof *list);
  list = malloc(info.bytes);
  CHECK(list && !ambit__npy_next(r, list, info.bytes));
  ambit__npy_close(r);
  *n = info.shape[0];
  return list;
}

static void write_list(const char *path, const record *list, int64_t n)
{
  const ambit__npy_info form = {
      .type = AMBIT_F32, .ndims = 1, .shape = {n}, .axes = 2, .values = 2};
  ambit__errors errors = {0};
  ambit__file *npy;

  CHECK(!ambit__npy_create(&errors, path, &form, &npy));
  CHECK(!ambit__file_write(npy, list, (size_t)n * sizeof *list));
  CHECK(!ambit__file_commit(npy));
}

/* Whether a field has the ramp in the ring, and a number elsewhere. */
static void check_ring(ambit_field *f, float elsewhere)
{
  static float got[N][M][2];

  ambit_field_read(f, NULL, NULL, got);
  for (int64_t c = 0; c < (int64_t)N * M * 2; c++) {
    const int64_t at[] = {c / 2 / M, c / 2 % M};
    const float want = in_ring(at, NULL) ? (float)ramp(at, (int)(c % 2), NULL) : elsewhere;

    CHECK(got[at[0]][at[1]][c % 2] == want);
  }
}

/* The list is in the order of cells, and may be loaded in any: also by a dense grid, which keeps
 * the values of other cells. A list of all cells gives a sparse grid its own. */
static void check_list(const char *devices)
{
  ambit *a = open_on(devices);
  ambit_field *f = ambit_field_create_vector(ring(a), "f", AMBIT_F32, 2, AMBIT_SOA);
  ambit_field *d = ambit_field_create_vector(grid_2d(a, N, M), "d", AMBIT_F32, 2, AMBIT_AOS);
  record *list;
  int64_t n;

  ambit_field_fill(f, ramp, NULL);
  ambit_field_save(f, folder_path("ring.cells.npy"));
  list = read_list(folder_path("ring.cells.npy"), &n);
  CHECK_EQ(count_ring(), n);
  for (int64_t i = 0; i < n; i++) {
    CHECK(list[i].value[0] == (float)ramp(list[i].index, 0, NULL));
    if (i) CHECK(list[i].value[0] > list[i - 1].value[0]);
  }
  for (int64_t i = 0; i < n / 2; i++) {
    const record other = list[i];

    list[i] = list[n - 1 - i];
    list[n - 1 - i] = other;
  }
  write_list(folder_path("reversed.npy"), list, n);
  ambit_field_set(d, -1);
  ambit_field_load(d, folder_path("reversed.npy"));
  check_ring(d, -1);
  ambit_field_fill(d, ramp, NULL);
  ambit_field_save(d, folder_path("all.cells.npy"));
  ambit_field_set(f, 5);
  ambit_field_load(f, folder_path("all.cells.npy"));
  check_ring(f, 0);
  CHECK_OK(a);
  list[n / 2].index[1] = M;
  write_list(folder_path("wrong.npy"), list, n);
  ambit_field_load(f, folder_path("wrong.npy"));
  CHECK_FAILED(a, AMBIT_EIO, "outside the grid");
  free(list);
  ambit_close(a);
}

static void files_may_be_lists_of_cells(void)
{
  static const char *const devices[] = {"ref", "cpu", "cpu*3"};
  ambit *a = open_on("cpu");

  if (!folder_make()) return;
  for (int i = 0; i < 3; i++)
    check_list(devices[i]);
  ambit_field_load(ambit_field_create(ring(a), "one", AMBIT_F32), folder_path("ring.cells.npy"));
  CHECK_FAILED(a, AMBIT_EIO, "2 axes with 2 values each");
  CHECK(!ambit_grid_load_sparse(a, folder_path("ring.cells.npy")));
  CHECK_FAILED(a, AMBIT_EIO, "a list of cells");
  folder_remove();
  ambit_close(a);
}

static double ring_or_not(const int64_t *i, int component, void *user)
{
  (void)component;
  return in_ring(i, user) ? 0.25 : 0;
}

/* A picture of one cell, with transparency, as image editors write them. */
static bool write_transparent(const char *path)
{
  static const char bytes[] =
      "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00"
      "\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00"
      "\x0b\x49\x44\x41\x54\x78\x9c\x63\xf8\x0f\x04\x00\x09\xfb\x03\xfd\xfb\x5e"
      "\x6b\x2b\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";
  FILE *f = fopen(path, "wb");
  const bool done = f && fwrite(bytes, 1, sizeof bytes - 1, f) == sizeof bytes - 1;

  return f && !fclose(f) && done;
}

/* The same cells from a field, an array and a picture of it. */
static void masks_are_fields_arrays_and_pictures(void)
{
  ambit *a = open_on("cpu");
  ambit_field *mask = ambit_field_create(grid_2d(a, N, M), "mask", AMBIT_F32);
  const ambit__frame_form form = {.nplanes = 1, .width = {M}, .height = {N}, .bytes = N * M};
  static uint8_t pixels[N][M];
  const unsigned char *const planes[] = {&pixels[0][0]};
  ambit__errors errors = {0};
  ambit_field *wrong;
  ambit_grid *grids[4] = {NULL, NULL, NULL, NULL};
  int n = 2;

  if (!folder_make()) return;
  ambit_field_fill(mask, ring_or_not, NULL);
  ambit_field_save(mask, folder_path("mask.npy"));
  grids[0] = ambit_grid_create_masked(mask);
  grids[1] = ambit_grid_load_sparse(a, folder_path("mask.npy"));
  for (int64_t c = 0; c < (int64_t)N * M; c++)
    pixels[c / M][c % M] = in_ring((const int64_t[]){c / M, c % M}, NULL) ? 9 : 0;
  if (!ambit__png_write_frame(&errors, folder_path("mask.png"), &form, NULL, planes))
    grids[n++] = ambit_grid_load_sparse(a, folder_path("mask.png"));
  if (n == 3 && !ambit_field_save(mask, folder_path("drawn.png"))) /* enlarged, and in colours */
    grids[n++] = ambit_grid_load_sparse(a, folder_path("drawn.png"));
  CHECK_OK(a);
  for (int k = 0; k < n; k++) {
    ambit_field *f = ambit_field_create(grids[k], "f", AMBIT_U8);
    static uint8_t got[N][M];

    ambit_field_set(f, 1);
    ambit_field_read(f, NULL, NULL, got);
    for (int64_t i = 0; i < N; i++)
      for (int64_t j = 0; j < M; j++)
        CHECK_EQ(in_ring((const int64_t[]){i, j}, NULL), got[i][j]);
  }
  CHECK(!ambit_grid_load_sparse(a, folder_path("mask.txt")));
  CHECK_FAILED(a, AMBIT_EINVAL, "must end in .npy or .png");
  CHECK(!ambit_grid_load_sparse(a, folder_path("none.npy")));
  CHECK_FAILED(a, AMBIT_EIO, "none.npy");
  ambit_field_save(
      ambit_field_create_vector(ambit_grid_create(a, 6, (const int64_t[]){1, 1, 1, 1, 1, 1}),
                                "pairs", AMBIT_U8, 2, AMBIT_SOA),
      folder_path("pairs.npy"));
  CHECK(!ambit_grid_load_sparse(a, folder_path("pairs.npy")));
  CHECK_FAILED(a, AMBIT_EIO, "pairs.npy has 7 axes; the mask of a grid has 1 to 6");
  if (n > 3) {
    ambit_field_save(ambit_field_create(grid_2d(a, 8, 3000), "wide", AMBIT_U8),
                     folder_path("drawn.png"));
    CHECK(!ambit_grid_load_sparse(a, folder_path("drawn.png")));
    CHECK_FAILED(a, AMBIT_EIO, "means of several cells");
    CHECK(write_transparent(folder_path("clear.png")));
    CHECK(!ambit_grid_load_sparse(a, folder_path("clear.png")));
    CHECK_FAILED(a, AMBIT_EUNSUPPORTED, "is transparent; a picture to read is opaque");
  }
  wrong = ambit_field_create(ambit_grid_create(a, 1, (const int64_t[]){1000}), "line", AMBIT_I16);
  CHECK_EQ(0, ambit_grid_cells(ambit_grid_create_masked(wrong)));
  CHECK(!ambit_grid_create_masked(NULL));
  CHECK_OK(a);
  folder_remove();
  ambit__errors_clear(&errors);
  ambit_close(a);
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"files_are_dense_with_a_fill_value", files_are_dense_with_a_fill_value},
      {"files_may_be_lists_of_cells", files_may_be_lists_of_cells},
      {"masks_are_fields_arrays_and_pictures", masks_are_fields_arrays_and_pictures},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
