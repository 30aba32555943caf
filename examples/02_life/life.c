/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c - Conway's Game of Life on a torus.
 *
 *   life [--size N]         tests a glider and a Gosper gun against known results
 *   life --png [--size N]   seven cells that grow for long, with trails: life.png
 */
#include <ambit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The loops have constant bounds; Ambit unrolls them. Every living cell adds 1 to the population, a
 * reduction over all cells. */
static const char life_rule[] =
    AMBIT_SOURCE(void life(const unsigned char *now, unsigned char *next, sum long *population) {
      int n = 0;
      for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
          n += now[y][x];
      *next = n == 3 || (n == 4 && *now);
      *population += *next;
    });

/* Living cells glow, dead ones fade. */
static const char trail_rule[] = AMBIT_SOURCE(
    void trail(const unsigned char *now, float *glow) { *glow = *now ? 1.0f : 0.996f * *glow; });

static const char glider[] = ".O.\n"
                             "..O\n"
                             "OOO\n";
static const char acorn[] = ".O.....\n"
                            "...O...\n"
                            "OO..OOO\n";
static const char gosper_gun[] = "........................O...........\n"
                                 "......................O.O...........\n"
                                 "............OO......OO............OO\n"
                                 "...........O...O....OO............OO\n"
                                 "OO........O.....O...OO..............\n"
                                 "OO........O...O.OO....O.O...........\n"
                                 "..........O.....O.......O...........\n"
                                 "...........O...O....................\n"
                                 "............OO......................\n";

/* A torus of size x size cells, and the program for one generation. */
typedef struct world {
  int64_t size;
  ambit_grid *grid;
  ambit_field *now, *next;
  ambit_scalar *population;
  ambit_program *p;
} world;

static world make_world(ambit *a, int64_t size)
{
  ambit_grid *g = ambit_grid_create(a, 2, (int64_t[]){size, size});
  world w = {.size = size,
             .grid = g,
             .now = ambit_field_create(g, "now", AMBIT_U8),
             .next = ambit_field_create(g, "next", AMBIT_U8),
             .population = ambit_scalar_create(a, "population", AMBIT_I64),
             .p = ambit_program_create(g)};

  ambit_field_boundary(w.now, AMBIT_ALL_FACES, AMBIT_PERIODIC, 0);
  ambit_apply(w.p, ambit_kernel_create(a, life_rule), w.now, w.next, w.population);
  ambit_swap(w.p, w.now, w.next);
  return w;
}

/* Places a pattern with its upper left corner at row y, column x. */
static void place(const world *w, const char *pattern, int64_t y, int64_t x)
{
  int64_t column = x;

  for (; *pattern; pattern++) {
    const int64_t at[] = {y, column}, end[] = {y + 1, column + 1};

    if (*pattern == 'O') ambit_field_write(w->now, at, end, &(unsigned char){1});
    column = *pattern == '\n' ? x : column + 1;
    y += *pattern == '\n';
  }
}

/* ---- the check: the same in plain loops ---- */

static unsigned char *new_cells(int64_t size)
{
  unsigned char *cells = calloc((size_t)size, (size_t)size);

  if (cells) return cells;
  fprintf(stderr, "life: no memory for %lld x %lld cells\n", (long long)size, (long long)size);
  exit(1);
}

static void plain_generation(int64_t size, const unsigned char *now, unsigned char *next)
{
  for (int64_t y = 0; y < size; y++)
    for (int64_t x = 0; x < size; x++) {
      int n = 0;

      for (int64_t dy = -1; dy <= 1; dy++)
        for (int64_t dx = -1; dx <= 1; dx++)
          n += now[(y + dy + size) % size * size + (x + dx + size) % size];
      next[y * size + x] = n == 3 || (n == 4 && now[y * size + x]);
    }
}

static int64_t count(int64_t cells, const unsigned char *alive)
{
  int64_t n = 0;

  for (int64_t i = 0; i < cells; i++)
    n += alive[i];
  return n;
}

static int judge(const char *what, int64_t is, int64_t should)
{
  printf("  %-58s %6lld, known %6lld: %s\n", what, (long long)is, (long long)should,
         is == should ? "ok" : "WRONG");
  return is != should;
}

/* Cells of the world that differ from `cells` moved by `shift` rows and columns. */
static int64_t differences(const world *w, const unsigned char *cells, int64_t shift)
{
  const int64_t n = w->size;
  unsigned char *now = new_cells(n);
  int64_t differ = 0;

  if (ambit_field_read(w->now, NULL, NULL, now)) differ = n * n;
  for (int64_t i = 0; differ < n * n && i < n * n; i++)
    differ += now[i] != cells[(i / n - shift + n) % n * n + (i % n - shift + n) % n];
  free(now);
  return differ;
}

/* A glider moves by one row and one column in 4 generations. */
static int check_glider(ambit *a, int64_t size)
{
  world w = make_world(a, size);
  unsigned char *start = new_cells(size);
  int64_t astray = 0;
  int wrong;

  place(&w, glider, 1, 1);
  ambit_field_read(w.now, NULL, NULL, start);
  for (int64_t shift = 1; shift <= size; shift++) {
    ambit_run(w.p, 4);
    astray += differences(&w, start, shift % size);
  }
  printf("a glider on a torus of %lld x %lld cells\n", (long long)size, (long long)size);
  wrong = judge("cells out of place, every 4 generations all the way round", astray, 0);
  wrong |= judge("population", (int64_t)ambit_scalar_get(w.population), 5);
  free(start);
  return wrong;
}

/* Gosper's gun has 36 cells and emits a glider of 5 every 30 generations, until one returns. */
static int check_gun(ambit *a, int64_t size)
{
  enum { PERIOD = 30, SHOTS = 6, PERIODS = 40 };
  world w = make_world(a, size);
  unsigned char *now = new_cells(size), *next = new_cells(size);
  int64_t differ = 0;
  int wrong = 0;

  place(&w, gosper_gun, 4, 4);
  ambit_field_read(w.now, NULL, NULL, now);
  printf("a Gosper gun on the same torus\n");
  wrong |= judge("population at the start", count(size * size, now), 36);
  for (int period = 1; period <= PERIODS; period++) {
    char what[64];

    ambit_run(w.p, PERIOD);
    for (int i = 0; i < PERIOD; i++) {
      unsigned char *t = now;

      plain_generation(size, now, next);
      now = next;
      next = t;
    }
    differ += differences(&w, now, 0);
    if (period > SHOTS) continue;
    snprintf(what, sizeof what, "population after %d generations", period * PERIOD);
    wrong |= judge(what, (int64_t)ambit_scalar_get(w.population), 36 + 5 * period);
  }
  wrong |= judge("cells unlike a plain loop nest's in 1200 generations", differ, 0);
  free(now);
  free(next);
  return wrong;
}

/* ---- the picture ---- */

static void draw(ambit *a, int64_t size)
{
  enum { GENERATIONS = 1200 };
  world w = make_world(a, size);
  ambit_field *glow = ambit_field_create(w.grid, "glow", AMBIT_F32);

  ambit_apply(w.p, ambit_kernel_create(a, trail_rule), w.now, glow);
  place(&w, acorn, size / 2, size / 2);
  ambit_run(w.p, GENERATIONS);
  if (ambit_field_save(glow, "life.png") == AMBIT_OK)
    printf("7 cells became %.0f in %d generations: life.png\n", ambit_scalar_get(w.population),
           GENERATIONS);
}

/* ---- the command line ---- */

/* The index of a word on the command line; 0: absent. */
static int find(int argc, char **argv, const char *word)
{
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], word)) return i;
  return 0;
}

int main(int argc, char **argv)
{
  ambit *a = ambit_open(&argc, &argv);
  int is_picture = find(argc, argv, "--png"), sized = find(argc, argv, "--size"), wrong = 0;
  int64_t size = sized && sized + 1 < argc ? atoll(argv[sized + 1]) : is_picture ? 320 : 128;

  if (ambit_process(a) > 0 && !freopen("/dev/null", "w", stdout))
    return 1; /* only process 0 prints */
  if (size < 100) {
    fprintf(stderr, "life: --size %lld; a gun needs at least 100\n", (long long)size);
    wrong = 1;
  } else if (is_picture) {
    draw(a, size);
  } else {
    wrong = check_glider(a, size) | check_gun(a, size);
  }
  return ambit_close(a) != AMBIT_OK || wrong;
}
