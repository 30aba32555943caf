/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - replays fuzzing inputs: for compilers without libFuzzer, and for what it once found.
 *
 *   ./fuzz_kernel_replay [--vary COUNT SEED | --seconds COUNT SEED] corpus/kernel/heat.c ...
 *
 * With --vary, COUNT random variations of the inputs follow, with --seconds as many as there is
 * time for. If the program was compiled with -fsanitize-coverage=trace-pc, variations that reach
 * new code are varied further. One that fails is left in the file fuzz-failed-SEED.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 12, /* of a variation */ MOST_INPUTS = 1 << 14, CODE_BITS = 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

typedef struct input {
  uint8_t *data;
  size_t size;
} input;

static int load(const char *path, input *in)
{
  FILE *file = fopen(path, "rb");
  size_t cap = 0, got;

  if (!file) {
    perror(path);
    return 1;
  }
  do {
    if (in->size == cap) {
      uint8_t *more = realloc(in->data, cap = cap ? 2 * cap : 4096);

      if (!more) abort();
      in->data = more;
    }
    got = fread(in->data + in->size, 1, cap - in->size, file);
    in->size += got;
  } while (got);
  fclose(file);
  return 0;
}

/* ---- code that was reached ---- */

static uint8_t reached[1 << CODE_BITS]; /* by hashed address */
static size_t nreached;

#if __has_attribute(no_sanitize_coverage)
#  define UNTRACED __attribute__((no_sanitize_coverage))
#else
#  define UNTRACED __attribute__((no_sanitize("coverage")))
#endif

UNTRACED void __sanitizer_cov_trace_pc(void);

/* Compilers call this wherever the flow of control comes from several places or goes to them. */
void __sanitizer_cov_trace_pc(void)
{
  const uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0);
  const size_t at = (size_t)((address * 0x9e3779b97f4a7c15U) >> (64 - CODE_BITS));

  nreached += !reached[at];
  reached[at] = 1;
}

/* ---- variations ---- */

static input inputs[MOST_INPUTS];
static size_t ninputs;
static uint64_t seed; /* of the variation that runs */
static uint64_t state;
static uint8_t text[MOST_BYTES]; /* the variation */
static size_t size;              /* of it */

static size_t below(size_t n)
{
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (size_t)(state >> 33) % n;
}

static void show(void)
{
  char path[64];
  FILE *file;

  snprintf(path, sizeof path, "fuzz-failed-%llu", (unsigned long long)seed);
  file = fopen(path, "wb");
  if (file) fwrite(text, 1, size, file);
  if (file) fclose(file);
  fprintf(stderr, "the variation that failed is in %s\n", path);
}

static void die(int sig)
{
  show();
  signal(sig, SIG_DFL);
  raise(sig);
}

/* Replaces `drop` bytes at `at` by n others. */
static void replace(size_t at, size_t drop, const uint8_t *by, size_t n)
{
  if (size - drop + n > MOST_BYTES) return;
  memmove(text + at + n, text + at + drop, size - at - drop);
  memcpy(text + at, by, n);
  size += n - drop;
}

/* Bytes of another input, of numbers or of signs take the place of some bytes. */
static void vary(const input *other)
{
  static const char *const words[] = {"0", "-1", "4096", "4097", "99999999999", "1e308", "nan",
                                      ",", "*",  ":",    "=",    "(",           ")",     "x",
                                      "",  " ",  "1",    "2.5",  "\n",          "inf",   "%s"};
  const size_t at = below(size + 1), most = size - at < 8 ? size - at : 8, drop = below(most + 1);
  const char *word = words[below(sizeof words / sizeof *words)];
  const size_t from = below(other->size + 1), n = below(other->size - from + 1);
  uint8_t byte = (uint8_t)below(256);

  switch (below(4)) {
  case 0: replace(at, drop, &byte, 1); break;
  case 1: replace(at, drop, other->data + from, n); break;
  default: replace(at, drop, (const uint8_t *)word, strlen(word));
  }
}

static void keep(void)
{
  input *in = &inputs[ninputs];

  if (ninputs == MOST_INPUTS || !(in->data = malloc(size + 1))) return;
  memcpy(in->data, text, size);
  in->size = size;
  ninputs++;
}

static void try_variation(void)
{
  const input *in = &inputs[(state = seed, below(4), below(ninputs))];
  const size_t before = nreached;

  size = in->size < MOST_BYTES ? in->size : MOST_BYTES;
  memcpy(text, in->data, size);
  for (size_t i = 1 + below(5); i; i--)
    vary(&inputs[below(ninputs)]);
  LLVMFuzzerTestOneInput(text, size);
  if (nreached > before) keep();
}

/* Until `count` are done, or that many seconds are over. */
static long try_variations(long count, int is_seconds)
{
  const time_t end = time(NULL) + count;
  long n = 0;

  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(show);
  signal(SIGABRT, die);
  signal(SIGSEGV, die);
  signal(SIGALRM, die);
  for (; is_seconds ? time(NULL) < end : n < count; n++, seed++) {
    alarm(120); /* for one that hangs; a busy machine may be slow */
    try_variation();
  }
  alarm(0);
  return n;
}

int main(int argc, char **argv)
{
  const int is_seconds = argc > 3 && !strcmp(argv[1], "--seconds");
  const int first = is_seconds || (argc > 3 && !strcmp(argv[1], "--vary")) ? 4 : 1;
  const size_t given = (size_t)(argc - first);
  int bad = !given || given > MOST_INPUTS;
  long n = 0;

  if (bad) fprintf(stderr, "usage: %s [--vary|--seconds COUNT SEED] input...\n", argv[0]);
  for (; ninputs < given && !bad; ninputs++)
    bad = load(argv[(size_t)first + ninputs], &inputs[ninputs]);
  for (size_t i = 0; i < given && !bad; i++)
    LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].size);
  if (first == 4) seed = strtoull(argv[3], NULL, 10);
  if (first == 4 && !bad) n = try_variations(atol(argv[2]), is_seconds);
  printf("%zu inputs, %ld variations, %zu inputs at the end, %zu places reached\n", given, n,
         ninputs, nreached);
  fflush(stdout); /* before the leak check */
  while (ninputs)
    free(inputs[--ninputs].data);
  return bad;
}
