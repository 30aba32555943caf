/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c - runs programs and their nests in turns, compares and times them.
 *
 *   bench_nests [--ambit-...] [--list] [--size small] [--scale X] [--threads N] [--rounds N]
 *               [--strict] [--alone SECONDS [--beside OPTIONS]] [NAME ...]
 *
 * Prints a line of JSON per program. A program whose results differ from those of its nest fails.
 * --scale makes the first axis X times as long. --strict only compares. --alone leaves the nest out
 * and only times, for GPUs: as many iterations as take about SECONDS. With one thread the clock
 * is the CPU time of the process, which other work on the machine disturbs less.
 *
 * --beside 'depth=2;depth=1&plan=(cells' times the program in turns with itself, with each of these
 * options set, and then, twice as often, with the fastest of them alone: times that were not chosen
 * for being small. Plans that are there already are left out. --rounds 0 only compiles all. */
#define _GNU_SOURCE /* madvise */
#include "driver.h"

#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const bench_program *const files[] = {
    bench_axes,  bench_diffusion, bench_driven,    bench_flows, bench_integers,  bench_lattice,
    bench_media, bench_plasma,    bench_reactions, bench_sums,  bench_transport, bench_waves};

typedef struct settings {
  bool is_small, is_strict;
  bool lists; /* only the names */
  int threads, rounds;
  double scale;
  double alone; /* seconds of a round, and no nest; 0: with the nest */
  char *beside; /* options with which it runs in turns, each after ';'; NULL: none */
  int noptions, nnames;
  char *options[64]; /* for ambit_open, after the name of the program */
  char *names[256];  /* of the programs to run; all if there are none */
} settings;

/* ---- fields and arrays --------------------------------------------------------------------- */

/* The extents of array i with its ghost cells, and its number of cells. */
static int64_t padded(const bench *b, int i, int64_t *extent)
{
  int64_t cells = 1;

  for (int d = 0; d < b->about->ndims; d++)
    cells *= extent[d] = b->extent[d] + 2 * b->ghost[i];
  return cells;
}

static int64_t grid_cells(const bench *b)
{
  int64_t cells = 1;

  for (int d = 0; d < b->about->ndims; d++)
    cells *= b->extent[d];
  return cells;
}

/* The place of a cell of the grid in array i, and its index, from its number in row-major order. */
static int64_t place(const bench *b, int i, int64_t cell, int64_t *index)
{
  int64_t at = 0, stride = 1;

  for (int d = b->about->ndims - 1; d >= 0; d--) {
    index[d] = cell % b->extent[d];
    cell /= b->extent[d];
    at += (index[d] + b->ghost[i]) * stride;
    stride *= b->extent[d] + 2 * b->ghost[i];
  }
  return at;
}

static double get(const void *values, ambit_type type, int64_t i)
{
  switch (type) {
#define X(name, value, ctype, text)                                                                \
  case AMBIT_##name: return (double)((const ctype *)values)[i];
    AMBIT_TYPE_MAP(X)
#undef X
  }
  return 0;
}

static void set(void *values, ambit_type type, int64_t i, double x)
{
  switch (type) {
#define X(name, value, ctype, text)                                                                \
  case AMBIT_##name: ((ctype *)values)[i] = (ctype)x; break;
    AMBIT_TYPE_MAP(X)
#undef X
  }
}

/* Zeroed memory, on huge pages as Ambit's fields are; freed when the process ends. */
static void *array_create(size_t bytes)
{
  const size_t huge = (size_t)2 << 20;
  char *memory =
      mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (memory == MAP_FAILED) {
    fprintf(stderr, "bench_nests: no memory for %zu bytes\n", bytes);
    exit(1);
  }
  memory += (huge - (uintptr_t)memory % huge) % huge;
#ifdef MADV_HUGEPAGE
  if (bytes > huge) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

ambit_field *bench_vector(bench *b, const char *name, ambit_type type, int components, int ghost,
                          ambit_fill_fn start)
{
  const int i = b->nfields++;
  int64_t extent[AMBIT_MAX_DIMS], cells;

  b->ghost[i] = ghost;
  cells = padded(b, i, extent);
  b->array[i] = array_create((size_t)(cells * components) * ambit_type_size(type));
  b->field[i] = ambit_field_create_vector(b->grid, name, type, components, AMBIT_SOA);
  if (start && !b->is_blank) ambit_field_fill_parallel(b->field[i], start, b);
  if (!start || b->is_alone) return b->field[i];
  for (int c = 0; c < components; c++)
#pragma omp parallel for
    for (int64_t cell = 0; cell < grid_cells(b); cell++) {
      int64_t index[AMBIT_MAX_DIMS], at = place(b, i, cell, index);

      set(b->array[i], type, c * cells + at, start(index, c, b));
    }
  return b->field[i];
}

ambit_field *bench_field(bench *b, const char *name, ambit_type type, int ghost,
                         ambit_fill_fn start)
{
  return bench_vector(b, name, type, 1, ghost, start);
}

ambit_scalar *bench_scalar(bench *b, const char *name, ambit_type type, double value)
{
  const int i = b->nscalars++;

  b->scalar[i] = ambit_scalar_create(b->context, name, type);
  b->result[i] = value;
  if (value != 0) ambit_scalar_set(b->scalar[i], value);
  return b->scalar[i];
}

ambit_kernel *bench_kernel(bench *b, const char *text)
{
  return ambit_kernel_create(b->context, text);
}

void bench_swap(bench *b, int i, int j)
{
  void *array = b->array[i];

  b->array[i] = b->array[j];
  b->array[j] = array;
}

/* Fills the ghost cells of axis after axis, each with those of the axes before it: blocks of
 * `inner` cells lie at the distance of the axis. */
static void fill_ghosts(bench *b, int i, bool wraps)
{
  const int r = b->ghost[i];
  const int components = ambit_field_components(b->field[i]);
  const size_t size = ambit_type_size(ambit_field_type(b->field[i]));
  int64_t extent[AMBIT_MAX_DIMS], inner = padded(b, i, extent), outer = components;

  for (int d = 0; d < b->about->ndims; d++) {
    const int64_t n = b->extent[d];

    inner /= extent[d];
#pragma omp parallel for
    for (int64_t o = 0; o < outer; o++) {
      char *first = (char *)b->array[i] + (size_t)(o * extent[d] * inner) * size;
      const size_t bytes = (size_t)inner * size;

      for (int k = 0; k < r; k++) {
        const int64_t low = wraps ? n + k : r, high = wraps ? r + k : n + r - 1;

        memcpy(first + (size_t)k * bytes, first + (size_t)low * bytes, bytes);
        memcpy(first + (size_t)(n + r + k) * bytes, first + (size_t)high * bytes, bytes);
      }
    }
    outer *= extent[d];
  }
}

void bench_wrap(bench *b, int i)
{
  fill_ghosts(b, i, true);
}

void bench_clamp(bench *b, int i)
{
  fill_ghosts(b, i, false);
}

/* ---- initial values ------------------------------------------------------------------------ */

double bench_noise(const int64_t *index, int component, void *user)
{
  const bench *b = user;
  uint64_t x = (uint64_t)component * 0x9e3779b97f4a7c15u;

  for (int d = 0; d < b->about->ndims; d++)
    x = (x ^ (uint64_t)index[d]) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 31) * 0x94d049bb133111ebu;
  return (double)(x >> 40) / 16777216.0;
}

double bench_smooth(const int64_t *index, int component, void *user)
{
  const bench *b = user;
  double x = 0;

  for (int d = 0; d < b->about->ndims; d++)
    x += sin(6.283185307179586 * (double)((d + 1) * index[d]) / (double)b->extent[d] + component);
  return 0.5 + 0.5 * x / b->about->ndims;
}

/* ---- a program ----------------------------------------------------------------------------- */

static double now(const settings *s)
{
  struct timespec t;

  clock_gettime(s->threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Threads of OpenMP spin for some milliseconds after a parallel loop (libgomp of gcc 12: 1 to 5 of
 * CPU time), those of Ambit for 0.1: the other one would share its cores with them. */
static void let_threads_sleep(const settings *s)
{
  const struct timespec a_while = {.tv_nsec = 30000000};

  if (s->threads > 1) nanosleep(&a_while, NULL);
}

static double time_ambit(bench *b, const settings *s, int iterations)
{
  double start;

  let_threads_sleep(s);
  start = now(s);
  ambit_run(b->program, iterations);
  return now(s) - start;
}

static double time_nest(bench *b, const settings *s, int iterations)
{
  double start;

  let_threads_sleep(s);
  start = now(s);
  for (int i = 0; i < iterations; i++) {
    b->about->nest(b);
    b->iteration++;
  }
  return now(s) - start;
}

/* The greatest difference of field i, relative to its greatest value; infinite if one is NaN. */
static double field_difference(bench *b, int i)
{
  const ambit_type type = ambit_field_type(b->field[i]);
  const int components = ambit_field_components(b->field[i]);
  const int64_t cells = grid_cells(b);
  int64_t extent[AMBIT_MAX_DIMS], all = padded(b, i, extent);
  void *values = array_create((size_t)(cells * components) * ambit_type_size(type));
  double worst = 0, top = 0;

  ambit_field_read(b->field[i], NULL, NULL, values);
#pragma omp parallel for reduction(max : worst, top)
  for (int64_t cell = 0; cell < cells; cell++) {
    int64_t index[AMBIT_MAX_DIMS], at = place(b, i, cell, index);

    for (int c = 0; c < components; c++) {
      const double x = get(values, type, cell * components + c);
      const double y = get(b->array[i], type, c * all + at), difference = fabs(x - y);

      worst = difference <= INFINITY ? fmax(worst, difference) : INFINITY;
      top = fmax(top, fabs(y));
    }
  }
  munmap(values, (size_t)(cells * components) * ambit_type_size(type));
  return worst > 0 ? worst / fmax(top, 1e-30) : 0;
}

/* The greatest difference of all fields and scalars; false if one is beyond the bound. */
static bool compare(bench *b, double bound, const char *when, double *greatest)
{
  double worst = 0;

  for (int i = 0; i < b->nfields + b->nscalars; i++) {
    const int s = i - b->nfields;
    double difference;

    if (s < 0) {
      difference = field_difference(b, i);
    } else {
      const double x = ambit_scalar_get(b->scalar[s]), y = b->result[s];

      difference = x == y ? 0 : fabs(x - y) / fabs(y);
    }
    if (!(difference <= bound))
      fprintf(stderr, "%s: %s of Ambit and of the nest differ by %g %s; the bound is %g\n",
              b->about->name, s < 0 ? ambit_field_name(b->field[i]) : "a scalar", difference, when,
              bound);
    worst = difference <= worst ? worst : difference;
  }
  *greatest = worst;
  return worst <= bound;
}

/* Appends the plans of the report, which goes to stderr, to a text. */
static void add_plans(ambit_program *p, char *text, size_t size)
{
  FILE *file = tmpfile();
  const int usual = dup(STDERR_FILENO);
  char line[512];

  if (!file || usual < 0) return;
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  ambit_program_report(p);
  fflush(stderr);
  dup2(usual, STDERR_FILENO);
  close(usual);
  rewind(file);
  while (fgets(line, sizeof line, file)) {
    const char *plan = strchr(line, '(');
    const size_t length = strlen(text);

    if (!plan || (strncmp(line, "  step ", 7) && strncmp(line, "  all ", 6))) continue;
    snprintf(text + length, size - length, "%s%.*s", length ? " " : "", (int)strcspn(plan, "\n"),
             plan);
  }
  fclose(file);
}

static double least(const double *values, int n)
{
  double best = values[0];

  for (int i = 1; i < n; i++)
    best = fmin(best, values[i]);
  return best;
}

enum { MOST_ROUNDS = 100 };

/* Seconds of each round. */
typedef struct times {
  int rounds, iterations;
  double ambit[MOST_ROUNDS], nest[MOST_ROUNDS];
} times;

static void take_turns(bench *b, const settings *s, times *t)
{
  for (int i = 0; i < t->rounds; i++) {
    t->ambit[i] = time_ambit(b, s, t->iterations);
    t->nest[i] = time_nest(b, s, t->iterations);
  }
}

/* The best times in ns per cell and iteration, their ratio, and all times. */
static void print_times(const bench *b, const times *t)
{
  const double unit = 1e9 / ((double)grid_cells(b) * t->iterations);
  const double x = least(t->ambit, t->rounds), y = least(t->nest, t->rounds);

  printf("\"ambit\":%.4g,\"nest\":%.4g,\"ratio\":%.3f,\"rounds\":[", x * unit, y * unit, y / x);
  for (int i = 0; i < t->rounds; i++)
    printf("%s[%.4g,%.4g]", i ? "," : "", t->ambit[i] * unit, t->nest[i] * unit);
  printf("]");
}

static void print_problem(bench *b, const settings *s, int iterations, double difference)
{
  const ambit_stats *stats = ambit_program_stats(b->program, 0);

  printf("{\"program\":\"%s\",\"size\":[", b->about->name);
  for (int d = 0; d < b->about->ndims; d++)
    printf("%s%lld", d ? "," : "", (long long)b->extent[d]);
  printf("],\"cells\":%lld,\"iterations\":%d,\"threads\":%d,\"strict\":%s,\"difference\":%.3g",
         (long long)grid_cells(b), iterations, s->threads, s->is_strict ? "true" : "false",
         difference);
  if (stats)
    printf(",\"bytes\":%.4g",
           stats->bytes / (double)stats->iterations / (double)ambit_grid_cells(b->grid));
}

/* Times without the nest: rounds of as many iterations as take a while. */
static void measure_alone(bench *b, const settings *s)
{
  int iterations = b->about->iterations;
  double seconds, best = INFINITY;
  const ambit_stats *stats;
  char plans[2048] = "";

  time_ambit(b, s, iterations); /* compiles, and chooses plans */
  seconds = time_ambit(b, s, iterations);
  if (seconds < s->alone) iterations = (int)(iterations * (s->alone / seconds)) + 1;
  for (int i = 0; i < s->rounds; i++)
    best = fmin(best, time_ambit(b, s, iterations));
  add_plans(b->program, plans, sizeof plans);
  if (b->called) add_plans(b->called, plans, sizeof plans);
  print_problem(b, s, iterations, 0);
  stats = ambit_program_stats(b->program, 1);
  if (!stats) return;
  printf(",\"flops\":%.4g,\"ambit\":%.4g,\"copy\":%.4g,\"plan\":\"%s\"}\n",
         stats->flops / (double)stats->iterations / (double)grid_cells(b),
         1e9 * best / ((double)grid_cells(b) * iterations), stats->copy_bandwidth, plans);
  fflush(stdout);
}

/* Runs both in turns; false if the results differ. The first runs compile and choose plans. */
static bool measure(bench *b, const settings *s)
{
  enum { GROWTH = 100 /* of rounding, over all runs */ };
  const int few = b->about->iterations < 9 ? b->about->iterations : 9;
  const int iterations = s->is_small ? few : b->about->iterations;
  times t = {.rounds = s->is_strict ? 0 : s->is_small ? 1 : s->rounds, .iterations = iterations};
  double first, last;
  char plans[2048] = "";
  bool is_right;

  time_ambit(b, s, iterations);
  if (ambit_error(b->context)) return false;
  time_nest(b, s, iterations);
  is_right = compare(b, b->about->bound, "after the first run", &first);
  print_problem(b, s, iterations, first);
  if (!s->is_strict) {
    take_turns(b, s, &t);
    printf(",");
    print_times(b, &t);
  }
  if (!s->is_strict && !s->is_small) {
    add_plans(b->program, plans, sizeof plans);
    if (b->called) add_plans(b->called, plans, sizeof plans);
    printf(",\"plan\":\"%s\"", plans);
  }
  printf("}\n");
  fflush(stdout);
  is_right &= compare(b, GROWTH * b->about->bound, "after all runs", &last);
  return is_right && !ambit_error(b->context);
}

/* Opens the program with the options of the command, and more: "depth=1&plan=(cells", or "". */
static void open_bench(bench *b, const bench_program *about, const settings *s, const char *more)
{
  char text[256], *words[65] = {NULL}, **options = words, *next;
  int count = s->noptions;

  *b = (bench){.about = about, .is_alone = s->alone > 0, .is_blank = s->rounds == 0};
  memcpy(words, s->options, (size_t)count * sizeof *words);
  b->context = ambit_open(&count, &options);
  snprintf(text, sizeof text, "%d", s->threads);
  ambit_option_set(b->context, "threads", text);
  if (s->is_strict) ambit_option_set(b->context, "strict", "1");
  snprintf(text, sizeof text, "%s", more);
  for (char *name = strtok_r(text, "&", &next); name; name = strtok_r(NULL, "&", &next)) {
    char *value = name + strcspn(name, "=");

    if (*value) *value++ = '\0';
    ambit_option_set(b->context, name, value);
  }
  memcpy(b->extent, s->is_small ? about->small : about->extent, sizeof b->extent);
  b->extent[0] = (int64_t)((double)b->extent[0] * s->scale);
  b->grid = ambit_grid_create(b->context, about->ndims, b->extent);
  b->program = ambit_program_create(b->grid);
  about->open(b);
}

static bool close_bench(bench *b)
{
  for (int i = 0; i < b->nfields; i++) {
    int64_t extent[AMBIT_MAX_DIMS];
    const size_t size = ambit_type_size(ambit_field_type(b->field[i]));

    munmap(b->array[i],
           (size_t)(padded(b, i, extent) * ambit_field_components(b->field[i])) * size);
  }
  return ambit_close(b->context) == AMBIT_OK;
}

/* ---- plans in turns ------------------------------------------------------------------------ */

enum { MOST_WAYS = 24 };

/* A program with one more option, and the times of its rounds. */
typedef struct way {
  bench b;
  const char *option;
  char plans[2048];
  int n;
  double seconds[3 * MOST_ROUNDS];
} way;

/* Opens a way; false if it fails, or has the plans of another one. */
static bool open_way(way *ways, int n, const bench_program *about, const settings *s)
{
  way *w = &ways[n];
  bool is_new = true;

  open_bench(&w->b, about, s, w->option);
  if (!ambit_error(w->b.context)) ambit_run(w->b.program, s->rounds ? 17 : 2);
  is_new = !ambit_error(w->b.context);
  if (is_new) add_plans(w->b.program, w->plans, sizeof w->plans);
  if (is_new && w->b.called) add_plans(w->b.called, w->plans, sizeof w->plans);
  for (int i = 0; i < n; i++)
    is_new &= strcmp(ways[i].plans, w->plans) != 0;
  if (!is_new) close_bench(&w->b);
  return is_new;
}

static void time_way(way *w, const settings *s, int iterations)
{
  const struct timespec a_while = {.tv_nsec = 1000000}; /* until the threads of others sleep */
  double start;

  nanosleep(&a_while, NULL);
  start = now(s);
  ambit_run(w->b.program, iterations);
  w->seconds[w->n++] = now(s) - start;
}

static void print_ways(const way *ways, int n, const settings *s, int iterations)
{
  const double unit = 1e9 / ((double)grid_cells(&ways->b) * iterations);

  printf("{\"program\":\"%s\",\"cells\":%lld,\"iterations\":%d,\"threads\":%d,\"ways\":[",
         ways->b.about->name, (long long)grid_cells(&ways->b), iterations, s->threads);
  for (int i = 0; i < n; i++) {
    printf("%s{\"option\":\"%s\",\"plan\":\"%s\",\"ns\":[", i ? "," : "", ways[i].option,
           ways[i].plans);
    for (int j = 0; j < ways[i].n; j++)
      printf("%s%.4g", j ? "," : "", ways[i].seconds[j] * unit);
    printf("]}");
  }
  printf("]}\n");
  fflush(stdout);
}

/* Runs the program with its options and with others in turns; cycles of 1, 2, 3, 4, 6, 8, 12 and 16
 * iterations leave one single iteration. */
static bool take_ways(const bench_program *about, const settings *s)
{
  static way ways[MOST_WAYS];
  char options[4096], *next;
  int n = 0, best = 1, iterations = 49;
  bool is_right = true;

  snprintf(options, sizeof options, ";%s", s->beside);
  for (char *option = options; option && n < MOST_WAYS; option = next) {
    next = strchr(option, ';');
    if (next) *next++ = '\0';
    ways[n] = (way){.option = option};
    if (open_way(ways, n, about, s)) n++;
  }
  if (n > 0 && s->rounds) {
    time_way(&ways[0], s, iterations);
    if (ways[0].seconds[0] > 2 * s->alone) iterations = 17;
    if (ways[0].seconds[0] < s->alone)
      iterations = 48 * (int)ceil(s->alone / ways[0].seconds[0]) + 1;
    for (int i = 0; i < n; i++)
      ways[i].n = 0;
    for (int r = 0; r < s->rounds; r++)
      for (int i = 0; i < n; i++)
        time_way(&ways[i], s, iterations);
    for (int i = 2; i < n; i++)
      if (least(ways[i].seconds, s->rounds) < least(ways[best].seconds, s->rounds)) best = i;
    for (int r = 0; r < 2 * s->rounds && n > 1; r++) {
      time_way(&ways[0], s, iterations);
      time_way(&ways[best], s, iterations);
    }
    print_ways(ways, n, s, iterations);
  }
  for (int i = 0; i < n; i++)
    is_right &= close_bench(&ways[i].b);
  return is_right && n > 0;
}

static bool run(const bench_program *about, const settings *s)
{
  bench b;
  bool is_right;

  if (s->beside) return take_ways(about, s);
  open_bench(&b, about, s, "");
  if (s->alone > 0) {
    if (!ambit_error(b.context)) measure_alone(&b, s);
    is_right = !ambit_error(b.context);
  } else {
    is_right = !ambit_error(b.context) && measure(&b, s);
  }
  return close_bench(&b) && is_right;
}

/* ---- the command --------------------------------------------------------------------------- */

static bool is_named(const char *name, const settings *s)
{
  for (int i = 0; i < s->nnames; i++)
    if (!strcmp(name, s->names[i])) return true;
  return s->nnames == 0;
}

static bool read_arguments(int argc, char **argv, settings *s)
{
  s->options[s->noptions++] = argv[0];
  for (int i = 1; i < argc && s->noptions < 64 && s->nnames < 256; i++) {
    const char *word = argv[i];

    if (!strncmp(word, "--ambit-", 8))
      s->options[s->noptions++] = argv[i];
    else if (!strcmp(word, "--list"))
      s->lists = true;
    else if (!strcmp(word, "--strict"))
      s->is_strict = true;
    else if (word[0] != '-')
      s->names[s->nnames++] = argv[i];
    else if (++i == argc)
      return false;
    else if (!strcmp(word, "--size"))
      s->is_small = !strcmp(argv[i], "small");
    else if (!strcmp(word, "--scale"))
      s->scale = atof(argv[i]);
    else if (!strcmp(word, "--threads"))
      s->threads = atoi(argv[i]);
    else if (!strcmp(word, "--rounds"))
      s->rounds = atoi(argv[i]);
    else if (!strcmp(word, "--alone"))
      s->alone = atof(argv[i]);
    else if (!strcmp(word, "--beside"))
      s->beside = argv[i];
    else
      return false;
  }
  return s->threads > 0 && s->rounds >= !s->beside && s->rounds <= MOST_ROUNDS && s->scale > 0 &&
         (s->alone > 0 || !s->beside);
}

int main(int argc, char **argv)
{
  settings s = {.threads = omp_get_max_threads(), .rounds = 5, .scale = 1};
  int done = 0, failed = 0;

  if (!read_arguments(argc, argv, &s)) {
    fprintf(stderr, "usage: bench_nests [--ambit-...] [--list] [--size small] [--scale X] "
                    "[--threads N] [--rounds N] [--strict] [--alone SECONDS [--beside "
                    "OPTIONS]] [NAME ...]\n");
    return 2;
  }
  omp_set_num_threads(s.threads);
  for (size_t f = 0; f < sizeof files / sizeof *files; f++)
    for (const bench_program *p = files[f]; p->name; p++) {
      if (!is_named(p->name, &s)) continue;
      done++;
      if (s.lists)
        printf("%s\n", p->name);
      else if (!run(p, &s))
        failed++;
    }
  if (!done) fprintf(stderr, "bench_nests: there is no program of this name; try --list\n");
  return failed || !done;
}
