/* Fire in a forest: states as enums, integer counts, a random field made by a hash in the nest, neighbours by short loops over offsets, two
 * global buffers chosen by parity through pointers, a while loop that ends when nothing burns. */
#include <stdlib.h>

#include "show.h"

enum cell { EMPTY, TREE, FIRE, ASH };
enum { N = 33, M = 27 };

static enum cell field[2][N][M];
static int burnt[N][M];

static unsigned int hash(unsigned int x)
{
  x ^= x >> 13;
  x *= 0x5bd1e995u;
  return x ^ x >> 15;
}

#pragma ambit
static int burn(enum cell (*now)[M], enum cell (*next)[M], int t)
{
  int burning = 0;

  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++) {
      int near = 0;
      enum cell c = now[i][j];

      for (int a = -1; a <= 1; a++)
        for (int b = -1; b <= 1; b++)
          if ((a || b) && now[i + a][j + b] == FIRE) near++;
      if (c == TREE && near > (i * j + t) % 3)
        c = FIRE;
      else if (c == FIRE)
        c = ASH;
      if (c == FIRE) burning++;
      next[i][j] = c;
    }
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < M - 1; j++)
      if (next[i][j] == ASH) burnt[i][j] += 1;
  return burning;
}

int main(void)
{
  int t = 0, left;

  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      field[0][i][j] = field[1][i][j] = hash((unsigned)(i * M + j)) % 4 ? TREE : EMPTY;
  field[0][16][13] = FIRE;
  while ((left = burn(field[t % 2], field[(t + 1) % 2], t)) > 0 && t < 100) {
    if (t % 10 == 0) printf("%d ", left);
    t++;
  }
  printf("%d\n", t);
  show("field", field, sizeof field);
  show("burnt", burnt, sizeof burnt);
  return 0;
}
