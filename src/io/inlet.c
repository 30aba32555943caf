/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/inlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE_MS = 50 }; /* between two looks at the stop flag */

ambit_status ambit__inlet_open(ambit__errors *errors, const char *path, int fd, atomic_bool *stop,
                               ambit__inlet *in)
{
  const bool standard = !fd && !strcmp(path, "-");

  in->at = in->end = 0;
  in->path = standard ? "standard input" : path;
  in->stop = stop;
  in->fd = standard || fd ? dup(fd) : open(path, O_RDONLY | O_CLOEXEC);
  AMBIT_CHECK(in->fd >= 0, errors, AMBIT_EIO, "cannot open %s: %s", in->path, strerror(errno));
  return AMBIT_OK;
}

void ambit__inlet_close(ambit__inlet *in)
{
  if (in->fd >= 0) close(in->fd);
  in->fd = -1;
}

int64_t ambit__inlet_bytes(const ambit__inlet *in)
{
  struct stat st;

  return !fstat(in->fd, &st) && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
}

/* Waits for bytes. Returns false if the stop flag is set. */
static bool await(const ambit__inlet *in)
{
  struct pollfd p = {.fd = in->fd, .events = POLLIN};

  while (!atomic_load(in->stop))
    if (poll(&p, 1, PATIENCE_MS) != 0) return true; /* also errors, which read() reports */
  return false;
}

/* One read(); 0 bytes at the end. */
static ambit_status fetch(const ambit__inlet *in, ambit__errors *errors, void *bytes, size_t n,
                          size_t *got)
{
  ssize_t r;

  *got = 0;
  do {
    if (!await(in)) return AMBIT_OK;
    r = read(in->fd, bytes, n);
  } while (r < 0 && (errno == EINTR || errno == EAGAIN));
  AMBIT_CHECK(r >= 0, errors, AMBIT_EIO, "cannot read %s: %s", in->path, strerror(errno));
  *got = (size_t)r;
  return AMBIT_OK;
}

ambit_status ambit__inlet_read(ambit__inlet *in, ambit__errors *errors, void *bytes, size_t n,
                               size_t *got)
{
  size_t more = in->end - in->at < n ? in->end - in->at : n;

  memcpy(bytes, in->buffer + in->at, more);
  in->at += more;
  for (*got = more; *got < n; *got += more) {
    AMBIT_TRY(fetch(in, errors, (char *)bytes + *got, n - *got, &more));
    if (!more) break;
  }
  return AMBIT_OK;
}

/* The next byte; -1 at the end. */
static ambit_status next_byte(ambit__inlet *in, ambit__errors *errors, int *byte)
{
  if (in->at == in->end) {
    in->at = 0;
    AMBIT_TRY(fetch(in, errors, in->buffer, sizeof in->buffer, &in->end));
  }
  *byte = in->at < in->end ? in->buffer[in->at++] : -1;
  return AMBIT_OK;
}

ambit_status ambit__inlet_line(ambit__inlet *in, ambit__errors *errors, char *line, int most,
                               int *length)
{
  int byte, n = 0;

  for (*length = most; n < most; n++) {
    AMBIT_TRY(next_byte(in, errors, &byte));
    if (byte < 0 && !n) *length = -1;
    if (byte <= 0) return AMBIT_OK;
    line[n] = byte == '\n' ? '\0' : (char)byte;
    if (byte != '\n') continue;
    *length = n;
    return AMBIT_OK;
  }
  return AMBIT_OK;
}
