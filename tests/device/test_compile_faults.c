/* SPDX-License-Identifier: BSD-3-Clause */
/* Compilers that fail, hang, print without end or return wrong code, and full disks. */
#define _GNU_SOURCE 1
#include "device/compile_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

/* ---- full disks ---- */

int __real_posix_fallocate(int fd, off_t at, off_t bytes);
int __wrap_posix_fallocate(int fd, off_t at, off_t bytes);

/* The linker replaces posix_fallocate by this. Below the folder `full`, there is no space once the
 * file `filled` exists. */
int __wrap_posix_fallocate(int fd, off_t at, off_t bytes)
{
  char name[64], path[1024], marker[600];
  ssize_t n;

  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  n = readlink(name, path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  snprintf(marker, sizeof marker, "%s/filled", folder);
  if (strstr(path, "/full/") && !access(marker, F_OK)) return ENOSPC;
  return __real_posix_fallocate(fd, at, bytes);
}

/* TMPDIR becomes full before or during a compilation. */
static void check_full(const char *when)
{
  char *old = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
  char tmp[600], extra[1024];

  begin();
  snprintf(tmp, sizeof tmp, "%s/full", folder);
  CHECK(!mkdir(tmp, 0700));
  setenv("TMPDIR", tmp, 1);
  snprintf(
      extra, sizeof extra,
      "case \"$*\" in %s) case \"$*\" in *'%s'*) touch '%s/filled'; echo No space left on device; "
      "exit 1 ;; esac ;; esac",
      when, tmp, folder);
  if (*when)
    write_wrapper(extra);
  else
    tree_put("filled", "");
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(1, files(folder, "filled", NULL));
  CHECK_EQ(0, files(tmp, "", NULL));
  CHECK_EQ(1, files(cache, ".so", NULL));
  CHECK_EQ(0, files(cache, ".c", NULL)); /* a full disk is not an error of the kernel */
  if (old)
    setenv("TMPDIR", old, 1);
  else
    unsetenv("TMPDIR");
  free(old);
  end();
}

static void where_there_is_no_room_others_are_tried(void)
{
  check_full("");
  check_full("*");
  check_full("*-shared*");
}

/* ---- compilers that fail ---- */

static void a_mistake_in_the_source_is_told_and_the_source_kept(void)
{
  static const char wrong[] = "int f(int x) { return x + nonsense; }\n";
  ambit__module *module;
  ambit__errors errors;
  char path[1024] = "";
  ambit__cc *cc;
  void *f;

  begin();
  cc = open_cc(&errors);
  CHECK_EQ(AMBIT_ECOMPILE, ambit__cc_load(cc, wrong, "f", &module, &f));
  CHECK(!module);
  CHECK_MSG(errors.text && strstr(errors.text, "nonsense"), "%s", errors.text);
  CHECK_EQ(1, files(cache, ".c", path));
  CHECK_MSG(strstr(errors.text, path) != NULL, "%s not in: %s", path, errors.text);
  CHECK_EQ(0, files(cache, ".so", NULL));
  close_cc(cc, &errors);
  end();
}

static void a_function_that_is_not_there_is_told(void)
{
  ambit__module *module;
  ambit__errors errors;
  ambit__cc *cc;
  void *f;

  begin();
  cc = open_cc(&errors);
  CHECK_EQ(AMBIT_ECOMPILE, ambit__cc_load(cc, plus_seven, "g", &module, &f));
  CHECK(errors.text && strstr(errors.text, "no function g"));
  CHECK(!module && !cc->modules);
  close_cc(cc, &errors);
  end();
}

/* A wrapper that fails as long as the file `bad` exists. */
static void check_not_poisoned(const char *trick, const char *words)
{
  ambit__module *module;
  ambit__errors errors;
  char bad[600], extra[1024];
  ambit__cc *cc;
  void *f;

  begin();
  tree_put("bad", "");
  tree_put("other.c", "int f(int x) { return x - 7; }\n");
  snprintf(bad, sizeof bad, "%s/bad", folder);
  snprintf(extra, sizeof extra,
           "cd '%s'; case \"$*\" in *-shared*) if [ -e bad ]; then %s; fi ;; esac", folder, trick);
  write_wrapper(extra);
  cc = open_cc(&errors);
  CHECK_EQ(AMBIT_ECOMPILE, ambit__cc_load(cc, plus_seven, "f", &module, &f));
  CHECK_MSG(errors.text && strstr(errors.text, words), "%s", errors.text);
  CHECK_EQ(0, files(cache, ".so", NULL));
  CHECK_EQ(0, files(cache, ".meta", NULL));
  close_cc(cc, &errors);
  CHECK(!unlink(bad));
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(1, files(cache, ".so", NULL));
  end();
}

static void one_bad_compile_does_not_poison_the_cache(void)
{
  check_not_poisoned("set -- -Df=g \"$@\"", "no function f");
  check_not_poisoned("for o; do [ \"$p\" = -o ] && echo nothing > \"$o\"; p=$o; done; exit 0",
                     "cannot be loaded");
  check_not_poisoned(
      "for o; do [ \"$p\" = -o ] && cc -shared -fPIC other.c -o \"$o\"; p=$o; done; exit 0",
      "not that of its source");
  check_not_poisoned("exit 0", "did not make");
}

static void an_entry_without_the_function_is_made_again(void)
{
  ambit__module *module;
  ambit__errors errors;
  ambit__cc *cc;
  void *f;

  begin();
  CHECK_EQ(12, call_f(plus_seven, 5)); /* kept, without a function g */
  cc = open_cc(&errors);
  CHECK_EQ(AMBIT_ECOMPILE, ambit__cc_load(cc, plus_seven, "g", &module, &f));
  close_cc(cc, &errors);
  CHECK_EQ(12, call_f(plus_seven, 5));
  end();
}

static void variables_that_compilers_read_count(void)
{
  char *old = getenv("CPATH") ? strdup(getenv("CPATH")) : NULL;
  static const char source[] = "#include \"number.h\"\nint f(int x) { return x + NUMBER; }\n";
  char path[600];

  begin();
  tree_put("one/number.h", "#define NUMBER 1\n");
  tree_put("two/number.h", "#define NUMBER 2\n");
  snprintf(path, sizeof path, "%s/one", folder);
  setenv("CPATH", path, 1);
  CHECK_EQ(6, call_f(source, 5));
  snprintf(path, sizeof path, "%s/two", folder);
  setenv("CPATH", path, 1);
  CHECK_EQ(7, call_f(source, 5));
  if (old)
    setenv("CPATH", old, 1);
  else
    unsetenv("CPATH");
  free(old);
  end();
}

/* As with ccache under the name of a compiler: it runs another program of that name. */
static void a_compiler_behind_another_of_its_name_counts(void)
{
  char *old = strdup(getenv("PATH")), path[4096], text[600];
  int before;

  begin();
  snprintf(path, sizeof path, "%s/bin1:%s/bin2:%s", folder, folder, old);
  snprintf(text, sizeof text, "#!/bin/sh\nexec '%s/bin2/mycc' \"$@\"\n", folder);
  tree_put("bin1/mycc", text);
  snprintf(text, sizeof text, "#!/bin/sh\nexec '%s' \"$@\"\n", wrapper);
  tree_put("bin2/mycc", text);
  snprintf(text, sizeof text, "chmod 700 '%s/bin1/mycc' '%s/bin2/mycc'", folder, folder);
  CHECK_EQ(0, system(text));
  setenv("PATH", path, 1);
  settings.cc = "mycc";
  CHECK_EQ(12, call_f(plus_seven, 5));
  before = runs();
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(before, runs());
  snprintf(text, sizeof text, "#!/bin/sh\n# another version\nexec '%s' \"$@\"\n", wrapper);
  tree_put("bin2/mycc", text);
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(before + 2, runs());
  setenv("PATH", old, 1);
  free(old);
  end();
}

static void having_no_compiler_is_no_error_until_one_is_needed(void)
{
  const char *const none[] = {"none", "no-such-compiler", "/no/such/compiler", "false"};

  begin();
  for (int i = 0; i < 4; i++) {
    ambit__module *module;
    ambit__errors errors;
    ambit__cc *cc;
    void *f;

    settings.cc = none[i];
    cc = open_cc(&errors);
    CHECK(!cc->available);
    CHECK_MSG(cc->why && strstr(cc->why, none[i]), "%s", cc->why);
    CHECK_EQ(AMBIT_ECOMPILE, ambit__cc_load(cc, plus_seven, "f", &module, &f));
    CHECK(errors.text && strstr(errors.text, none[i]));
    close_cc(cc, &errors);
  }
  end();
}

static void a_compiler_that_hangs_is_stopped(void)
{
  struct timespec start, stop;
  ambit__module *module;
  ambit__errors errors;
  ambit__cc *cc;
  void *f;

  begin();
  write_wrapper("case \"$*\" in *-shared*) sleep 100 ;; esac");
  cc = open_cc(&errors);
  cc->patience = 0.2;
  clock_gettime(CLOCK_MONOTONIC, &start);
  CHECK_EQ(AMBIT_ECOMPILE, ambit__cc_load(cc, plus_seven, "f", &module, &f));
  clock_gettime(CLOCK_MONOTONIC, &stop);
  CHECK(stop.tv_sec - start.tv_sec < 10);
  CHECK(errors.text && strstr(errors.text, "more than 0.2 s"));
  close_cc(cc, &errors);
  end();
}

static double seconds_now(void)
{
  struct timespec t;

  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void a_compiler_that_never_stops_printing_is_stopped(void)
{
  double start = seconds_now();
  ambit__module *module;
  ambit__errors errors;
  ambit__cc *cc;
  void *f;

  begin();
  write_wrapper("case \"$*\" in *-shared*) exec yes chatter ;; esac");
  cc = open_cc(&errors);
  cc->patience = 0.5;
  CHECK_EQ(AMBIT_ECOMPILE, ambit__cc_load(cc, plus_seven, "f", &module, &f));
  CHECK(errors.text && strstr(errors.text, "more than 0.5 s"));
  close_cc(cc, &errors);
  CHECK(seconds_now() - start < 10);
  end();
}

/* With CC, cc, gcc and clang, three levels each, there are twelve tries. */
static void all_tries_to_find_a_compiler_have_one_budget(void)
{
  char *old = strdup(getenv("PATH")), *cc_was = getenv("CC") ? strdup(getenv("CC")) : NULL;
  char path[4096];
  double start;
  ambit__errors errors;
  ambit__cc *cc;

  begin();
  tree_put("bin/cc", "#!/bin/sh\nexec sleep 100\n");
  tree_put("bin/gcc", "#!/bin/sh\nexec yes chatter\n");
  snprintf(path, sizeof path, "chmod 700 '%s/bin/cc' '%s/bin/gcc'", folder, folder);
  CHECK_EQ(0, system(path));
  snprintf(path, sizeof path, "%s/bin:%s", folder, old);
  setenv("PATH", path, 1);
  unsetenv("CC");
  settings.cc = "";
  settings.patience = 1;
  start = seconds_now();
  cc = open_cc(&errors);
  CHECK_MSG(seconds_now() - start < 8, "it took %.1f s", seconds_now() - start);
  CHECK(!cc->available);
  CHECK_MSG(cc->why && strstr(cc->why, "too long") && strstr(cc->why, "patience"), "%s", cc->why);
  close_cc(cc, &errors);
  setenv("PATH", old, 1);
  if (cc_was) setenv("CC", cc_was, 1);
  free(cc_was);
  free(old);
  end();
}

static void after_each_time_out_the_next_kernel_gets_half_the_time(void)
{
  char source[64];
  ambit__module *module;
  ambit__errors errors;
  ambit__cc *cc;
  void *f;

  begin();
  write_wrapper("case \"$*\" in *-shared*) sleep 100 ;; esac");
  cc = open_cc(&errors);
  cc->patience = 0.4;
  for (int i = 0; i < 3; i++) {
    snprintf(source, sizeof source, "int f(int x) { return x + %d; }", i);
    CHECK_EQ(AMBIT_OK, ambit__cc_try(cc, source, "f", &module, &f));
    CHECK(!f && !module && cc->late && strstr(cc->late, "was stopped"));
  }
  CHECK_MSG(cc->patience == 0.05, "%g", cc->patience);
  close_cc(cc, &errors);
  end();
}

/* Whether all processes `sleep number` have ended, half a minute from now at the latest: a busy
 * machine takes its time to end a process that was killed. By themselves they end after a day. */
static bool ended(const char *number)
{
  char command[200];

  snprintf(command, sizeof command, "pgrep -f -x 'sleep %s' > /dev/null", number);
  for (int tries = 0; tries < 300; tries++) {
    if (system(command) == 1 << 8) return true; /* pgrep found none */
    nanosleep(&(struct timespec){0, 100000000}, NULL);
  }
  return false;
}

static void all_that_a_compiler_started_ends_with_it(void)
{
  char number[32], extra[200];
  ambit__module *module;
  ambit__errors errors;
  ambit__cc *cc;
  void *f;

  begin();
  snprintf(number, sizeof number, "%d.125", 100000 + (int)getpid());
  snprintf(extra, sizeof extra, "case \"$*\" in *-shared*) sleep %s & sleep %s; wait ;; esac",
           number, number);
  write_wrapper(extra);
  cc = open_cc(&errors);
  cc->patience = 0.5;
  CHECK_EQ(AMBIT_ECOMPILE, ambit__cc_load(cc, plus_seven, "f", &module, &f));
  CHECK(ended(number));
  close_cc(cc, &errors);
  snprintf(extra, sizeof extra, "sleep %s > /dev/null 2>&1 &", number);
  write_wrapper(extra);
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK(ended(number));
  end();
}

/* The wrapper makes programs for "this machine" die at once, as if the compiler had misidentified
 * it. */
static void make_native_code_die(void)
{
  char extra[1024];

  tree_put("die.h", "#include <signal.h>\n"
                    "__attribute__((constructor)) static void die(void) { raise(SIGILL); }\n");
  snprintf(extra, sizeof extra,
           "case \"$*\" in *=native*) set -- -include '%s/die.h' \"$@\" ;; esac", folder);
  write_wrapper(extra);
}

static void code_that_does_not_run_here_is_replaced_by_plainer_code(void)
{
  ambit__errors errors;
  ambit__cc *cc;
  int before;

  begin();
  make_native_code_die();
  cc = open_cc(&errors);
  CHECK(cc->available);
  CHECK_EQ(CODE_COMMON, cc->compiler.level);
  close_cc(cc, &errors);
  before = runs();
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(before + 1, runs()); /* the level was noted */
  end();
}

static void that_it_does_not_run_is_seen_even_if_the_program_ignores_its_children(void)
{
  ambit__errors errors;
  ambit__cc *cc;

  begin();
  make_native_code_die();
  signal(SIGCHLD, SIG_IGN);
  cc = open_cc(&errors);
  signal(SIGCHLD, SIG_DFL);
  CHECK(cc->available);
  CHECK_EQ(CODE_COMMON, cc->compiler.level);
  close_cc(cc, &errors);
  end();
}

static void a_command_may_have_several_words(void)
{
  char command[600];

  begin();
  snprintf(command, sizeof command, " %s  -DEXTRA=30 ", wrapper);
  settings.cc = command;
  CHECK_EQ(35, call_f("int f(int x) { return x + EXTRA; }", 5));
  end();
}

static void ends_of_children_that_the_program_ignores_do_no_harm(void)
{
  begin();
  signal(SIGCHLD, SIG_IGN);
  CHECK_EQ(12, call_f(plus_seven, 5));
  signal(SIGCHLD, SIG_DFL);
  end();
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {
      T(where_there_is_no_room_others_are_tried),
      T(a_mistake_in_the_source_is_told_and_the_source_kept),
      T(a_function_that_is_not_there_is_told),
      T(one_bad_compile_does_not_poison_the_cache),
      T(an_entry_without_the_function_is_made_again),
      T(variables_that_compilers_read_count),
      T(a_compiler_behind_another_of_its_name_counts),
      T(having_no_compiler_is_no_error_until_one_is_needed),
      T(a_compiler_that_hangs_is_stopped),
      T(a_compiler_that_never_stops_printing_is_stopped),
      T(all_tries_to_find_a_compiler_have_one_budget),
      T(after_each_time_out_the_next_kernel_gets_half_the_time),
      T(all_that_a_compiler_started_ends_with_it),
      T(code_that_does_not_run_here_is_replaced_by_plainer_code),
      T(that_it_does_not_run_is_seen_even_if_the_program_ignores_its_children),
      T(a_command_may_have_several_words),
      T(ends_of_children_that_the_program_ignores_do_no_harm),
      {0}};
#undef T

  return test_main(argc, argv, tests);
}
