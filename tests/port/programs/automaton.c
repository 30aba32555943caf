/* A cellular automaton of chars: branches of a switch that end inside their block, or with a
 * return. */
#include "show.h"

#define W 24
#define H 18
enum { EMPTY, HEAD, TAIL, WIRE };
static char world[2][H][W];

static int weight(int c)
{
  switch (c) {
  case HEAD: return 1;
  case TAIL:
  case WIRE: return 0;
  default: {
    int x = c + 1;

    return x - 1;
  }
  }
}

static int evolve(char (*to)[W], char (*from)[W])
{
  int alive = 0;

  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      char c = from[y][x];

      switch (c) {
      case HEAD: c = TAIL; break;
      case TAIL: {
        c = WIRE;
        break;
      }
      case WIRE: {
        int n = 0;

        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++)
            n += weight(from[(y + dy + H) % H][(x + dx + W) % W]);
        if (n == 1 || n == 2) c = HEAD;
      } break;
      default: break;
      }
      to[y][x] = c;
      if (c == HEAD) alive++;
    }
  return alive;
}

int main(void)
{
  int total = 0;

  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++)
      world[0][y][x] = (x * 7 + y * 5) % 3 ? WIRE : (x + y) % 4 == 0 ? HEAD : EMPTY;
#pragma ambit
  for (int t = 0; t < 9; t++)
    total += evolve(world[(t + 1) % 2], world[t % 2]);
  show("world", world, sizeof world);
  printf("%d\n", total);
  return 0;
}
