/* SPDX-License-Identifier: BSD-3-Clause */
/* A file appears when it is complete. If anything fails, the old file stays and no temporary file
 * is left. */
#define _XOPEN_SOURCE 700

#include "base/file.h"
#include "base/undo.h"

#include "support/folder.h"
#include "support/told.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void put(const char *path, const char *text)
{
  ambit__file *f;

  CHECK(!ambit__file_create(&errors, path, &f));
  if (!f) return;
  CHECK(!ambit__file_write(f, text, strlen(text)));
  CHECK_MSG(!ambit__file_commit(f), "%s", errors.text);
}

static void check_content(const char *path, const char *want)
{
  void *data;
  size_t size;

  CHECK_MSG(!ambit__file_read_all(&errors, path, 1000, &data, &size), "%s", errors.text);
  if (!data) return;
  CHECK_STR(want, (char *)data);
  CHECK_EQ(strlen(want), size);
  free(data);
}

static void a_file_appears_when_it_is_committed(void)
{
  const char *path = folder_path("a");
  ambit__file *f;

  CHECK(!ambit__file_create(&errors, path, &f));
  CHECK(!ambit__file_write(f, "hello ", 6));
  CHECK(access(path, F_OK) != 0);
  CHECK(!ambit__file_write(f, "world", 5));
  CHECK(!ambit__file_commit(f));
  check_content(path, "hello world");
  CHECK_EQ(1, folder_files());
}

static void an_aborted_file_leaves_the_old_one(void)
{
  const char *path = folder_path("a");
  ambit__file *f;

  put(path, "old");
  CHECK(!ambit__file_create(&errors, path, &f));
  CHECK(!ambit__file_write(f, "new", 3));
  ambit__file_abort(f);
  ambit__file_abort(NULL);
  check_content(path, "old");
  CHECK_EQ(1, folder_files());
}

static void large_and_small_pieces_keep_their_order(void)
{
  enum { N = 200000 };
  const char *path = folder_path("large");
  unsigned char *want = malloc(N);
  ambit__file *f;
  void *got;
  size_t size, at = 0;

  CHECK(!ambit__file_create(&errors, path, &f));
  for (size_t i = 0; i < N; i++)
    want[i] = (unsigned char)(i * 31 >> 3);
  for (size_t piece = 1; at < N; piece = piece * 7 % 70001) {
    size_t n = piece < N - at ? piece : N - at;

    CHECK(!ambit__file_write(f, want + at, n));
    at += n;
  }
  CHECK(!ambit__file_write(f, NULL, 0));
  CHECK(!ambit__file_commit(f));
  CHECK(!ambit__file_read_all(&errors, path, N, &got, &size));
  CHECK(size == N && !memcmp(want, got, N));
  free(got);
  free(want);
}

/* A limit on the size of files simulates a full disk. */
static void a_full_disk_leaves_the_old_file(void)
{
  static const char block[30000];
  const char *path = folder_path("full");
  struct rlimit old, small;
  ambit__file *f;
  ambit_status s = AMBIT_OK;

  put(path, "precious");
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 100000;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK(!ambit__file_create(&errors, path, &f));
  for (int i = 0; i < 10; i++)
    s = ambit__file_write(f, block, sizeof block);
  CHECK_EQ(AMBIT_EIO, s);
  CHECK_EQ(AMBIT_EIO, ambit__file_commit(f));
  setrlimit(RLIMIT_FSIZE, &old);
  told(AMBIT_EIO, "File too large");
  check_content(path, "precious");
  CHECK_EQ(1, folder_files());
}

/* The same, with the failure when the buffer is flushed. */
static void a_disk_that_fills_at_the_end_leaves_the_old_file(void)
{
  static const char block[2000];
  const char *path = folder_path("full");
  struct rlimit old, small;
  ambit__file *f;

  put(path, "precious");
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = 1000;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK(!ambit__file_create(&errors, path, &f));
  CHECK(!ambit__file_write(f, block, sizeof block));
  CHECK_EQ(AMBIT_EIO, ambit__file_commit(f));
  setrlimit(RLIMIT_FSIZE, &old);
  told(AMBIT_EIO, path);
  check_content(path, "precious");
  CHECK_EQ(1, folder_files());
}

static void a_device_is_written_directly(void)
{
  struct stat st;
  ambit__file *f;

  put("/dev/null", "gone");
  CHECK(!stat("/dev/null", &st) && S_ISCHR(st.st_mode));
  CHECK(!ambit__file_create(&errors, "/dev/full", &f));
  CHECK(!ambit__file_write(f, "x", 1));
  CHECK_EQ(AMBIT_EIO, ambit__file_commit(f));
  told(AMBIT_EIO, "cannot write /dev/full: No space left on device");
}

static void a_link_stays_a_link(void)
{
  const char *path = folder_path("real"), *link = folder_path("link");
  struct stat st;

  put(path, "old");
  CHECK(!symlink("real", link));
  put(link, "new");
  CHECK(!lstat(link, &st) && S_ISLNK(st.st_mode));
  check_content(path, "new");
}

static void permissions_follow_the_umask_or_the_old_file(void)
{
  const char *path = folder_path("mode");
  mode_t old = umask(027);
  struct stat st;

  put(path, "1");
  CHECK(!stat(path, &st) && (st.st_mode & 0777) == 0640);
  CHECK(!chmod(path, 0600));
  put(path, "2");
  CHECK(!stat(path, &st) && (st.st_mode & 0777) == 0600);
  umask(old);
}

static void impossible_names_are_told(void)
{
  ambit__file *f;

  CHECK(ambit__file_create(&errors, folder_path("none/such"), &f) && !f);
  told(AMBIT_EIO, "none/such: No such file or directory");
  CHECK(ambit__file_create(&errors, folder, &f) && !f);
  told(AMBIT_EIO, "Is a directory");
  CHECK(ambit__file_create(&errors, "", &f) && !f);
  told(AMBIT_EIO, "empty");
  CHECK(ambit__file_create(&errors, NULL, &f) && !f);
  told(AMBIT_EIO, "empty");
}

static void two_writers_of_one_name_do_not_meet(void)
{
  const char *path = folder_path("both");
  ambit__file *a, *b;

  CHECK(!ambit__file_create(&errors, path, &a));
  CHECK(!ambit__file_create(&errors, path, &b));
  CHECK(!ambit__file_write(a, "first", 5));
  CHECK(!ambit__file_write(b, "second", 6));
  CHECK(!ambit__file_commit(b));
  CHECK(!ambit__file_commit(a));
  check_content(path, "first");
}

static void several_write_one_file_in_any_order(void)
{
  const char *path = folder_path("shared");
  ambit__file *a, *b;

  CHECK(!ambit__file_create(&errors, path, &a));
  CHECK(!ambit__file_write(a, "head ", 5));
  CHECK(!ambit__file_extend(a, 16));
  CHECK(!ambit__file_join(&errors, path, ambit__file_beside(a), &b));
  CHECK(!ambit__file_write_at(b, 11, "world", 5));
  CHECK(!ambit__file_commit(b));
  CHECK(access(path, F_OK) != 0);
  CHECK(!ambit__file_write_at(a, 5, "hello ", 6));
  CHECK(!ambit__file_commit(a));
  check_content(path, "head hello world");
  CHECK_EQ(1, folder_files());
}

static void who_joins_neither_names_nor_removes_a_file(void)
{
  const char *path = folder_path("theirs");
  ambit__file *a, *b;

  CHECK(!ambit__file_create(&errors, path, &a));
  CHECK(!ambit__file_extend(a, 1));
  CHECK(!ambit__file_join(&errors, path, ambit__file_beside(a), &b));
  ambit__file_abort(b);
  CHECK_EQ(1, folder_files());
  ambit__file_abort(a);
  CHECK_EQ(0, folder_files());
  CHECK_EQ(AMBIT_EIO, ambit__file_join(&errors, path, folder_path("gone.tmp"), &b));
  CHECK(!b);
  told(AMBIT_EIO, "the directory must be shared by all processes");
}

static void reading_knows_its_limits(void)
{
  const char *path = folder_path("five");
  void *data;
  size_t size;

  put(path, "12345");
  CHECK(!ambit__file_read_all(&errors, path, 5, &data, &size) && size == 5);
  free(data);
  CHECK(ambit__file_read_all(&errors, path, 4, &data, &size) && !data && !size);
  told(AMBIT_EIO, "more than 4 bytes");
  CHECK(ambit__file_read_all(&errors, folder_path("none"), 4, &data, &size) && !data);
  told(AMBIT_EIO, "none: No such file or directory");
  CHECK(ambit__file_read_all(&errors, folder, 4, &data, &size) && !data);
  told(AMBIT_EIO, "Is a directory");
  CHECK(ambit__file_read_all(&errors, NULL, 4, &data, &size) && !data);
  told(AMBIT_EIO, "without a name");
  put(path, "");
  check_content(path, "");
}

static void a_link_that_leads_nowhere_gets_its_file(void)
{
  struct stat st;

  CHECK(!symlink("behind", folder_path("first")) && !symlink("target", folder_path("behind")));
  put(folder_path("first"), "new");
  CHECK(!lstat(folder_path("first"), &st) && S_ISLNK(st.st_mode));
  CHECK(!lstat(folder_path("target"), &st) && S_ISREG(st.st_mode));
  check_content(folder_path("first"), "new");
  CHECK_EQ(3, folder_files());
}

static void links_that_lead_in_circles_or_out_of_folders_are_told(void)
{
  ambit__file *f;

  CHECK(!symlink("two", folder_path("one")) && !symlink("one", folder_path("two")));
  CHECK(ambit__file_create(&errors, folder_path("one"), &f) && !f);
  told(AMBIT_EIO, "symbolic links");
  CHECK(!symlink("none/such", folder_path("lost")));
  CHECK(ambit__file_create(&errors, folder_path("lost"), &f) && !f);
  told(AMBIT_EIO, "No such file or directory");
}

static void names_may_be_as_long_as_the_system_allows(void)
{
  char name[256], path[700];

  memset(name, 'x', 255);
  for (int length = 230; length <= 255; length += 5) {
    name[length] = '\0';
    snprintf(path, sizeof path, "%s/%s", folder, name);
    put(path, "long");
    check_content(path, "long");
    CHECK_EQ(1, folder_files());
    CHECK(!unlink(path));
    name[length] = 'x';
  }
}

static void a_name_can_be_tried(void)
{
  put(folder_path("old"), "old");
  CHECK(!ambit__file_try(&errors, folder_path("old")) && !ambit__file_try(&errors, "/dev/null"));
  CHECK(!ambit__file_try(&errors, folder_path("new")));
  CHECK_EQ(1, folder_files());
  check_content(folder_path("old"), "old");
  CHECK(ambit__file_try(&errors, folder_path("none/such")));
  told(AMBIT_EIO, "none/such: No such file or directory");
  CHECK(ambit__file_try(&errors, folder));
  told(AMBIT_EIO, "Is a directory");
}

/* ---- processes that die ---- */

/* In a child: begins a file, and ends as `end` does; the folder keeps so many files. */
static int left_after(const char *path, void (*end)(void))
{
  pid_t child;
  int status;

  fflush(stdout);
  child = fork();
  if (!child) {
    ambit__file *f;

    if (!ambit__file_create(&errors, path, &f)) ambit__file_write(f, "half", 4);
    end();
  }
  CHECK(waitpid(child, &status, 0) == child);
  return folder_files();
}

static void die(void)
{
  kill(getpid(), SIGKILL);
}

static void undo_and_end(void)
{
  ambit__undo_all();
  _exit(0);
}

static void a_file_of_a_dead_process_is_swept_by_the_next_of_its_name(void)
{
  const char *path = folder_path("x.npy"), *other = folder_path("x.npy.12-3.tmp.more");
  ambit__file *alive;

  put(other, "of the user");
  CHECK(!ambit__file_create(&errors, path, &alive));
  CHECK_EQ(3, left_after(path, die));
  CHECK_EQ(4, left_after(folder_path("y.npy"), die)); /* not of this name */
  put(path, "whole");
  CHECK_EQ(4, folder_files()); /* other, y's, x and the one that is alive */
  CHECK(!ambit__file_write(alive, "alive", 5));
  CHECK(!ambit__file_commit(alive));
  check_content(path, "alive");
  check_content(other, "of the user");
}

static void what_is_half_done_can_be_undone(void)
{
  CHECK_EQ(0, left_after(folder_path("x"), undo_and_end));
}

static int folder_syncs;
int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
  struct stat st;

  folder_syncs += !fstat(fd, &st) && S_ISDIR(st.st_mode);
  return __real_fsync(fd);
}

static void the_new_name_is_on_the_disk_too(void)
{
  folder_syncs = 0;
  put(folder_path("x"), "1");
  CHECK_EQ(1, folder_syncs);
}

IN_FOLDER(a_file_appears_when_it_is_committed)
IN_FOLDER(an_aborted_file_leaves_the_old_one)
IN_FOLDER(large_and_small_pieces_keep_their_order)
IN_FOLDER(a_full_disk_leaves_the_old_file)
IN_FOLDER(a_disk_that_fills_at_the_end_leaves_the_old_file)
IN_FOLDER(a_device_is_written_directly)
IN_FOLDER(a_link_stays_a_link)
IN_FOLDER(permissions_follow_the_umask_or_the_old_file)
IN_FOLDER(impossible_names_are_told)
IN_FOLDER(two_writers_of_one_name_do_not_meet)
IN_FOLDER(several_write_one_file_in_any_order)
IN_FOLDER(who_joins_neither_names_nor_removes_a_file)
IN_FOLDER(reading_knows_its_limits)
IN_FOLDER(a_link_that_leads_nowhere_gets_its_file)
IN_FOLDER(links_that_lead_in_circles_or_out_of_folders_are_told)
IN_FOLDER(names_may_be_as_long_as_the_system_allows)
IN_FOLDER(a_name_can_be_tried)
IN_FOLDER(a_file_of_a_dead_process_is_swept_by_the_next_of_its_name)
IN_FOLDER(what_is_half_done_can_be_undone)
IN_FOLDER(the_new_name_is_on_the_disk_too)

int main(int argc, char **argv)
{
  static const test_case tests[] = {
#define T(name) {#name, name##_}
      T(a_file_appears_when_it_is_committed),
      T(an_aborted_file_leaves_the_old_one),
      T(large_and_small_pieces_keep_their_order),
      T(a_full_disk_leaves_the_old_file),
      T(a_disk_that_fills_at_the_end_leaves_the_old_file),
      T(a_device_is_written_directly),
      T(a_link_stays_a_link),
      T(permissions_follow_the_umask_or_the_old_file),
      T(impossible_names_are_told),
      T(two_writers_of_one_name_do_not_meet),
      T(several_write_one_file_in_any_order),
      T(who_joins_neither_names_nor_removes_a_file),
      T(reading_knows_its_limits),
      T(a_link_that_leads_nowhere_gets_its_file),
      T(links_that_lead_in_circles_or_out_of_folders_are_told),
      T(names_may_be_as_long_as_the_system_allows),
      T(a_name_can_be_tried),
      T(a_file_of_a_dead_process_is_swept_by_the_next_of_its_name),
      T(what_is_half_done_can_be_undone),
      T(the_new_name_is_on_the_disk_too),
#undef T
      {0}};

  return test_main(argc, argv, tests);
}
