/* From source to function: what is kept, what is refused, what happens when things go wrong. */
#define _GNU_SOURCE 1
#include "device/cpu/compile.h"
#include "device/cpu/machine.h"
#include "device/tree.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

typedef int (*int_fn)(int);

static const char plus_seven[] = "int f(int x)\n{\n  return x + 7;\n}\n";

/* ---- the stage: a cache folder, and a compiler that counts how often it is run ---- */

static char cache[512], wrapper[512];
static ambit__settings settings;

/* The script runs the real compiler after `extra`, some lines of shell. */
static void write_wrapper(const char *extra)
{
  const char *cc = getenv("CC");
  char text[2048];

  snprintf(text, sizeof text, "#!/bin/sh\necho run >> '%s/runs'\n%s\nexec %s \"$@\"\n", folder,
           extra, cc && *cc ? cc : "cc");
  tree_put("compiler", text);
  CHECK_EQ(0, chmod(wrapper, 0700));
}

static void begin(void)
{
  tree_make();
  snprintf(cache, sizeof cache, "%s/cache", folder);
  snprintf(wrapper, sizeof wrapper, "%s/compiler", folder);
  settings = (ambit__settings){.cc = wrapper, .cache = cache, .dump = "", .verbose = -1};
  write_wrapper("");
}

static void end(void)
{
  tree_remove();
}

static int runs(void)
{
  char path[512], line[16];
  int n = 0;
  FILE *f;

  snprintf(path, sizeof path, "%s/runs", folder);
  f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f))
    n++;
  if (f) fclose(f);
  return n;
}

/* The files in a folder whose names end so; the path of the last one goes to `path`, unless NULL. */
static int files(const char *where, const char *tail, char path[1024])
{
  DIR *dir = opendir(where);
  struct dirent *entry;
  int n = 0;

  while (dir && (entry = readdir(dir))) {
    size_t length = strlen(entry->d_name), want = strlen(tail);

    if (entry->d_name[0] == '.' || length < want) continue;
    if (strcmp(entry->d_name + length - want, tail)) continue;
    if (path) snprintf(path, 1024, "%s/%s", where, entry->d_name);
    n++;
  }
  if (dir) closedir(dir);
  return n;
}

/* Opens a compiler afresh, as a new process would, and calls f(x) of the source; -1: did not work. */
static int call_f(const char *source, int x)
{
  ambit__module *module = NULL;
  ambit__errors errors = {0};
  ambit__cc *cc = NULL;
  void *address = NULL;
  int result = -1;

  if (!ambit__cc_open(&errors, &settings, &cc) &&
      !ambit__cc_load(cc, source, "f", &module, &address))
    result = ((int_fn)address)(x);
  if (errors.text) printf("# %s\n", errors.text);
  ambit__errors_clear(&errors);
  ambit__module_release(module);
  ambit__cc_close(cc);
  return result;
}

static ambit__cc *open_cc(ambit__errors *errors)
{
  ambit__cc *cc = NULL;

  *errors = (ambit__errors){0};
  CHECK_EQ(AMBIT_OK, ambit__cc_open(errors, &settings, &cc));
  return cc;
}

static void close_cc(ambit__cc *cc, ambit__errors *errors)
{
  ambit__cc_close(cc);
  ambit__errors_clear(errors);
}

/* ---- keeping ---- */

static void a_function_is_compiled_and_called(void)
{
  begin();
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK_EQ(2, runs()); /* to try it out, and for the kernel */
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

/* Makes an entry, lets `damage` change one of its files, and looks that the next start makes a new one. */
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

/* ---- folders that cannot be used ---- */

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

/* Opens the cache below a folder of this mode and owner; whether it is used. */
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

/* Between the look at a library and its loading, another one takes its name. */
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

/* Descriptors have the same number again; libraries must not be taken for each other. */
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

/* ---- full disks ---- */

int __real_posix_fallocate(int fd, off_t at, off_t bytes);
int __wrap_posix_fallocate(int fd, off_t at, off_t bytes);

/* The linker puts this in the place of posix_fallocate. Below a folder that has a file `filled` beside it, there is no room. */
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

/* TMPDIR fills up before or while something is compiled there. */
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
  CHECK_EQ(0, files(cache, ".c", NULL)); /* a full disk is no mistake of the kernel's */
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

/* A wrapper that goes wrong once, as long as there is a file `bad`. */
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
  CHECK_EQ(12, call_f(plus_seven, 5)); /* kept, and it has no g */
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

/* As with ccache under the name of a compiler: the program that it runs is another of that name. */
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

/* How many processes have this number in their command line. */
static int alive(const char *number)
{
  char command[200];

  snprintf(command, sizeof command, "pgrep -f -x 'sleep %s' > /dev/null", number);
  return system(command) == 0;
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
  CHECK(!alive(number));
  close_cc(cc, &errors);
  snprintf(extra, sizeof extra, "sleep %s > /dev/null 2>&1 &", number);
  write_wrapper(extra);
  CHECK_EQ(12, call_f(plus_seven, 5));
  CHECK(!alive(number));
  end();
}

/* The wrapper makes programs for "this machine" die at once, as they do where the compiler is mistaken about it. */
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
  CHECK_EQ(before + 1, runs()); /* it remembers */
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

/* ---- the rest ---- */

/* x * x is not a float: fused, the rounding of the product is left out. */
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
  settings.strict = false; /* other flags: another library */
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
  for (int i = 0; i < N; i++) {
    child[i] = fork();
    if (child[i] == 0) _exit(call_f(plus_seven, i) == i + 7 && !test_failures ? 0 : 1);
  }
  for (int i = 0; i < N; i++) {
    int status = 1;

    CHECK_EQ(child[i], waitpid(child[i], &status, 0));
    CHECK_EQ(0, status);
  }
  CHECK_EQ(3, files(cache, "", NULL)); /* one entry, one note, nothing half done */
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
  static const test_case tests[] = {
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
      T(strict_code_is_not_contracted),
      T(infinities_survive_a_fast_math_command),
      T(functions_of_the_math_library_are_linked),
      T(generated_source_is_written_where_asked),
      T(many_processes_may_start_at_once),
      {0}};
#undef T

  return test_main(argc, argv, tests);
}
