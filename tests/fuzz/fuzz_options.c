/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_options.c - any text as options: lines such as devices=cpu*4, weights=1,2 and
 * lanes=(cpu),cpu.
 *
 * The first byte chooses: 'c', lines are words of a command line; 'o', lines are set one by one.
 * Each is refused with a message, or accepted and kept as it was given. With the accepted ones a
 * grid is created on 1 to 4 pretended processes: it is refused with a message, or its parts tile
 * it. For libFuzzer; main.c replays inputs without it, and varies them.
 */
#include "net/net.h"
#include "runtime/objects/objects.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The option mpi is read, but no process of this test starts MPI. */
ambit_status __wrap_ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                                    const void *communicator, ambit__net **net);

ambit_status __wrap_ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                                    const void *communicator, ambit__net **net)
{
  (void)how, (void)seconds, (void)communicator;
  return ambit__net_alone.open(errors, NULL, net);
}

static void fail(const char *what, const char *text)
{
  fprintf(stderr, "%s\n%s\n", what, text);
  abort();
}

static void check_refused(ambit *a, const char *text)
{
  if (!*ambit_error_text(a)) fail("refused without a message", text);
}

/* Cuts the text into lines. Returns their number. */
static int split(char *text, char **lines)
{
  int n = 0;

  for (char *line = text; line && n < MOST_WORDS; n++) {
    char *end = strchr(line, '\n');

    if (end) *end = '\0';
    lines[n] = line;
    line = end ? end + 1 : NULL;
  }
  return n;
}

/* ---- options ---- */

/* A context that cannot be opened says why on stderr: not here. */
static ambit *open_silently(int *argc, char ***argv)
{
  const int kept = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY);
  ambit *a;

  if (kept < 0 || nothing < 0) fail("no files", "");
  dup2(nothing, STDERR_FILENO);
  a = ambit_open(argc, argv);
  dup2(kept, STDERR_FILENO);
  close(kept);
  close(nothing);
  return a;
}

static ambit *open_with(char **words, int n)
{
  char *argv[MOST_WORDS + 2] = {"fuzz"}, **at = argv;
  int argc = n + 1;
  ambit *a;

  memcpy(argv + 1, words, (size_t)n * sizeof *words);
  a = open_silently(&argc, &at);
  if (!a) fail("no context", "");
  ambit_on_error(a, NULL, NULL);
  if (ambit_error(a))
    check_refused(a, argv[0]);
  else if (argv[argc])
    fail("the command line does not end", argv[0]);
  return a;
}

static void set_one(ambit *a, char *line)
{
  char *equals = strchr(line, '=');
  const char *value = equals ? equals + 1 : "", *kept;

  if (equals) *equals = '\0';
  if (ambit_option_set(a, line, value)) {
    check_refused(a, line);
    ambit_error_clear(a);
    return;
  }
  kept = ambit_option_get(a, line);
  if (!kept || strcmp(kept, value)) fail("accepted, but not kept", line);
}

/* ---- their use ---- */

static void check_parts(const ambit_grid *g, const char *text)
{
  int64_t cells = 0;

  for (int i = 0; i < g->nparts; i++) {
    cells += ambit__box_volume(&g->parts[i]);
    for (int d = 0; d < g->box.ndims; d++)
      if (g->parts[i].lo[d] < 0 || g->parts[i].hi[d] > g->box.hi[d])
        fail("a part is outside the grid", text);
  }
  if (cells != ambit__box_volume(&g->box)) fail("the parts do not tile the grid", text);
}

static void use(ambit *a, int processes, const char *text)
{
  const int64_t extents[] = {37, 24};
  const ambit_grid *g;

  if (!ambit__pretend(a, processes - 1, processes) && (g = ambit_grid_create(a, 2, extents)))
    check_parts(g, text);
  if (ambit_error(a)) check_refused(a, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1), *lines[MOST_WORDS];
  ambit *a;
  int n;

  if (!text || !size) return free(text), 0;
  memcpy(text, data, size);
  text[size] = '\0';
  n = split(text + 1, lines);
  a = open_with(lines, text[0] == 'c' ? n : 0);
  for (int i = 0; i < n && text[0] == 'o' && !ambit_error(a); i++)
    set_one(a, lines[i]);
  if (!ambit_error(a)) use(a, 1 + (int)(size % 4), text);
  ambit_close(a);
  free(text);
  return 0;
}
