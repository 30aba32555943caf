/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - replays fuzzing inputs: for compilers without libFuzzer, and for what it once found.
 *
 *   ./fuzz_kernel_replay [--vary COUNT SEED] corpus/kernel/heat.c ...
 *
 * With --vary, COUNT random variations of the inputs follow. If one fails, its seed is printed;
 * --vary 1 with that seed repeats it.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 12 }; /* of a variation */

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

/* ---- variations ---- */

static uint64_t seed; /* of the variation that runs */
static uint64_t state;

static size_t below(size_t n)
{
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (size_t)(state >> 33) % n;
}

static void print_seed(void)
{
  fprintf(stderr, "the variation that failed: --vary 1 %llu\n", (unsigned long long)seed);
}

static void die(int sig)
{
  print_seed();
  signal(sig, SIG_DFL);
  raise(sig);
}

/* Replaces `drop` bytes at `at` by n others. */
static size_t replace(uint8_t *text, size_t size, size_t at, size_t drop, const uint8_t *by,
                      size_t n)
{
  if (size - drop + n > MOST_BYTES) return size;
  memmove(text + at + n, text + at + drop, size - at - drop);
  memcpy(text + at, by, n);
  return size - drop + n;
}

/* Bytes of another input, of numbers or of signs take the place of some bytes. */
static size_t vary(uint8_t *text, size_t size, const input *other)
{
  static const char *const words[] = {"0", "-1", "4096", "4097", "99999999999", "1e308", "nan",
                                      ",", "*",  ":",    "=",    "(",           ")",     "x",
                                      "",  " ",  "1",    "2.5",  "\n",          "inf",   "%s"};
  const size_t at = below(size + 1), most = size - at < 8 ? size - at : 8, drop = below(most + 1);
  const char *word = words[below(sizeof words / sizeof *words)];
  const size_t from = below(other->size + 1), n = below(other->size - from + 1);
  uint8_t byte = (uint8_t)below(256);

  switch (below(4)) {
  case 0: return replace(text, size, at, drop, &byte, 1);
  case 1: return replace(text, size, at, drop, other->data + from, n);
  default: return replace(text, size, at, drop, (const uint8_t *)word, strlen(word));
  }
}

static void try_variation(const input *inputs, int n)
{
  static uint8_t text[MOST_BYTES];
  const input *in = &inputs[(state = seed, below(4), below((size_t)n))];
  size_t size = in->size < MOST_BYTES ? in->size : MOST_BYTES;

  memcpy(text, in->data, size);
  for (size_t i = 1 + below(5); i; i--)
    size = vary(text, size, &inputs[below((size_t)n)]);
  LLVMFuzzerTestOneInput(text, size);
}

static void try_variations(const input *inputs, int n, long count)
{
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(print_seed);
  signal(SIGABRT, die);
  signal(SIGSEGV, die);
  signal(SIGALRM, die);
  for (long i = 0; i < count; i++, seed++) {
    alarm(10);
    try_variation(inputs, n);
  }
  alarm(0);
}

int main(int argc, char **argv)
{
  const int first = argc > 3 && !strcmp(argv[1], "--vary") ? 4 : 1, n = argc - first;
  const long count = first == 4 ? atol(argv[2]) : 0;
  input *inputs = calloc((size_t)argc, sizeof *inputs);
  int bad = n < 1 || !inputs;

  if (bad) fprintf(stderr, "usage: %s [--vary COUNT SEED] input...\n", argv[0]);
  for (int i = 0; i < n && !bad; i++)
    bad = load(argv[first + i], &inputs[i]);
  for (int i = 0; i < n && !bad; i++)
    LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].size);
  if (first == 4) seed = strtoull(argv[3], NULL, 10);
  if (!bad) try_variations(inputs, n, count);
  printf("%d inputs, %ld variations\n", n, count);
  for (int i = 0; i < n; i++)
    free(inputs[i].data);
  free(inputs);
  return bad;
}
