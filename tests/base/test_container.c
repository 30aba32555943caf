/* SPDX-License-Identifier: BSD-3-Clause */
/* Containers: what was written is read again, and damage is noticed. tests/io/check_hdf5.py reads
 * one with h5py. */
#define _XOPEN_SOURCE 700

#include "base/container.h"
#include "base/file.h"

#include "support/folder.h"
#include "support/told.h"

static const double numbers[2][3] = {{1, 2, 3}, {4, 5, 6}};
static const char words[] = "some words";

static void put_block(ambit__file *f, ambit__container *c, const char *name, const void *bytes)
{
  ambit__block *b = ambit__container_find(c, name);

  CHECK(b != NULL);
  if (!b) return;
  b->sum = ambit__block_sum(0, bytes, b->bytes);
  CHECK(!ambit__file_write_at(f, b->at, bytes, b->bytes));
}

static void write_container(const char *path)
{
  ambit__container c = {.serial = 7};
  ambit__file *f;
  char *head;
  size_t n;

  CHECK(ambit__container_add(&errors, &c, "words", AMBIT__BLOCK_TEXT, 1,
                             (int64_t[]){(int64_t)strlen(words)}) != NULL);
  CHECK(ambit__container_add(&errors, &c, "grid1/u", AMBIT_F64, 2, (int64_t[]){2, 3}) != NULL);
  CHECK(ambit__container_add(&errors, &c, "grid1/u", AMBIT_F64, 0, NULL) != NULL);
  CHECK(!ambit__container_place(&errors, &c));
  CHECK(!ambit__file_create(&errors, path, &f));
  CHECK(!ambit__file_extend(f, c.length));
  put_block(f, &c, "words", words);
  put_block(f, &c, "grid1/u", numbers);
  put_block(f, &c, "grid1/u#2", &numbers[1][2]);
  CHECK(!ambit__container_head(&errors, &c, &head, &n));
  CHECK(n <= c.blocks[0].at);
  CHECK(!ambit__file_write_at(f, 0, head, n));
  CHECK(!ambit__file_commit(f));
  free(head);
  ambit__container_free(&c);
}

static void a_container_is_read_as_it_was_written(void)
{
  const char *path = folder_path("c.h5");
  ambit__container c;
  const ambit__block *b;
  void *bytes;
  size_t n;

  write_container(path);
  CHECK_EQ(1, folder_files());
  CHECK_MSG(!ambit__container_read(&errors, path, &c), "%s", errors.text);
  CHECK_EQ(7, c.serial);
  CHECK_EQ(3, c.n);
  b = ambit__container_find(&c, "grid1/u");
  CHECK(b && b->type == AMBIT_F64 && b->ndims == 2 && b->extents[0] == 2 && b->extents[1] == 3);
  CHECK(!ambit__file_read_all(&errors, path, 1 << 20, &bytes, &n));
  if (b && bytes) {
    CHECK(!memcmp((char *)bytes + b->at, numbers, sizeof numbers));
    CHECK_EQ(b->sum, ambit__block_sum(0, (char *)bytes + b->at, b->bytes));
  }
  free(bytes);
  ambit__container_free(&c);
}
IN_FOLDER(a_container_is_read_as_it_was_written)

/* Every byte of the directory counts. */
static void a_damaged_directory_is_noticed(void)
{
  const char *path = folder_path("c.h5");
  ambit__container c;
  void *bytes;
  size_t n;

  write_container(path);
  CHECK(!ambit__container_read(&errors, path, &c));
  ambit__container_free(&c);
  CHECK(!ambit__file_read_all(&errors, path, 1 << 20, &bytes, &n));
  for (size_t at = 64; bytes && at < 64 + 300; at += 7) {
    FILE *f = fopen(path, "wb");

    ((unsigned char *)bytes)[at] ^= 1;
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    if (f) fclose(f);
    ((unsigned char *)bytes)[at] ^= 1;
    CHECK_MSG(ambit__container_read(&errors, path, &c) == AMBIT_EIO, "byte %zu", at);
    ambit__errors_clear(&errors);
  }
  free(bytes);
}
IN_FOLDER(a_damaged_directory_is_noticed)

static void a_file_that_is_cut_off_is_noticed(void)
{
  const char *path = folder_path("c.h5");
  ambit__container c;

  write_container(path);
  CHECK(!truncate(path, 4096));
  CHECK(ambit__container_read(&errors, path, &c));
  told(AMBIT_EIO, "too short");
  CHECK(!truncate(path, 10));
  CHECK(ambit__container_read(&errors, path, &c));
  told(AMBIT_EIO, "not a checkpoint");
}
IN_FOLDER(a_file_that_is_cut_off_is_noticed)

static void checksums_of_parts_add_up(void)
{
  unsigned char bytes[100];
  uint64_t sum;

  for (int i = 0; i < 100; i++)
    bytes[i] = (unsigned char)(i * i + 3);
  sum = ambit__block_sum(5, bytes, sizeof bytes);
  for (size_t cut = 0; cut <= sizeof bytes; cut++)
    CHECK_EQ(sum, ambit__block_sum(5, bytes, cut) +
                      ambit__block_sum(5 + cut, bytes + cut, sizeof bytes - cut));
  for (int i = 0; i < 800; i++) {
    bytes[i / 8] ^= (unsigned char)(1 << i % 8);
    CHECK(sum != ambit__block_sum(5, bytes, sizeof bytes));
    bytes[i / 8] ^= (unsigned char)(1 << i % 8);
  }
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"a_container_is_read_as_it_was_written", a_container_is_read_as_it_was_written_},
      {"a_damaged_directory_is_noticed", a_damaged_directory_is_noticed_},
      {"a_file_that_is_cut_off_is_noticed", a_file_that_is_cut_off_is_noticed_},
      {"checksums_of_parts_add_up", checksums_of_parts_add_up},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
