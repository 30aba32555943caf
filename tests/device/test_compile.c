/* SPDX-License-Identifier: BSD-3-Clause */
/* From source to function: compiled kernels that are kept, and folders and files that are rejected.
 */
#define _GNU_SOURCE 1
#include "base/clock.h"
#include "device/compile_stage.h"
#include "device/cpu/machine.h"

#include <math.h>
#include <sys/wait.h>

/* ---- ahead of time ---- */

/* "int f(int x) { return x + 3; }" */
static const char *plus(char text[64], int number)
{
  snprintf(text, 64, "int f(int x) { return x + %d; }", number);
  return text;
}

static void foreseen_sources_are_compiled_once(void)
{
  ambit__module *module;
  ambit__errors errors;
  char text[64];
  ambit__cc *cc;
  void *address;
  int before;

  begin();
  cc = open_cc(&errors);
  before = runs();
  for (int i = 0; i < 12; i++)
    ambit__cc_foresee(cc, plus(text, i % 6), 3, false);
  for (int i = 0; i < 6; i++) {
    CHECK_EQ(AMBIT_OK, ambit__cc_load(cc, plus(text, i), "f", &module, &address));
    CHECK_EQ(10 + i, ((int_fn)address)(10));
    ambit__cc_foresee(cc, text, 3, false); /* it is loaded */
    ambit__module_release(module);
    ambit__cc_foresee(cc, text, 3, false); /* it is in the cache */
  }
  CHECK_EQ(before + 6, runs());
  CHECK_EQ(6, files(cache, ".so", NULL));
  close_cc(cc, &errors);
  end();
}

static void a_foreseen_source_that_fails_says_why(void)
{
  ambit__module *module;
  ambit__errors errors;
  ambit__cc *cc;
  void *address;

  begin();
  cc = open_cc(&errors);
  ambit__cc_foresee(cc, "int f(int x) { return y; }", 2, false);
  CHECK_EQ(AMBIT_ECOMPILE,
           ambit__cc_load(cc, "int f(int x) { return y; }", "f", &module, &address));
  CHECK(errors.text && strstr(errors.text, "refused a generated kernel"));
  ambit__errors_clear(&errors);
  ambit__cc_foresee(cc, "int f(int x) { return z; }", 2, false); /* never needed */
  close_cc(cc, &errors);
  end();
}

/* A run that ends does not wait for plans that it would have tried. */
static void closing_ends_compilers_at_work(void)
{
  const double start = ambit__clock();
  char key[AMBIT__HASH_CHARS];
  ambit__errors errors;
  ambit__cc *cc;

  begin();
  cc = open_cc(&errors);
  write_wrapper("sleep 30");
  ambit__cc_foresee(cc, plus_seven, 2, true);
  ambit__cc_key(cc, plus_seven, key);
  CHECK(!ambit__cc_is_ready(cc, key));
  close_cc(cc, &errors);
  CHECK(ambit__clock() - start < 20);
  end();
}

static void a_foreseen_source_that_takes_too_long_is_given_up(void)
{
  ambit__module *module;
  ambit__errors errors;
  ambit__cc *cc;
  void *address;

  begin();
  cc = open_cc(&errors);
  cc->patience = 0.2;
  write_wrapper("sleep 20");
  ambit__cc_foresee(cc, plus_seven, 2, false);
  CHECK_EQ(AMBIT_OK, ambit__cc_try(cc, plus_seven, "f", &module, &address));
  CHECK(!address && cc->late);
  close_cc(cc, &errors);
  end();
}

/* ---- the cache ---- */

static void a_function_is_compiled_and_called(void)
{
  begin();
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(2, runs()); /* for the test program, and for the kernel */
  CHECK_EQ(1, files(cache, ".so", NULL));
  CHECK_EQ(1, files(cache, ".meta", NULL));
  CHECK_EQ(3, files(cache, "", NULL));
  end();
}

static void a_second_start_runs_no_compiler(void)
{
  int before;

  begin();
  CHECK_EQ(12, call_f(plus_seven, 5));
  before = runs();
  CHECK_EQ(13, call_f(plus_seven, 6));
  CHECK_EQ(before, runs());
  CHECK_EQ(6, call_f("int f(int x) { return x; }", 6));
  CHECK_EQ(before + 1, runs());
  end();
}

static void the_same_source_is_loaded_once(void)
{
  ambit__module *one, *two;
  ambit__errors errors;
  ambit__cc *cc;
  void *a, *b;

  begin();
  cc = open_cc(&errors);
  CHECK_EQ(AMBIT_OK, ambit__cc_load(cc, plus_seven, "f", &one, &a));
  CHECK_EQ(AMBIT_OK, ambit__cc_load(cc, plus_seven, "f", &two, &b));
  CHECK(one == two && a == b);
  ambit__module_release(one);
  CHECK_EQ(8, ((int_fn)b)(1));
  ambit__module_release(two);
  CHECK(!cc->modules);
  close_cc(cc, &errors);
  end();
}

static void a_changed_compiler_compiles_again(void)
{
  int before;

  begin();
  call_f(plus_seven, 5);
  before = runs();
  write_wrapper("# another one");
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(before + 2, runs());
  end();
}

static void without_a_cache_nothing_stays(void)
{
  char tmp[512];
  char *old = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;

  begin();
  snprintf(tmp, sizeof tmp, "%s/tmp", folder);
  CHECK_EQ(0, mkdir(tmp, 0700));
  setenv("TMPDIR", tmp, 1);
  settings.cache = "none";
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(4, runs());
  CHECK_EQ(0, files(tmp, "", NULL));
  if (old)
    setenv("TMPDIR", old, 1);
  else
    unsetenv("TMPDIR");
  free(old);
  end();
}

static void the_users_own_folder_is_found_and_private(void)
{
  char *old = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;
  char own[600];
  struct stat st;

  begin();
  settings.cache = "";
  setenv("XDG_CACHE_HOME", cache, 1);
  CHECK_EQ(12, call_f(plus_seven, 5));
  snprintf(own, sizeof own, "%s/ambit", cache);
  CHECK_EQ(1, files(own, ".so", NULL));
  CHECK(!stat(own, &st) && (st.st_mode & 0777) == 0700);
  if (old)
    setenv("XDG_CACHE_HOME", old, 1);
  else
    unsetenv("XDG_CACHE_HOME");
  free(old);
  end();
}

/* ---- damage ---- */

/* Makes an entry, lets `damage` change one of its files, and checks that the next start makes a new
 * one. */
static void check_repaired(const char *tail, void (*damage)(const char *path))
{
  char path[1024] = "";
  int before;

  begin();
  CHECK_EQ(12, call_f(plus_seven, 5));
  before = runs();
  CHECK_EQ(1, files(cache, tail, path));
  damage(path);
  CHECK_EQ(13, call_f(plus_seven, 6));
  CHECK_EQ(before + 1, runs());
  CHECK_EQ(14, call_f(plus_seven, 7));
  CHECK_EQ(before + 1, runs());
  end();
}

static void flip_a_byte(const char *path)
{
  FILE *f = fopen(path, "r+");
  int c;

  CHECK(f && !fseek(f, 100, SEEK_SET));
  c = fgetc(f);
  CHECK(!fseek(f, 100, SEEK_SET) && fputc(c ^ 1, f) != EOF);
  fclose(f);
}

static void cut_in_half(const char *path)
{
  struct stat st;

  CHECK(!stat(path, &st) && !truncate(path, st.st_size / 2));
}

static void empty_it(const char *path)
{
  CHECK(!truncate(path, 0));
}

static void take_it_away(const char *path)
{
  CHECK(!unlink(path));
}

static void let_others_write(const char *path)
{
  CHECK(!chmod(path, 0622));
}

static void put_a_link(const char *path)
{
  char other[600];

  snprintf(other, sizeof other, "%s/elsewhere", folder);
  CHECK(!rename(path, other) && !symlink(other, path));
}

static void a_damaged_library_is_never_loaded(void)
{
  check_repaired(".so", flip_a_byte);
  check_repaired(".so", cut_in_half);
  check_repaired(".so", empty_it);
  check_repaired(".so", take_it_away);
}

static void a_library_that_others_could_change_is_never_loaded(void)
{
  check_repaired(".so", let_others_write);
  check_repaired(".so", put_a_link);
}

static void a_damaged_description_makes_the_entry_worthless(void)
{
  check_repaired(".meta", flip_a_byte);
  check_repaired(".meta", cut_in_half);
  check_repaired(".meta", empty_it);
  check_repaired(".meta", take_it_away);
}

static void a_damaged_note_is_found_out_again(void)
{
  check_repaired(".note", cut_in_half);
}

/* ---- unusable folders ---- */

static void a_folder_that_others_can_write_to_is_not_used(void)
{
  begin();
  CHECK(!mkdir(cache, 0700) && !chmod(cache, 0770));
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(0, files(cache, "", NULL));
  end();
}

static void a_folder_that_is_a_link_is_not_used(void)
{
  char real[600];

  begin();
  snprintf(real, sizeof real, "%s/real", folder);
  CHECK(!mkdir(real, 0700) && !symlink(real, cache));
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(0, files(real, "", NULL));
  end();
}

/* Whether a cache below a folder of this mode and owner is used. */
static bool is_used_below(const char *name, mode_t mode, uid_t owner)
{
  char above[600], below[700];
  int n;

  snprintf(above, sizeof above, "%s/%s", folder, name);
  snprintf(below, sizeof below, "%s/deeper/cache", above);
  settings.cache = below;
  CHECK(!mkdir(above, 0700));
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK(!chmod(above, mode) && !chown(above, owner, (gid_t)-1));
  n = files(below, ".so", NULL);
  CHECK_EQ(6, call_f("int f(int x) { return x; }", 6));
  CHECK_EQ(1, n);
  n = files(below, ".so", NULL) == 2;
  CHECK(!chmod(above, 0700));
  settings.cache = cache;
  return n;
}

static void a_folder_that_others_could_replace_is_not_used(void)
{
  begin();
  CHECK(!is_used_below("world", 0777, geteuid()));
  CHECK(!is_used_below("group", 0770, geteuid()));
  CHECK(is_used_below("own", 0755, geteuid()));
  CHECK(is_used_below("sticky", 01777, geteuid()));
  if (!geteuid()) { /* only root can give a folder away */
    CHECK(!is_used_below("foreign", 0755, 12345));
    CHECK(!is_used_below("foreign-sticky", 01777, 12345));
  }
  end();
}

static void libraries_are_not_compiled_where_others_could_replace_them(void)
{
  char *old = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
  char open_to_all[600];

  begin();
  snprintf(open_to_all, sizeof open_to_all, "%s/open", folder);
  CHECK(!mkdir(open_to_all, 0700) && !chmod(open_to_all, 0777));
  setenv("TMPDIR", open_to_all, 1);
  write_wrapper("case \"$*\" in *\"$TMPDIR\"/ambit-*) touch \"$(dirname \"$0\")\"/seen ;; esac");
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(0, files(folder, "seen", NULL));
  CHECK_EQ(0, files(open_to_all, "", NULL));
  if (old)
    setenv("TMPDIR", old, 1);
  else
    unsetenv("TMPDIR");
  free(old);
  end();
}

/* Between the check of a library and its loading, another file gets its name. */
static void the_library_that_was_looked_at_is_the_one_that_is_used(void)
{
  char path[1024] = "", key[64] = "", other[1100], first[8] = "";
  ambit__cache c;
  int fd;

  begin();
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(1, files(cache, ".so", path));
  snprintf(key, sizeof key, "%.32s", strrchr(path, '/') + 1);
  CHECK_EQ(AMBIT_OK, ambit__cache_open(NULL, &settings, &c));
  fd = ambit__cache_find(&c, key, plus_seven);
  CHECK(fd >= 0);
  snprintf(other, sizeof other, "%s/evil.so", folder);
  tree_put("evil.so", "another library");
  CHECK(!rename(other, path));
  CHECK(pread(fd, first, 4, 0) == 4 && !memcmp(first, "\177ELF", 4));
  close(fd);
  CHECK_EQ(-1, ambit__cache_find(&c, key, plus_seven));
  ambit__cache_close(&c);
  end();
}

/* Descriptor numbers are reused; libraries must not be confused. */
static void libraries_that_come_and_go_are_not_mixed_up(void)
{
  char source[64];

  begin();
  for (int round = 0; round < 2; round++) {
    ambit__module *modules[4];
    ambit__errors errors;
    ambit__cc *cc = open_cc(&errors);

    for (int i = 0; i < 4; i++) {
      void *f = NULL;

      snprintf(source, sizeof source, "int f(int x) { return x * %d; }", i);
      CHECK_EQ(AMBIT_OK, ambit__cc_load(cc, source, "f", &modules[i], &f));
      CHECK(f && ((int_fn)f)(10) == 10 * i);
      if (i % 2) ambit__module_release(modules[i]);
    }
    close_cc(cc, &errors);
  }
  end();
}

static void a_file_in_the_place_of_the_folder_does_no_harm(void)
{
  begin();
  tree_put("cache", "not a folder");
  CHECK_EQ(12, call_f(plus_seven, 5));
  end();
}

static void a_folder_that_cannot_be_written_does_not_stop_the_run(void)
{
  ambit__module *module;
  ambit__errors errors;
  char gone[600];
  ambit__cc *cc;
  void *f;

  begin();
  cc = open_cc(&errors);
  snprintf(gone, sizeof gone, "%s/gone", folder);
  CHECK(!rename(cache, gone));
  CHECK_EQ(AMBIT_OK, ambit__cc_load(cc, plus_seven, "f", &module, &f));
  CHECK_EQ(12, ((int_fn)f)(5));
  ambit__module_release(module);
  close_cc(cc, &errors);
  end();
}

/* ---- other tests ---- */

/* x * x is not a float: a fused operation does not round the product. */
static void strict_code_is_not_contracted(void)
{
  static const char source[] = "int f(int n)\n"
                               "{\n"
                               "  float x = 1.0f + (float)n / 8388608.0f, y = x * x;\n"
                               "  float z = -1.0f - (float)n / 4194304.0f;\n"
                               "  return x * x + z == y + z && y + z == 0.0f;\n"
                               "}\n";
  static const char rounded[] = "int f(int n)\n"
                                "{\n"
                                "  float x = 1.0f + (float)n / 8388608.0f;\n"
                                "  float z = -1.0f - (float)n / 4194304.0f;\n"
                                "  return x * x + z == 0.0f;\n"
                                "}\n";
  int before, relaxed;

  begin();
  settings.strict = true;
  CHECK_EQ(1, call_f(source, 1));
  CHECK_EQ(1, call_f(rounded, 1));
  before = runs();
  settings.strict = false; /* other flags give another library */
  relaxed = call_f(rounded, 1);
  if (ambit__machine_vector_bytes() >= 64)
    CHECK_EQ(0, relaxed); /* such processors can fuse, so the code does */
  else
    CHECK(relaxed >= 0);
  CHECK_EQ(before + 1, runs());
  CHECK_EQ(3, files(cache, ".so", NULL));
  end();
}

static void infinities_survive_a_fast_math_command(void)
{
  char command[600];

  begin();
  snprintf(command, sizeof command, "%s -ffast-math", wrapper);
  settings.cc = command;
  CHECK_EQ(1, call_f("int f(int n) { double x = 1e308 * (n + 9); return x - x != x - x; }", 1));
  end();
}

static void functions_of_the_math_library_are_linked(void)
{
  begin();
  CHECK_EQ(148, call_f("#include <math.h>\nint f(int x) { return (int)exp((double)x); }", 5));
  end();
}

static void generated_source_is_written_where_asked(void)
{
  char where[600], path[1024] = "", text[128] = "";
  FILE *f;

  begin();
  snprintf(where, sizeof where, "%s/a/b", folder);
  settings.dump = where;
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(1, files(where, ".c", path));
  CHECK(!strncmp(path + strlen(where), "/f-", 3));
  f = fopen(path, "r");
  CHECK(f && fread(text, 1, sizeof text - 1, f) > 0);
  CHECK_STR(plus_seven, text);
  if (f) fclose(f);
  end();
}

static void many_processes_may_start_at_once(void)
{
  enum { N = 8 };
  pid_t child[N];
  int before;

  begin();
  fflush(stdout);
  before = test_failures;
  for (int i = 0; i < N; i++) {
    child[i] = fork();
    if (child[i] == 0) {
      CHECK_EQ(i + 7, call_f(plus_seven, i));
      fflush(stdout); /* the reason of a failure */
      _exit(test_failures > before);
    }
  }
  for (int i = 0; i < N; i++) {
    int status = 1;

    CHECK_EQ(child[i], waitpid(child[i], &status, 0));
    CHECK_EQ(0, status);
  }
  CHECK_EQ(3, files(cache, "", NULL)); /* one entry, one note, nothing unfinished */
  before = runs();
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(before, runs());
  end();
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {T(foreseen_sources_are_compiled_once),
                                    T(a_foreseen_source_that_fails_says_why),
                                    T(closing_ends_compilers_at_work),
                                    T(a_foreseen_source_that_takes_too_long_is_given_up),
                                    T(a_function_is_compiled_and_called),
                                    T(a_second_start_runs_no_compiler),
                                    T(the_same_source_is_loaded_once),
                                    T(a_changed_compiler_compiles_again),
                                    T(without_a_cache_nothing_stays),
                                    T(the_users_own_folder_is_found_and_private),
                                    T(a_damaged_library_is_never_loaded),
                                    T(a_library_that_others_could_change_is_never_loaded),
                                    T(a_damaged_description_makes_the_entry_worthless),
                                    T(a_damaged_note_is_found_out_again),
                                    T(a_folder_that_others_can_write_to_is_not_used),
                                    T(a_folder_that_is_a_link_is_not_used),
                                    T(a_folder_that_others_could_replace_is_not_used),
                                    T(libraries_are_not_compiled_where_others_could_replace_them),
                                    T(the_library_that_was_looked_at_is_the_one_that_is_used),
                                    T(libraries_that_come_and_go_are_not_mixed_up),
                                    T(a_file_in_the_place_of_the_folder_does_no_harm),
                                    T(a_folder_that_cannot_be_written_does_not_stop_the_run),
                                    T(strict_code_is_not_contracted),
                                    T(infinities_survive_a_fast_math_command),
                                    T(functions_of_the_math_library_are_linked),
                                    T(generated_source_is_written_where_asked),
                                    T(many_processes_may_start_at_once),
                                    {0}};
#undef T

  return test_main(argc, argv, tests);
}
