/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled kernels are kept by what they compute, not by where they are written. */
#define _XOPEN_SOURCE 700
#include "runtime/runtime_test.h"
#include "support/folder.h"

/* Several statements on several lines: their places are in the generated source. */
static const char rule[] = "void twice(const float *u, float *v)\n"
                           "{\n"
                           "  float x = *u * 2;\n"
                           "  if (x > 3) x = x - 1;\n"
                           "  *v = x;\n"
                           "}\n";
static const char moved[] = "\n"
                            "\n"
                            "void twice(const float *u, float *v) {\n"
                            "\n"
                            "  float x = *u * 2; if (x > 3) x = x - 1;\n"
                            "  *v = x;\n"
                            "}\n";
static const char changed[] = "void twice(const float *u, float *v) { *v = 3 * *u; }";

/* The files in the cache after a run with this kernel, which is loaded from a file of this name. */
static int files_after(const char *devices, const char *name, const char *text)
{
  ambit *a = open_on(devices);
  ambit_grid *g;
  ambit_program *p;
  const char *path = folder_path(name);
  FILE *f = fopen(path, "w");
  int files;

  CHECK(f && fputs(text, f) >= 0 && !fclose(f));
  ambit_option_set(a, "cache", folder);
  g = grid_2d(a, 4, 16);
  p = ambit_program_create(g);
  ambit_apply(p, ambit_kernel_load(a, path), ambit_field_create(g, "u", AMBIT_F32),
              ambit_field_create(g, "v", AMBIT_F32));
  ambit_run(p, 1);
  CHECK_EQ(AMBIT_OK, ambit_close(a));
  files = folder_files();
  unlink(path);
  return files - 1;
}

static void a_moved_kernel_is_not_compiled_again(void)
{
  EACH_DEVICE(d)
  {
    int first;

    CHECK(folder_make());
    first = files_after(*d, "one.c", rule);
    CHECK(first > 0 || strcmp(*d, "cpu") != 0);
    CHECK_EQ(first, files_after(*d, "one.c", moved));
    CHECK_EQ(first, files_after(*d, "another.c", rule));
    CHECK_MSG(!first || first < files_after(*d, "one.c", changed), "%s", *d);
    folder_remove();
  }
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"a_moved_kernel_is_not_compiled_again", a_moved_kernel_is_not_compiled_again}, {0}};

  return test_main(argc, argv, tests);
}
