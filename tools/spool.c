/* SPDX-License-Identifier: BSD-3-Clause */
/* spool.c - input that can be read only once: a pipe, a FIFO, standard input.
 *
 * The tool looks at an input twice, at its header before there is a grid and at its values after;
 * so such a file is opened once and copied to a temporary one, which goes away.
 */
#define _GNU_SOURCE 1 /* mkostemps */
#include "args.h"

#include "base/text.h"
#include "base/undo.h"
#include "runtime/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

static void remove_copy(void *path)
{
  unlink(path);
}

static bool write_all(int fd, const char *data, ssize_t bytes)
{
  while (bytes > 0) {
    ssize_t n = write(fd, data, (size_t)bytes);

    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    bytes -= n;
  }
  return true;
}

/* False with errno. */
static bool copy(int from, int to)
{
  char *chunk = malloc(CHUNK);
  ssize_t n = 0;
  bool ok = chunk != NULL;

  while (ok && (n = read(from, chunk, CHUNK))) {
    if (n < 0 && errno == EINTR) continue;
    ok = n > 0 && write_all(to, chunk, n);
  }
  free(chunk);
  return ok;
}

/* A new file in TMPDIR, or /tmp, that is noted to be removed. */
static int create_copy(tool_spool *s)
{
  const char *folder = getenv("TMPDIR");
  ambit__text t = {0};
  int fd = -1;

  ambit__print(&t, "%s/ambit-input-XXXXXX.npy", folder && *folder ? folder : "/tmp");
  s->copy = ambit__text_finish(&t);
  if (!s->copy) return -1;
  s->undo = (ambit__undo){.run = remove_copy, .what = s->copy};
  ambit__undo_lock();
  fd = mkostemps(s->copy, (int)strlen(".npy"), O_CLOEXEC);
  if (fd >= 0) ambit__undo_add(&s->undo);
  ambit__undo_unlock();
  return fd;
}

static ambit_status spool(ambit *a, const char *path, int from, tool_spool *s)
{
  int to = create_copy(s);
  bool ok = to >= 0 && copy(from, to);
  int err = errno;

  if (to >= 0 && close(to)) ok = false;
  AMBIT_CHECK(ok, &a->errors, AMBIT_EIO, "cannot copy %s to %s: %s", path,
              s->copy ? s->copy : "a temporary file", strerror(err));
  return AMBIT_OK;
}

int tool_spool_open(ambit *a, const char *path, tool_spool *s)
{
  struct stat st;
  ambit_status status;
  int from;

  *s = (tool_spool){0};
  if (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) return TOOL_OK;
  if (a->net->size > 1) {
    ambit__raise(&a->errors, AMBIT_EUNSUPPORTED,
                 "%s is not a regular file; input from a pipe is for one process", path);
    return TOOL_FAILED;
  }
  from = open(path, O_RDONLY | O_CLOEXEC);
  if (from < 0) {
    ambit__raise(&a->errors, AMBIT_EIO, "cannot open %s: %s", path, strerror(errno));
    return TOOL_FAILED;
  }
  status = spool(a, path, from, s);
  close(from);
  return status ? TOOL_FAILED : TOOL_OK;
}

void tool_spool_close(tool_spool *s)
{
  if (s->undo.link) unlink(s->copy);
  ambit__undo_remove(&s->undo);
  free(s->copy);
  s->copy = NULL;
}
