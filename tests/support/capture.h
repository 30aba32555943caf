/* SPDX-License-Identifier: BSD-3-Clause */
/* capture.h - captures the output of a test to stderr. */
#ifndef AMBIT_TEST_CAPTURE_H
#define AMBIT_TEST_CAPTURE_H

#include <stdio.h>
#include <unistd.h>

static FILE *capture_file;
static int capture_before = -1; /* the original stderr */

static inline void capture_begin(void)
{
  fflush(stderr);
  capture_file = tmpfile();
  capture_before = dup(STDERR_FILENO);
  if (capture_file) dup2(fileno(capture_file), STDERR_FILENO);
}

/* Ends the capture and returns the text, valid until the next capture. */
static inline const char *capture_end(void)
{
  static char text[16384];
  size_t n = 0;

  fflush(stderr);
  dup2(capture_before, STDERR_FILENO);
  close(capture_before);
  if (capture_file) {
    rewind(capture_file);
    n = fread(text, 1, sizeof text - 1, capture_file);
    fclose(capture_file);
  }
  text[n] = 0;
  return text;
}

#endif
