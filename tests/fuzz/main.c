/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - replays fuzzing inputs: for compilers without libFuzzer, and for what it once found.
 *
 *   ./replay_kernel corpus/kernel/heat.c ...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
  FILE *file = fopen(path, "rb");
  uint8_t *data = NULL;
  size_t size = 0, cap = 0, got;

  if (!file) {
    perror(path);
    return 1;
  }
  do {
    if (size == cap) {
      uint8_t *more = realloc(data, cap = cap ? 2 * cap : 4096);

      if (!more) abort();
      data = more;
    }
    got = fread(data + size, 1, cap - size, file);
    size += got;
  } while (got);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  return 0;
}

int main(int argc, char **argv)
{
  int bad = argc < 2;

  if (bad) fprintf(stderr, "usage: %s input...\n", argv[0]);
  for (int i = 1; i < argc; i++)
    bad |= replay(argv[i]);
  printf("%d inputs\n", argc - 1);
  return bad;
}
