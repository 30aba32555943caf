/* SPDX-License-Identifier: BSD-3-Clause */
/* NumPy files: exact bytes on writing, all valid files on reading, and a clear error for others.
 *
 *   ./test_npy --write folder   writes one file per type for check_npy.py
 *   ./test_npy --read file...   prints the files as read, for the same
 */
#define _XOPEN_SOURCE 700

#include "io/npy.h"

#include "base/file.h"
#include "support/folder.h"
#include "support/told.h"

static ambit_status begin(const char *path, ambit_type type, int ndims, const int64_t *shape,
                          ambit__file **out)
{
  ambit__npy_info form = {.type = type, .ndims = ndims};

  memcpy(form.shape, shape, (size_t)ndims * sizeof *shape);
  return ambit__npy_create(&errors, path, &form, out);
}

static ambit_status write_array(const char *path, ambit_type type, int ndims, const int64_t *shape,
                                const void *data, size_t bytes)
{
  ambit__file *n;

  AMBIT_TRY(begin(path, type, ndims, shape, &n));
  if (ambit__file_write(n, data, bytes / 3)) return ambit__file_abort(n), errors.status;
  if (ambit__file_write(n, (const char *)data + bytes / 3, bytes - bytes / 3))
    return ambit__file_abort(n), errors.status;
  return ambit__file_commit(n);
}

/* Reads a whole array. */
static ambit_status read_array(const char *path, ambit__npy_info *info, void **data)
{
  ambit__npy_reader *r;
  ambit_status s;

  *data = NULL;
  AMBIT_TRY(ambit__npy_open(&errors, path, info, &r));
  *data = calloc(info->bytes ? info->bytes : 1, 1);
  s = *data ? ambit__npy_next(r, *data, info->bytes) : AMBIT_ENOMEM;
  ambit__npy_close(r);
  if (s) {
    free(*data);
    *data = NULL;
  }
  return s;
}

/* ---- writing ---- */

static void a_small_array_is_written_to_the_byte(void)
{
  static const char head[] = "\x93NUMPY\x01\x00\x76\x00"
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  static const float values[] = {1, 2, 3, 4, 5, 6};
  const char *path = folder_path("a.npy");
  void *got;
  size_t size;

  CHECK(!write_array(path, AMBIT_F32, 2, (int64_t[]){2, 3}, values, sizeof values));
  CHECK(!ambit__file_read_all(&errors, path, 1000, &got, &size));
  CHECK_EQ(128 + sizeof values, size);
  if (!got || size != 128 + sizeof values) return;
  CHECK(!memcmp(got, head, sizeof head - 1));
  for (size_t i = sizeof head - 1; i < 127; i++)
    CHECK_EQ(' ', ((char *)got)[i]);
  CHECK_EQ('\n', ((char *)got)[127]);
  CHECK(!memcmp((char *)got + 128, values, sizeof values));
  free(got);
}

static void every_type_and_shape_comes_back(void)
{
  static const int64_t shape[] = {2, 1, 3, 1, 2, 1, 2};
  unsigned char values[24 * 8];

  for (size_t i = 0; i < sizeof values; i++)
    values[i] = (unsigned char)(i * 37 % 120);
  for (int type = 0; type <= AMBIT_F16; type++) /* NumPy has no bfloat */
    for (int ndims = 0; ndims <= AMBIT__NPY_DIMS; ndims++) {
      const char *path = folder_path("a.npy");
      size_t bytes = ambit_type_size((ambit_type)type);
      ambit__npy_info info;
      void *got;

      for (int d = 0; d < ndims; d++)
        bytes *= (size_t)shape[d];
      CHECK(!write_array(path, (ambit_type)type, ndims, shape, values, bytes));
      CHECK_MSG(!read_array(path, &info, &got), "%s", errors.text);
      CHECK(info.type == (ambit_type)type && info.ndims == ndims && info.bytes == bytes);
      CHECK(!memcmp(info.shape, shape, (size_t)ndims * sizeof *shape));
      CHECK(info.offset % 64 == 0 && !info.swapped);
      CHECK(got && !memcmp(got, values, bytes));
      free(got);
    }
}

static void the_largest_header_fits(void)
{
  static const int64_t shape[] = {0,         INT64_MAX, INT64_MAX, INT64_MAX,
                                  INT64_MAX, INT64_MAX, INT64_MAX};
  const char *path = folder_path("a.npy");
  ambit__npy_info info;

  CHECK(!write_array(path, AMBIT_U8, 7, shape, "", 0));
  CHECK(!ambit__npy_read_header(&errors, path, &info));
  CHECK(info.ndims == 7 && info.shape[6] == INT64_MAX && info.bytes == 0);
}

static void impossible_arrays_are_refused(void)
{
  static const int64_t huge[] = {INT64_MAX, INT64_MAX}, negative[] = {-1};
  const char *path = folder_path("a.npy");
  ambit__file *n;

  CHECK(begin(path, AMBIT_F32, 2, huge, &n) && !n);
  told(AMBIT_EINVAL, "exceeds memory");
  CHECK(begin(path, AMBIT_F32, 1, negative, &n) && !n);
  told(AMBIT_EINVAL, "negative");
  CHECK(begin(folder_path("no/a.npy"), AMBIT_F32, 1, (int64_t[]){1}, &n) && !n);
  told(AMBIT_EIO, "No such file");
  CHECK_EQ(0, folder_files());
}

/* ---- reading ---- */

/* A file of version `major` with this dictionary and these bytes of values. */
static const char *make_file(int major, const char *header, const char *values, size_t bytes)
{
  const char *path = folder_path("made.npy");
  size_t length = strlen(header);
  unsigned char head[12] = "\x93NUMPY";
  FILE *out = fopen(path, "wb");

  head[6] = (unsigned char)major;
  for (int i = 0; i < 4; i++)
    head[8 + i] = (unsigned char)(length >> 8 * i);
  fwrite(head, 1, major == 1 ? 10 : 12, out);
  fwrite(header, 1, length, out);
  if (bytes) fwrite(values, 1, bytes, out);
  fclose(out);
  return path;
}

static void check_read(int major, const char *header, const char *values, size_t bytes,
                       ambit_type type, const char *want)
{
  ambit__npy_info info;
  void *got;

  CHECK_MSG(!read_array(make_file(major, header, values, bytes), &info, &got), "%s", errors.text);
  ambit__errors_clear(&errors);
  if (!got) return;
  CHECK_MSG(info.type == type, "%s", header);
  CHECK_MSG(!memcmp(got, want, info.bytes), "%s", header);
  free(got);
}

static void headers_of_every_version_and_spelling_are_read(void)
{
  static const char v[] = "\x01\x02\x03\x04\x05\x06\x07\x08";

  check_read(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (4,), }\n", v, 8, AMBIT_I16, v);
  check_read(2, "{'descr': '<i2', 'fortran_order': False, 'shape': (4,), }\n", v, 8, AMBIT_I16, v);
  check_read(3, "{'descr': '<i2', 'fortran_order': False, 'shape': (4,), }\n", v, 8, AMBIT_I16, v);
  check_read(1, "{\"shape\":(2,2L),\"fortran_order\":False,\"descr\":\"|u1\"}", v, 4, AMBIT_U8, v);
  check_read(1, " { 'shape' : ( ) , 'fortran_order' : False , 'descr' : '<i8' } ", v, 8, AMBIT_I64,
             v);
  check_read(1, "{'descr': '=i4', 'fortran_order': True, 'shape': (2,), }", v, 8, AMBIT_I32, v);
  check_read(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", v, 8, AMBIT_U8, v);
}

static void the_other_byte_order_is_turned(void)
{
  static const char v[] = "\x01\x02\x03\x04\x05\x06\x07\x08";

  check_read(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (4,), }", v, 8, AMBIT_I16,
             "\x02\x01\x04\x03\x06\x05\x08\x07");
  check_read(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", v, 8, AMBIT_F32,
             "\x04\x03\x02\x01\x08\x07\x06\x05");
  check_read(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (), }", v, 8, AMBIT_F64,
             "\x08\x07\x06\x05\x04\x03\x02\x01");
}

static void refuse(const char *words, const char *header)
{
  static const char values[64];
  ambit__npy_info info;
  void *got;

  CHECK(read_array(make_file(1, header, values, sizeof values), &info, &got) && !got);
  told(AMBIT_EIO, words);
}

static void other_kinds_of_arrays_are_refused_with_advice(void)
{
  refuse("Ambit reads f4, f8, i4, u1, i2, i8, b1, f2, u2, u4, u8: convert",
         "{'descr': '<c8', 'fortran_order': False, 'shape': (2, 2), }");
  refuse("ascontiguousarray", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }");
  refuse("the type '<c16'", "{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }");
  refuse("astype", "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }");
  refuse("the type ''", "{'descr': '', 'fortran_order': False, 'shape': (2,), }");
  refuse("the type 'f4'", "{'descr': 'f4', 'fortran_order': False, 'shape': (2,), }");
  refuse("records", "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,), }");
  refuse("more than 7 dimensions",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1), }");
}

/* Two cells of two axes with a half and three values each. */
static const ambit__npy_info list_form = {
    .type = AMBIT_I16, .ndims = 1, .shape = {2}, .axes = 2, .values = 3};
static const struct {
  int64_t index[2];
  int16_t value[3];
} __attribute__((packed)) list_records[2] = {{{4, -1}, {1, 2, 3}}, {{1, 7}, {4, 5, 6}}};

static ambit_status write_list(const char *path)
{
  ambit__file *n;

  AMBIT_TRY(ambit__npy_create(&errors, path, &list_form, &n));
  ambit__file_write(n, list_records, sizeof list_records);
  return ambit__file_commit(n);
}

static void lists_of_cells_come_back(void)
{
  static const char head[] =
      "{'descr': [('index', '<i8', (2,)), ('value', '<i2', (3,))], 'fortran_order': False, ";
  const char *path = folder_path("a.cells.npy");
  ambit__npy_reader *r;
  ambit__npy_info info;
  unsigned char got[sizeof list_records];
  size_t size;
  void *all;

  CHECK(!write_list(path));
  CHECK(!ambit__npy_open_any(&errors, path, &info, &r));
  CHECK(info.axes == 2 && info.values == 3 && info.type == AMBIT_I16 && info.shape[0] == 2);
  CHECK_EQ(sizeof list_records, info.bytes);
  CHECK(!ambit__npy_next(r, got, sizeof got) && !memcmp(got, list_records, sizeof got));
  ambit__npy_close(r);
  CHECK(!ambit__file_read_all(&errors, path, 1000, &all, &size));
  CHECK(all && !memcmp((char *)all + 10, head, sizeof head - 1));
  free(all);
  CHECK(ambit__npy_open(&errors, path, &info, &r) && !r);
  told(AMBIT_EIO, "a list of cells");
}

static void other_records_are_refused(void)
{
  static const char *const records[][2] = {
      {"an 'index' of i8", "[('value', '<f4'), ('index', '<i8')]"},
      {"an 'index' of i8", "[]"},
      {"of the type i8", "[('index', '<i4', (2,)), ('value', '<f4')]"},
      {"of the type i8", "[('index', '<i8', (9,)), ('value', '<f4')]"},
      {"the other byte order", "[('index', '>i8', (2,)), ('value', '<f4')]"},
      {"the other byte order", "[('index', '<i8', (2,)), ('value', '>f4')]"},
      {"records of 0 values", "[('index', '<i8', (2,)), ('value', '<f4', (0,))]"},
      {"expected one size", "[('index', '<i8', (2, 2)), ('value', '<f4')]"},
      {"a shape in parentheses", "[('index', '<i8', 2), ('value', '<f4')]"},
      {"the end of a record", "[('index', '<i8'), ('value', '<f4'), ('more', '<f4')]"},
      {"expected a comma", "[('index', '<i8')]"},
      {"expected a parenthesis", "[('index', '<i8', (2,)]"},
  };

  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    char header[200];

    snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': (1,), }",
             records[i][1]);
    refuse(records[i][0], header);
  }
  refuse(
      "one dimension",
      "{'descr': [('index', '<i8'), ('value', '|u1')], 'fortran_order': False, 'shape': (1, 2)}");
}

static void broken_headers_are_refused(void)
{
  static const char *const broken[] = {
      "",
      "{",
      "{}",
      "[]",
      "{'descr'",
      "{'descr'}",
      "{'descr':",
      "{'descr': '",
      "{'descr': '<f4",
      "{'descr': '<f4'",
      "{'descr': '<f4' 'shape': (1,)}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
      "{'colour': 1, 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 1, }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
      "{'descr': '<f4', 'shape': (1,), }",
      "{'a key that is much too long for this': 1}",
  };

  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
    refuse("invalid NumPy header", broken[i]);
}

static void sizes_that_lie_are_found_out(void)
{
  refuse("requires 4000 bytes of values, but it has 64",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (1000,), }");
  refuse("requires 4000000000000000000 bytes",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }");
  refuse("exceeds memory",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }");
  refuse("exceeds memory",
         "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,), }");
}

/* Every file truncated at every byte. */
static void a_file_cut_anywhere_is_refused(void)
{
  static const float values[] = {1, 2, 3, 4};
  const char *path = folder_path("whole.npy"), *cut = folder_path("cut.npy");
  void *data;
  size_t size;

  CHECK(!write_array(path, AMBIT_F32, 1, (int64_t[]){4}, values, sizeof values));
  CHECK(!ambit__file_read_all(&errors, path, 1000, &data, &size));
  for (size_t n = 0; n < size; n++) {
    FILE *out = fopen(cut, "wb");
    ambit__npy_info info;
    void *got;

    fwrite(data, 1, n, out);
    fclose(out);
    CHECK(read_array(cut, &info, &got) == AMBIT_EIO && !got);
    told(AMBIT_EIO, "cut.npy");
  }
  free(data);
}

/* Every byte of the header changed to some others: any result but a crash is correct. */
static void damaged_headers_never_crash(void)
{
  static const unsigned char others[] = {0, '(', '\'', '9', 'L', '}', 0x80, 0xff};
  static const float values[] = {1, 2, 3, 4};
  const char *path = folder_path("whole.npy"), *bad = folder_path("bad.npy");
  int read = 0, refused = 0;
  unsigned char *data;
  void *whole;
  size_t size;

  CHECK(!write_array(path, AMBIT_F32, 1, (int64_t[]){4}, values, sizeof values));
  CHECK(!ambit__file_read_all(&errors, path, 1000, &whole, &size));
  data = whole;
  for (size_t i = 0; i < 128; i++)
    for (size_t j = 0; j < sizeof others; j++) {
      unsigned char old = data[i];
      FILE *out = fopen(bad, "wb");
      ambit__npy_info info;
      void *got;

      data[i] = others[j];
      fwrite(data, 1, size, out);
      fclose(out);
      data[i] = old;
      if (read_array(bad, &info, &got))
        refused++;
      else
        read++;
      free(got);
      ambit__errors_clear(&errors);
    }
  CHECK(refused > 300 && read > 100); /* padding may hold any bytes */
  free(whole);
}

static void files_that_are_not_numpy_are_refused(void)
{
  ambit__npy_info info;
  void *got;
  FILE *out = fopen(folder_path("a.png"), "wb");

  fputs("\x89PNG\r\n\x1a\n and so on", out);
  fclose(out);
  CHECK(read_array(folder_path("a.png"), &info, &got) && !got);
  told(AMBIT_EIO, "is not a NumPy file");
  CHECK(read_array(folder_path("none.npy"), &info, &got) && !got);
  told(AMBIT_EIO, "No such file");
  CHECK(read_array(NULL, &info, &got) && !got);
  told(AMBIT_EIO, "cannot open");
  CHECK(read_array(folder, &info, &got) && !got);
  told(AMBIT_EIO, "cannot read");
  CHECK(read_array(make_file(7, "{}", NULL, 0), &info, &got) && !got);
  told(AMBIT_EIO, "version 7.0");
}

static void a_file_is_read_in_pieces(void)
{
  static const int32_t values[] = {1, 2, 3, 4, 5};
  const char *path = folder_path("a.npy");
  ambit__npy_reader *r;
  ambit__npy_info info;
  int32_t got[5] = {0};

  CHECK(!write_array(path, AMBIT_I32, 1, (int64_t[]){5}, values, sizeof values));
  CHECK(!ambit__npy_open(&errors, path, &info, &r));
  CHECK(!ambit__npy_next(r, got, 8));
  CHECK(!ambit__npy_next(r, got + 2, 12));
  CHECK(!memcmp(got, values, sizeof got));
  ambit__npy_close(r);
  ambit__npy_close(NULL);
}

static void values_are_read_from_anywhere_in_either_byte_order(void)
{
  static const char v[] = "\x01\x02\x03\x04\x05\x06\x07\x08";
  const char *path =
      make_file(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (4,), }", v, 8);
  ambit__npy_reader *r;
  ambit__npy_info info;
  char got[4];

  CHECK(!ambit__npy_open(&errors, path, &info, &r));
  CHECK(info.seekable);
  CHECK(!ambit__npy_get(r, 4, got, 4));
  CHECK(!memcmp(got, "\x06\x05\x08\x07", 4));
  CHECK(!ambit__npy_get(r, 0, got, 2));
  CHECK(!memcmp(got, "\x02\x01", 2));
  ambit__npy_close(r);
}

/* ---- for check_npy.py ---- */

static int write_samples(const char *to)
{
  char list[500];
  static const int64_t shape[] = {2, 3};
  static const float f4[] = {0, -1.5f, 3e30f, 1e-40f, 5, 6};
  static const double f8[] = {0, -1.5, 3e300, 1e-310, 5, 6};
  static const int32_t i4[] = {0, -1, INT32_MAX, INT32_MIN, 5, 6};
  static const uint8_t u1[] = {0, 1, 2, 128, 255, 6};
  static const int16_t i2[] = {0, -1, INT16_MAX, INT16_MIN, 5, 6};
  static const int64_t i8[] = {0, -1, INT64_MAX, INT64_MIN, 5, 6};
  static const uint16_t f2[] = {0, 0xbe00, 0x7bff, 1, 0x4500, 0x4600};
  const struct {
    const char *name;
    ambit_type type;
    const void *data;
  } samples[] = {{"f4", AMBIT_F32, f4}, {"f8", AMBIT_F64, f8}, {"i4", AMBIT_I32, i4},
                 {"u1", AMBIT_U8, u1},  {"i2", AMBIT_I16, i2}, {"i8", AMBIT_I64, i8},
                 {"f2", AMBIT_F16, f2}};

  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    char path[500];

    snprintf(path, sizeof path, "%s/%s.npy", to, samples[i].name);
    if (write_array(path, samples[i].type, 2, shape, samples[i].data,
                    6 * ambit_type_size(samples[i].type)))
      return fprintf(stderr, "%s\n", errors.text), 1;
  }
  snprintf(list, sizeof list, "%s/list.cells.npy", to);
  return write_list(list) != AMBIT_OK;
}

/* One line per file: type, shape, and the bytes in hexadecimal; or "refused" and the reason. */
static void print_file(const char *path)
{
  ambit__npy_info info;
  void *data;

  if (read_array(path, &info, &data)) {
    printf("refused %s\n", errors.text);
    ambit__errors_clear(&errors);
    return;
  }
  printf("%s (", ambit_type_name(info.type));
  for (int d = 0; d < info.ndims; d++)
    printf("%lld,", (long long)info.shape[d]);
  printf(") ");
  for (size_t i = 0; i < info.bytes; i++)
    printf("%02x", ((unsigned char *)data)[i]);
  printf("\n");
  free(data);
}

static int python_mode(int argc, char **argv)
{
  if (!strcmp(argv[1], "--write")) return argc < 3 || write_samples(argv[2]);
  for (int i = 2; i < argc; i++)
    print_file(argv[i]);
  return 0;
}

IN_FOLDER(a_small_array_is_written_to_the_byte)
IN_FOLDER(every_type_and_shape_comes_back)
IN_FOLDER(the_largest_header_fits)
IN_FOLDER(impossible_arrays_are_refused)
IN_FOLDER(headers_of_every_version_and_spelling_are_read)
IN_FOLDER(the_other_byte_order_is_turned)
IN_FOLDER(other_kinds_of_arrays_are_refused_with_advice)
IN_FOLDER(lists_of_cells_come_back)
IN_FOLDER(other_records_are_refused)
IN_FOLDER(broken_headers_are_refused)
IN_FOLDER(sizes_that_lie_are_found_out)
IN_FOLDER(a_file_cut_anywhere_is_refused)
IN_FOLDER(damaged_headers_never_crash)
IN_FOLDER(files_that_are_not_numpy_are_refused)
IN_FOLDER(a_file_is_read_in_pieces)
IN_FOLDER(values_are_read_from_anywhere_in_either_byte_order)

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name##_}
      T(a_small_array_is_written_to_the_byte),
      T(every_type_and_shape_comes_back),
      T(the_largest_header_fits),
      T(impossible_arrays_are_refused),
      T(headers_of_every_version_and_spelling_are_read),
      T(the_other_byte_order_is_turned),
      T(other_kinds_of_arrays_are_refused_with_advice),
      T(lists_of_cells_come_back),
      T(other_records_are_refused),
      T(broken_headers_are_refused),
      T(sizes_that_lie_are_found_out),
      T(a_file_cut_anywhere_is_refused),
      T(damaged_headers_never_crash),
      T(files_that_are_not_numpy_are_refused),
      T(a_file_is_read_in_pieces),
      T(values_are_read_from_anywhere_in_either_byte_order),
#undef T
      {0}};

  if (argc > 1 && argv[1][0] == '-') return python_mode(argc, argv);
  return test_main(argc, argv, tests);
}
