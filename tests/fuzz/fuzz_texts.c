/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_texts.c - any text as one of the small formats that users give: weights, the header of a
 * NumPy file, the option partition, the launch line of a GPU kernel. The first byte chooses. The
 * text is refused with a message, or accepted; printed again it gives the same. For libFuzzer;
 * main.c replays inputs without it.
 */
#include "grid/partition.h"
#include "io/npy.h"
#include "kernel/weights_file.h"
#include "plan/launch_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *text)
{
  fprintf(stderr, "%s\n%s\n", what, text);
  abort();
}

static void check_refused(ambit__errors *errors, const char *text)
{
  if (!errors->text || !*errors->text) fail("refused without a message", text);
  ambit__errors_clear(errors);
}

static void read_weights(const char *text)
{
  ambit__errors errors = {0};
  ambit_weights w = {0};

  if (ambit__weights_parse(&errors, "fuzz", text, &w)) check_refused(&errors, text);
  free((void *)w.weights);
}

static void read_header(const char *text)
{
  ambit__errors errors = {0};
  ambit__npy_info info = {0}, again = {0};
  char header[AMBIT__NPY_HEADER_BYTES + 1];
  size_t n;

  if (ambit__npy_parse_header(&errors, "fuzz", text, &info)) {
    check_refused(&errors, text);
    return;
  }
  n = ambit__npy_make_header(&info, header);
  if (n > AMBIT__NPY_HEADER_BYTES) fail("the header is too long", text);
  header[n] = '\0';
  if (ambit__npy_parse_header(&errors, "again", header + 10, &again))
    fail(errors.text, header + 10);
  if (again.type != info.type || again.ndims != info.ndims || again.bytes != info.bytes ||
      again.axes != info.axes || again.values != info.values ||
      memcmp(again.shape, info.shape, (size_t)info.ndims * sizeof *info.shape))
    fail("the header changed", text);
}

static void read_launch_line(const char *text)
{
  ambit__errors errors = {0};
  ambit__launch_line launch_line, again;
  ambit__text line = {0};
  char *printed;

  if (ambit__launch_line_read(&errors, "fuzz", text, &launch_line)) {
    check_refused(&errors, text);
    return;
  }
  ambit__launch_line_print(&launch_line, &line);
  printed = ambit__text_finish(&line);
  if (!printed) return;
  if (ambit__launch_line_read(&errors, "again", printed, &again)) fail(errors.text, printed);
  free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  ambit__cuts cuts;
  char *text;

  if (!size || !(text = malloc(size))) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  switch (data[0]) {
  case 'w': read_weights(text); break;
  case 'n': read_header(text); break;
  case 'p': ambit__cuts_parse(text, &cuts); break;
  case 'r': read_launch_line(text); break;
  }
  free(text);
  return 0;
}
