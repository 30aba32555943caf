/* SPDX-License-Identifier: BSD-3-Clause */
/* The HDF5 module: files whose values are written beside the library, read back through it. What
 * VTK and h5py make of such files: check_hdf5.py. */
#define _GNU_SOURCE /* memmem */
#include "base/container.h"
#include "base/file.h"
#include "io/hdf5.h"
#include "support/folder.h"
#include "support/told.h"

#define NEED_HDF5                                                                                  \
  if (ambit__h5_why_not()[0]) SKIP("%s", ambit__h5_why_not())

/* A file with some of everything. */
static void write_file(const char *path)
{
  static const float u[2][3] = {{1, 2, 3}, {4, 5, 6}};
  static const int64_t shape[] = {2, 3}, none[] = {0};
  static const double origin[] = {0.5, -1, 1e300};
  static const int32_t answer = 42;
  const uint16_t half[] = {ambit_half_encode(1.5), ambit_half_encode(-2)},
                 bfloat[] = {ambit_bfloat_encode(3), ambit_bfloat_encode(1e30)};
  const ambit__attribute attributes[] = {{"g", "Type", AMBIT__BLOCK_TEXT, 9, "ImageData"},
                                         {"g", "Origin", AMBIT_F64, 3, origin},
                                         {"g", "answer", AMBIT_I32, 1, &answer}};
  ambit__container c = {.attributes = attributes, .nattributes = 3};
  ambit__file *file;
  char *head = NULL;
  size_t n = 0;

  CHECK(ambit__container_add(&errors, &c, "g/u", AMBIT_F32, 2, shape));
  CHECK(ambit__container_add(&errors, &c, "g/half", AMBIT_F16, 1, shape));
  CHECK(ambit__container_add(&errors, &c, "g/bfloat", AMBIT_BF16, 1, shape));
  CHECK(ambit__container_add(&errors, &c, "g/none", AMBIT_U8, 1, none));
  CHECK(!ambit__container_place(&errors, &c) && !ambit__container_head(&errors, &c, &head, &n));
  CHECK(!ambit__file_create(&errors, path, &file));
  CHECK(!ambit__file_extend(file, c.length));
  CHECK(!ambit__file_write_at(file, 0, head, n));
  CHECK(!ambit__file_write_at(file, c.blocks[0].at, u, sizeof u));
  CHECK(!ambit__file_write_at(file, c.blocks[1].at, half, sizeof half));
  CHECK(!ambit__file_write_at(file, c.blocks[2].at, bfloat, sizeof bfloat));
  CHECK(!ambit__file_commit(file));
  free(head);
  ambit__container_free(&c);
}

static void values_written_beside_the_library_are_read_by_it(void)
{
  const char *path = folder_path("a.h5");
  static const int64_t lo[] = {1, 1}, count[] = {1, 2};
  ambit__h5_info info;
  float u[6], numbers[2];
  uint16_t half[2];
  ambit__h5 *h;

  NEED_HDF5;
  write_file(path);
  CHECK_EQ(1, folder_files());
  CHECK(!ambit__h5_open(&errors, path, &h));
  CHECK(!ambit__h5_inspect(h, "g/u", &info));
  CHECK(info.type == AMBIT_F32 && info.is_same && info.ndims == 2);
  CHECK(info.shape[0] == 2 && info.shape[1] == 3);
  CHECK(!ambit__h5_read(h, "g/u", AMBIT_F32, NULL, NULL, u));
  for (int i = 0; i < 6; i++)
    CHECK(u[i] == (float)(i + 1));
  CHECK(!ambit__h5_read(h, "g/u", AMBIT_F32, lo, count, u));
  CHECK(u[0] == 5 && u[1] == 6);
  CHECK(!ambit__h5_inspect(h, "g/half", &info) && info.type == AMBIT_F16 && info.is_same);
  CHECK(!ambit__h5_inspect(h, "g/bfloat", &info) && info.type == AMBIT_BF16 && info.is_same);
  CHECK(!ambit__h5_read(h, "g/half", AMBIT_F16, NULL, NULL, half));
  CHECK(half[0] == ambit_half_encode(1.5) && half[1] == ambit_half_encode(-2));
  CHECK(!ambit__h5_read(h, "g/bfloat", AMBIT_F32, NULL, NULL, numbers));
  CHECK(numbers[0] == 3 && (double)numbers[1] == ambit_bfloat_decode(ambit_bfloat_encode(1e30)));
  CHECK(!ambit__h5_inspect(h, "g/none", &info) && info.ndims == 1 && info.shape[0] == 0);
  ambit__h5_close(h);
}

static void attributes_are_texts_and_numbers(void)
{
  const char *path = folder_path("a.h5");
  double origin[3];
  size_t size = 0;
  void *bytes = NULL;
  int64_t answer;
  ambit__h5 *h;

  NEED_HDF5;
  write_file(path);
  CHECK(!ambit__h5_open(&errors, path, &h));
  CHECK(!ambit__file_read_all(&errors, path, 1 << 20, &bytes, &size));
  CHECK(memmem(bytes, size, "ImageData", 9)); /* tests of VTK and h5py read it */
  free(bytes);
  CHECK(!ambit__h5_get_numbers(h, "g", "Origin", AMBIT_F64, 3, origin));
  CHECK(origin[0] == 0.5 && origin[1] == -1 && origin[2] == 1e300);
  CHECK(!ambit__h5_get_numbers(h, "g", "answer", AMBIT_I64, 1, &answer) && answer == 42);
  CHECK(ambit__h5_has_attribute(h, "g", "Type") && !ambit__h5_has_attribute(h, "g", "type"));
  CHECK(!ambit__h5_has_attribute(h, "nowhere", "Type"));
  CHECK(ambit__h5_get_numbers(h, "g", "Origin", AMBIT_F64, 2, origin) == AMBIT_EIO);
  told(AMBIT_EIO, "a.h5: HDF5 cannot read the numbers of the attribute Origin");
  ambit__h5_close(h);
}

static void datasets_of_a_group_are_listed_by_name(void)
{
  const char *path = folder_path("a.h5");
  char name[AMBIT__H5_NAME], all[200] = "";
  ambit__h5 *h;

  NEED_HDF5;
  write_file(path);
  CHECK(!ambit__h5_open(&errors, path, &h));
  CHECK(ambit__h5_has(h, "g") && ambit__h5_has(h, "g/u") && ambit__h5_has(h, "/"));
  CHECK(!ambit__h5_has(h, "x") && !ambit__h5_has(h, "x/y"));
  for (int i = 0; ambit__h5_dataset_name(h, "g", i, name); i++)
    strcat(strcat(all, name), " ");
  CHECK_STR("bfloat half none u ", all);
  CHECK(!ambit__h5_dataset_name(h, "/", 0, name)); /* g is a group */
  ambit__h5_close(h);
}

static void failures_name_the_file_and_the_reason(void)
{
  const char *path = folder_path("not.h5");
  FILE *out = fopen(path, "w");
  ambit__h5 *h;

  NEED_HDF5;
  fputs("no HDF5", out);
  fclose(out);
  CHECK(ambit__h5_open(&errors, path, &h) == AMBIT_EIO && !h);
  told(AMBIT_EIO, "not.h5: HDF5 cannot open the file: ");
  CHECK(ambit__h5_open(&errors, folder_path("absent.h5"), &h) == AMBIT_EIO && !h);
  told(AMBIT_EIO, "No such file or directory");
}

IN_FOLDER(values_written_beside_the_library_are_read_by_it)
IN_FOLDER(attributes_are_texts_and_numbers)
IN_FOLDER(datasets_of_a_group_are_listed_by_name)
IN_FOLDER(failures_name_the_file_and_the_reason)

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"values_written_beside_the_library_are_read_by_it",
       values_written_beside_the_library_are_read_by_it_},
      {"attributes_are_texts_and_numbers", attributes_are_texts_and_numbers_},
      {"datasets_of_a_group_are_listed_by_name", datasets_of_a_group_are_listed_by_name_},
      {"failures_name_the_file_and_the_reason", failures_name_the_file_and_the_reason_},
      {NULL, NULL},
  };

  return test_main(argc, argv, cases);
}
