/* capture.h - what a piece of a test writes to standard error. */
#ifndef AMBIT_TEST_CAPTURE_H
#define AMBIT_TEST_CAPTURE_H

#include <stdio.h>
#include <unistd.h>

static FILE *capture_file;
static int capture_before = -1; /* standard error as it was */

static inline void capture_begin(void)
{
  fflush(stderr);
  capture_file = tmpfile();
  capture_before = dup(STDERR_FILENO);
  if (capture_file) dup2(fileno(capture_file), STDERR_FILENO);
}

/* Ends it and returns the text; good until the next capture. */
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
