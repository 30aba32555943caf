/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of sparse grids against the definition of reads, and the cells that threads are assigned,
 * against chunks. */
#include "grid/assignment.h"
#include "grid/constants.h"
#include "masks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INACTIVE = -1, FACES = -100 }; /* values in memory; FACES - 2 axis - side: a constant */

static double beyond(const ambit__boundaries *b, int side, double value)
{
  return b->kind[2][side] == AMBIT_CONSTANT ? b->value[2][side] : value;
}

static void set(double *memory, int64_t at, int64_t n, double value)
{
  for (int64_t i = 0; i < n; i++)
    memory[at + i] = value;
}

/* A memory as devices set it: active cells have their number in the box as their value. */
static double *memory_of(const ambit__chunks *c)
{
  const ambit__active *a = c->active;
  const ambit__boundaries *b = &c->form->views[0];
  const int64_t extent = a->box.hi[2], pad = a->pad;
  double *memory = malloc((size_t)a->size * sizeof *memory);

  set(memory, 0, a->size, INACTIVE);
  for (int k = 0; k < 5; k++) {
    const int64_t at = ambit__active_section(a, k);
    const double value = k ? b->value[(k - 1) / 2][(k - 1) % 2] : INACTIVE;

    set(memory, at, a->section, value);
    set(memory, at - pad, pad, beyond(b, 0, value));
    set(memory, at + a->section, pad, beyond(b, 1, value));
  }
  for (int64_t i = 0; i < a->n; i++) {
    const ambit__run *r = &a->runs[i];

    for (int64_t x = r->lo; x < r->hi; x++)
      memory[r->at + x - r->lo] = (double)(r->row * extent + x);
    if (a->storage != STORAGE_RUNS) continue;
    if (r->lo < pad && (!i || r[-1].row != r->row))
      set(memory, r->at - r->lo - pad, pad, beyond(b, 0, INACTIVE));
    if (extent - r->hi < pad && (i + 1 == a->n || r[1].row != r->row))
      set(memory, r->at + extent - r->lo, pad, beyond(b, 1, INACTIVE));
  }
  for (int64_t i = 0; i < c->edges[0].n; i++)
    memory[c->edges[0].moves[2 * i]] = memory[c->edges[0].moves[2 * i + 1]];
  return memory;
}

/* Constants are what devices set before active cells and edges have values. */
static void check_constants(const ambit__chunks *c, const double *memory)
{
  const ambit__active *a = c->active;
  double *constants = malloc((size_t)a->size * sizeof *constants);

  set(constants, 0, a->size, INACTIVE);
  for (int k = 0; k < ambit__constants_sets(a); k++)
    for (int64_t i = 0, from, to; ambit__constants_next(a, k, &i, &from, &to);)
      set(constants, from, to - from, ambit__constants_value(a, &c->form->views[0], k));
  for (int64_t i = 0; i < a->n; i++)
    set(constants, a->runs[i].at, a->runs[i].hi - a->runs[i].lo, 0);
  for (int64_t i = 0; i < c->edges[0].n; i++)
    constants[c->edges[0].moves[2 * i]] = memory[c->edges[0].moves[2 * i]];
  for (int64_t i = 0; i < a->size; i++)
    CHECK(constants[i] == memory[i] || (constants[i] == 0 && memory[i] >= 0));
  free(constants);
}

static int64_t index_in(const int32_t *words)
{
  return (int64_t)((uint64_t)(uint32_t)words[0] | (uint64_t)(uint32_t)words[1] << 32);
}

static bool is_inner(const int32_t *chunk, int64_t x)
{
  return x >= ambit__inner_from(chunk[AMBIT__CHUNK_INNER]) &&
         x < ambit__inner_end(chunk[AMBIT__CHUNK_INNER]);
}

/* By position the number of the chunk of its cell; -1: none. */
static int64_t *chunks_by_cell(const ambit__chunks *c)
{
  int64_t *chunk_of = malloc((size_t)c->active->size * sizeof *chunk_of);

  for (int64_t i = 0; i < c->active->size; i++)
    chunk_of[i] = -1;
  for (int64_t i = 0; i < c->n; i++)
    for (int64_t x = 0; x < c->table[i * c->words + AMBIT__CHUNK_CELLS]; x++)
      chunk_of[c->table[i * c->words] + x] = i;
  return chunk_of;
}

/* A cell of a unit whose line is known: `chunk_of` has by position the chunk of a cell that was not
 * seen before. */
static void check_cell(const ambit__chunks *c, const int32_t *line, int64_t at, int64_t x,
                       const double *memory, int64_t *chunk_of)
{
  const int columns = c->form->ncolumns;
  const int32_t *chunk = c->table + chunk_of[at] * c->words;
  const int32_t *indices = line + AMBIT__LINE_COLUMN + columns;

  CHECK(chunk_of[at] >= 0);
  CHECK(!memcmp(line + AMBIT__LINE_COLUMN, chunk + AMBIT__CHUNK_COLUMN, (size_t)columns * 4));
  chunk_of[at] = -1;
  CHECK_EQ((int64_t)memory[at], (index_in(indices) * c->active->box.hi[1] + index_in(indices + 2)) *
                                        c->active->box.hi[2] +
                                    index_in(indices + 4) + x);
}

/* The bits of a unit of one cell say which of those that it tests are in the grid and active. */
static void check_bits(const ambit__chunks *c, const ambit__assignment *d, int64_t t, double number)
{
  const ambit__active *a = c->active;
  int64_t cell[3] = {0, 0, (int64_t)number % a->box.hi[2]};

  ambit__active_place(a, (int64_t)number / a->box.hi[2], cell);
  for (int k = 0; k < c->form->ntests; k++) {
    const int *o = c->form->tests[k].offset;
    const int64_t there[] = {cell[0] + o[0], cell[1] + o[1], cell[2] + o[2]};
    const int32_t word = d->cells[(ambit__assignment_bits(c->form) + k / 32) * d->pitch + t];
    bool in = true;

    for (int i = 0; i < 3; i++)
      in = in && there[i] >= 0 && there[i] < a->box.hi[i];
    if (c->form->tests[k].view == 1)
      CHECK_EQ(in && ambit__active_has(a, there), (uint32_t)word >> k % 32 & 1);
  }
}

static const int single[] = {1, 1}; /* row of a unit */

/* The line of a unit. */
static const int32_t *line_of(const ambit__assignment *d, int64_t t)
{
  const uint64_t group = d->groups[t / 32];
  const uint32_t heads = (uint32_t)(group >> 32) & (0xffffffffu >> (31 - t % 32));

  return d->lines + ((int64_t)(uint32_t)group + __builtin_popcount(heads)) * d->words;
}

/* Every cell is assigned once, with the distances of its chunk, and units are aligned. */
static void check_assignment(const ambit__chunks *c, int wide, const double *memory)
{
  int64_t *chunk_of = chunks_by_cell(c), n = 0;
  ambit__assignment d;

  CHECK(!ambit__assignment_make(&errors, c, wide, single, 3, NULL, &d));
  for (int64_t t = 0; t < d.units; t++) {
    const int32_t *line = line_of(&d, t);
    const int64_t at = wide * t + line[0];
    const int64_t from = line[AMBIT__LINE_FROM] > at ? line[AMBIT__LINE_FROM] : at;
    const int64_t to = line[AMBIT__LINE_END] < at + wide ? line[AMBIT__LINE_END] : at + wide;
    const int32_t *chunk = c->table + chunk_of[from] * c->words;

    CHECK(at % wide == 0);
    for (int k = 0; k < c->form->ncolumns; k++)
      CHECK_EQ(0, line[AMBIT__LINE_COLUMN + k] % AMBIT__QUAD);
    for (int64_t i = from; wide > 1 && line[AMBIT__LINE_INNER] && i < to; i++)
      CHECK(is_inner(chunk, i - chunk[AMBIT__CHUNK_AT]));
    if (wide == 1) check_bits(c, &d, t, memory[at]);
    for (int64_t i = from; i < to; i++, n++)
      check_cell(c, line, i, wide * t + i - at, memory, chunk_of);
  }
  ambit__assignment_free(&d);
  CHECK_EQ(c->cells, n);
  free(chunk_of);
}

/* The cells of one row of a unit: slots lead to the rows that their chunk reads, and to none
 * outside the memory. Returns their number. */
static int check_unit_row(const ambit__chunks *c, const ambit__assignment *d, const int *slot,
                          int64_t t, int row, const double *memory, int64_t *chunk_of)
{
  const int rows = ambit__assignment_rows(d->rows);
  const int32_t *line = line_of(d, t), *slots = line + AMBIT__STACK_ROW + rows;
  const int32_t cells = line[AMBIT__STACK_ROW + row], *index = line + d->index;
  const int64_t x = d->wide * t + line[AMBIT__STACK_X];
  int n = 0;

  for (int k = 0; slots + k < index; k++)
    CHECK(slots[k] % AMBIT__QUAD == 0 && slots[k] + x >= AMBIT__QUAD &&
          slots[k] + x + 2 * AMBIT__QUAD <= c->active->size);
  for (int64_t i = x; i < x + d->wide; i++) {
    const int64_t at = slots[row] + i;
    const int32_t *chunk;

    if (i < (cells & 0xffff) || i >= cells >> 16) continue;
    CHECK(chunk_of[at] >= 0);
    chunk = c->table + chunk_of[at] * c->words + AMBIT__CHUNK_COLUMN;
    for (int k = 0; k < c->form->ncolumns; k++)
      CHECK_EQ(at + chunk[k], slots[slot[row * c->form->ncolumns + k]] + i);
    CHECK_EQ((int64_t)memory[at], ((index_in(index) + row / d->rows[0]) * c->active->box.hi[1] +
                                   index_in(index + 2) + row % d->rows[0]) *
                                          c->active->box.hi[2] +
                                      index_in(index + 4) + d->wide * t + i - x);
    chunk_of[at] = -1;
    n++;
  }
  return n;
}

/* The same for units of several rows. Returns the number of lines. */
static int64_t check_stacks(const ambit__chunks *c, const int *rows)
{
  double *memory = memory_of(c);
  int64_t *chunk_of = chunks_by_cell(c), n = 0, lines;
  const int columns = c->form->ncolumns;
  int slot[64];
  ambit__assignment d;

  for (int i = 0; i < ambit__assignment_rows(rows) * columns; i++)
    slot[i] = ambit__assignment_slot(c->form, 3, rows, i / columns, i % columns);
  CHECK(!ambit__assignment_make(&errors, c, AMBIT__QUAD, rows, 3, NULL, &d));
  CHECK_EQ((d.units + 31) / 32, d.ngroups);
  for (int64_t t = 0; t < d.units; t++)
    for (int row = 0; row < ambit__assignment_rows(rows); row++)
      n += check_unit_row(c, &d, slot, t, row, memory, chunk_of);
  CHECK_EQ(c->cells, n);
  lines = d.nlines;
  ambit__assignment_free(&d);
  free(chunk_of);
  free(memory);
  return lines;
}

static bool has_bit(const ambit__chunks *c, const ambit__assignment *d, int64_t t, int test)
{
  const int word = ambit__assignment_bits(c->form) + test / 32;

  return (uint32_t)d->cells[word * d->pitch + t] >> test % 32 & 1;
}

/* The place of a cell that has a rank, by counting; AMBIT__BEYOND_RUNS: it is not present. */
static int64_t count_place(const ambit__chunks *c, const ambit__assignment *d, int64_t t,
                           const ambit__column *column)
{
  const ambit__rank *r = &c->form->ranks[column->rank];
  int64_t at = d->cells[t];

  if (!has_bit(c, d, t, ambit__rank_test(c->form, 3, r, column->lo))) return AMBIT__BEYOND_RUNS;
  if (!r->own) at += d->cells[ambit__assignment_rank(c->form, column->rank) * d->pitch + t];
  for (int x = 1; r->own && x <= column->lo; x++)
    at += has_bit(c, d, t, ambit__rank_test(c->form, 3, r, x));
  for (int x = column->lo; r->own && x < 0; x++)
    at -= has_bit(c, d, t, ambit__rank_test(c->form, 3, r, x));
  for (int x = r->lo; !r->own && x < column->lo; x++)
    at += has_bit(c, d, t, ambit__rank_test(c->form, 3, r, x));
  return at;
}

/* The same for a list, whose cells have words of their own. */
static void check_list(const ambit__chunks *c, const double *memory)
{
  const ambit__chunk_form *f = c->form;
  const int number = ambit__assignment_number(f);
  int64_t *chunk_of = chunks_by_cell(c);
  ambit__assignment d;

  CHECK(!ambit__assignment_make(&errors, c, 1, single, 3, NULL, &d));
  CHECK_EQ(c->cells, d.units);
  CHECK_EQ(number + 2, d.cell_words);
  if (c->cells == c->active->cells && c->cells) CHECK(d.first >= 0);
  for (int64_t t = 0; t < d.units; t++) {
    const int64_t at = d.cells[t];
    const int32_t *chunk = c->table + chunk_of[at] * c->words;
    const int32_t halves[] = {d.cells[number * d.pitch + t], d.cells[(number + 1) * d.pitch + t]};

    CHECK(chunk_of[at] >= 0);
    chunk_of[at] = -1;
    if (d.first >= 0) CHECK_EQ(d.first + t, at);
    CHECK_EQ((int64_t)memory[at], index_in(halves));
    for (int k = 0; k < f->ncolumns; k++)
      if (f->columns[k].reads && f->columns[k].rank < 0)
        CHECK_EQ(chunk[AMBIT__CHUNK_COLUMN + k],
                 d.cells[ambit__assignment_column(f, k) * d.pitch + t]);
      else if (f->columns[k].reads && t % 11 == 0)
        CHECK(memory[at + chunk[AMBIT__CHUNK_COLUMN + k] + f->columns[k].lo] ==
              memory[count_place(c, &d, t, &f->columns[k])]);
    check_bits(c, &d, t, memory[at]);
  }
  ambit__assignment_free(&d);
  free(chunk_of);
}

static int far; /* the distance of the planes that are read */

/* The value of a read by the definition. */
static double value_at(const ambit__active *a, const ambit__boundaries *b, const int64_t *cell)
{
  int64_t there[AMBIT_MAX_DIMS] = {cell[0], cell[1], cell[2]};
  double value;

  if (!ambit__boundaries_map(b, 3, a->box.hi, there, &value)) return value;
  return ambit__active_has(a, there)
             ? (double)(ambit__active_row(a, there) * a->box.hi[2] + there[2])
             : INACTIVE;
}

/* A read of the form, and whether its activity is tested. */
typedef struct wanted {
  int offset[3];
  int column;
  bool tested;
} wanted;

enum { MOST_WANTED = 9 * 15 };

static int list_wanted(const ambit__chunk_form *f, wanted *list)
{
  int n = 0;

  for (int k = 0; k < 9; k++)
    for (int dx = -f->reach[0]; dx <= f->reach[0]; dx++, n++) {
      list[n] = (wanted){.offset = {(k / 3 - 1) * far, k % 3 - 1, dx}};
      list[n].column = ambit__chunk_form_column(f, 3, 0, list[n].offset);
      list[n].tested = ambit__chunk_form_test(f, 3, 1, list[n].offset, false) < f->ntests;
    }
  return n;
}

/* The reads of a cell, with the distances of its chunk. */
static void check_reads(const ambit__chunks *c, const ambit__active *a, const double *memory,
                        const int32_t *chunk, int64_t x, const int64_t *cell, int n,
                        const wanted *list)
{
  for (int k = 0; k < n; k++) {
    const int *o = list[k].offset;
    const int64_t there[] = {cell[0] + o[0], cell[1] + o[1], cell[2] + o[2]};
    const int64_t away = list[k].column < 0 ? 0 : chunk[AMBIT__CHUNK_COLUMN + list[k].column];

    CHECK(memory[chunk[AMBIT__CHUNK_AT] + x + away + o[2]] ==
          value_at(a, &c->form->views[0], there));
    if (is_inner(chunk, x) && list[k].tested) CHECK(ambit__active_has(a, there));
  }
}

/* Whether a cell is in the tile that has chunk i; *tile is that of an earlier one. */
static bool is_in_tile(const ambit__chunks *c, const ambit__tiling *tiles, int64_t i,
                       const int64_t *cell, int64_t *tile)
{
  ambit__box box;

  while (c->starts[*tile + 1] <= i)
    ++*tile;
  box = ambit__tiling_box(tiles, *tile);
  for (int d = 0; d < 3; d++)
    if (cell[d] < box.lo[d] || cell[d] >= box.hi[d]) return false;
  return true;
}

/* Every cell of the region once, and all its reads, in a grid of which the active cells are those
 * of a part; in the order of cells, or of tiles. Returns the number of cells. */
static int64_t check_chunks(const ambit__chunks *c, const ambit__active *a,
                            const ambit__tiling *tiles)
{
  double *memory = memory_of(c);
  int64_t n = 0, last = -1, tile = 0, before = 0;
  wanted list[MOST_WANTED];
  const int nlist = list_wanted(c->form, list);

  check_constants(c, memory);
  if (c->form->list && !tiles) check_list(c, memory);
  for (int wide = 1; !c->form->list && !tiles && c->form->reach[0] == 1 && wide <= AMBIT__QUAD;
       wide *= 2)
    check_assignment(c, wide, memory);
  for (int64_t i = 0; i < c->n; i++)
    for (int64_t x = 0; x < c->table[i * c->words + AMBIT__CHUNK_CELLS]; x++, n++) {
      const int64_t number = c->first[i] + x;
      int64_t cell[3] = {0, 0, number % a->box.hi[2]};

      ambit__active_place(a, number / a->box.hi[2], cell);
      if (tiles) CHECK(is_in_tile(c, tiles, i, cell, &tile));
      CHECK(number > last || tile != before);
      last = number;
      before = tile;
      CHECK(memory[c->table[i * c->words] + x] == (double)number);
      check_reads(c, a, memory, c->table + i * c->words, x, cell, nlist, list);
    }
  free(memory);
  return n;
}

static ambit__boundaries boundaries_of(int choice)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_PERIODIC, AMBIT_REFLECT,
                                         AMBIT_SYMMETRIC, AMBIT_CLAMP};
  ambit__boundaries b = {.inactive = AMBIT_CONSTANT, .fill = INACTIVE};

  for (int d = 0; d < 3; d++, choice /= 5)
    for (int side = 0; side < 2; side++) {
      b.kind[d][side] = kinds[choice % 5];
      b.value[d][side] = FACES - 2 * d - side;
    }
  return b;
}

/* Cells with constants are no active ones. */
static void check_apart(const ambit__active *a)
{
  char *active = calloc((size_t)a->size, 1);

  for (int64_t i = 0; i < a->n; i++)
    memset(active + a->runs[i].at, 1, (size_t)(a->runs[i].hi - a->runs[i].lo));
  for (int k = 0; k < ambit__constants_sets(a); k++)
    for (int64_t i = 0, from, to; ambit__constants_next(a, k, &i, &from, &to);) {
      CHECK(from >= 0 && from <= to && to <= a->size);
      CHECK(from > to || !memchr(active + from, 1, (size_t)(to - from)));
    }
  free(active);
}

/* The same on a part, which stores no more than its reads need. */
static void check_parts(const ambit__active *a, const ambit__chunk_form *f, int i)
{
  ambit__layers layers = {.lo = {2, 1, f->reach[0]}, .hi = {2, 1, f->reach[0]}};
  ambit__box parts[5];

  CHECK(!ambit__active_cut(&errors, a, 5, i % 2 ? (const int[]){1, 1, 5} : NULL, NULL, parts));
  for (int k = 0; k < 5; k++) {
    ambit__active part;
    ambit__chunks c;

    CHECK(!ambit__active_part(&errors, a, &parts[k], &layers, &part));
    CHECK(!ambit__chunks_make(&errors, &part, f, &parts[k], NULL, NULL, &c));
    CHECK_EQ(ambit__active_count(a, &parts[k]), check_chunks(&c, a, NULL));
    ambit__chunks_free(&c);
    ambit__active_free(&part);
  }
}

/* Parts of rows whose runs begin near an end that another part has. */
static void constants_are_apart_from_cells(void)
{
  static const int64_t extents[] = {4, 6, 40};
  const ambit__layers layers = {.lo = {1, 1, 2}, .hi = {1, 1, 2}};

  for (int storage = STORAGE_RUNS; storage <= STORAGE_LIST; storage++) {
    ambit__active a = make_in((ambit__storage)storage, extents, 0, AMBIT__PAD), part;
    ambit__box parts[5];

    CHECK(!ambit__active_cut(&errors, &a, 5, (const int[]){1, 1, 5}, NULL, parts));
    for (int k = 0; k < 5; k++) {
      CHECK(!ambit__active_part(&errors, &a, &parts[k], &layers, &part));
      check_apart(&part);
      ambit__active_free(&part);
    }
    ambit__active_free(&a);
  }
}

/* A rule that reads nine rows, and tests activity in some. */
static ambit__chunk_form form_of(int choice, int reach, bool list)
{
  ambit__boundaries reads = boundaries_of(choice), tests = {.inactive = AMBIT_CONSTANT};
  ambit__chunk_form f = {.list = list};

  for (int d = 0; choice % 2 && d < 3; d++) /* all that is not active has one value */
    for (int side = 0; side < 2; side++) {
      reads.value[d][side] = INACTIVE;
      if (d == 2) reads.kind[d][side] = AMBIT_CONSTANT;
    }
  for (int d = 0; d < 3; d++)
    tests.kind[d][0] = tests.kind[d][1] = AMBIT_CONSTANT;
  CHECK_EQ(0, ambit__chunk_form_view(&errors, &f, &reads));
  CHECK_EQ(1, ambit__chunk_form_view(&errors, &f, &tests));
  for (int k = 0; k < 9; k++)
    for (int x = -reach; x <= reach; x++) {
      const int offset[] = {(k / 3 - 1) * far, k % 3 - 1, x};

      CHECK(!ambit__chunk_form_add(&errors, &f, 3, 0, offset, false));
      if (k == 4 ? x >= -1 : k % 2 && x >= -1 && x <= k % 3)
        CHECK(!ambit__chunk_form_add(&errors, &f, 3, 1, offset, true));
    }
  CHECK(!ambit__chunk_form_rank(&errors, &f, 3));
  CHECK_EQ(list && choice % 2 ? 9 : 0, f.nranks);
  return f;
}

static void check_storage(ambit__storage storage, int i)
{
  const ambit__box inner = {.ndims = 3, .lo = {1, 0, 2}, .hi = {7, 2, 29}};
  const ambit__tiling tiles = ambit__tiling_make(&inner, (const int64_t[]){4, 2, 10}, 0);
  const int size = i % SIZES, kind = i / SIZES % KINDS, reach = i % 3 + 1 + 4 * (i % 7 == 0);
  ambit__chunk_form f = (far = 1 + i % 2, form_of(i * 7, reach, storage == STORAGE_LIST));
  ambit__active a = make_in(storage, sizes[size], kind, ambit__chunk_form_pad(&f));
  ambit__chunks c;

  CHECK(!ambit__chunks_make(&errors, &a, &f, &a.box, NULL, NULL, &c));
  CHECK_EQ(a.cells, check_chunks(&c, &a, NULL));
  ambit__chunks_free(&c);
  if (size == 2) {
    CHECK(!ambit__chunks_make(&errors, &a, &f, &inner, &tiles, NULL, &c));
    CHECK_EQ(ambit__active_count(&a, &inner), check_chunks(&c, &a, &tiles));
    ambit__chunks_free(&c);
  }
  if (i % 7 == 3) check_parts(&a, &f, i / 7);
  ambit__active_free(&a);
  ambit__chunk_form_free(&f);
}

/* Threads, one after the other. */
static void run_team(const ambit__team *c, ambit__team_work work, void *arg)
{
  for (int t = c->threads - 1; t >= 0; t--)
    work(arg, t, c->threads);
}

static const ambit__team team = {.threads = 3, .run = run_team};

static bool is_same(const void *a, const void *b, int64_t n, size_t size)
{
  return !n || !memcmp(a, b, (size_t)n * size);
}

static void check_team(const ambit__active *a, const ambit__chunk_form *f,
                       const ambit__tiling *tiles)
{
  const ambit__box *region = tiles ? &tiles->own : &a->box;
  ambit__chunks alone, shared;
  ambit__assignment one, many;

  CHECK(!ambit__chunks_make(&errors, a, f, region, tiles, NULL, &alone));
  CHECK(!ambit__chunks_make(&errors, a, f, region, tiles, &team, &shared));
  CHECK_EQ(alone.n, shared.n);
  CHECK_EQ(alone.cells, shared.cells);
  CHECK(is_same(alone.table, shared.table, alone.n * alone.words, sizeof *alone.table));
  CHECK(is_same(alone.first, shared.first, alone.n, sizeof *alone.first));
  if (tiles) CHECK(is_same(alone.starts, shared.starts, tiles->n + 1, sizeof *alone.starts));
  CHECK(!ambit__assignment_make(&errors, &alone, 1, single, 3, NULL, &one));
  CHECK(!ambit__assignment_make(&errors, &shared, 1, single, 3, &team, &many));
  CHECK_EQ(one.units, many.units);
  CHECK_EQ(one.first, many.first);
  CHECK(is_same(one.cells, many.cells, one.pitch * one.cell_words, sizeof *one.cells));
  ambit__assignment_free(&one);
  ambit__assignment_free(&many);
  ambit__chunks_free(&alone);
  ambit__chunks_free(&shared);
}

static void threads_make_the_tables_that_one_would(void)
{
  const ambit__box inner = {.ndims = 3, .lo = {1, 0, 2}, .hi = {7, 2, 29}};
  const ambit__tiling tiles = ambit__tiling_make(&inner, (const int64_t[]){4, 2, 10}, 0);

  for (int i = 0; i < SIZES * KINDS; i++) {
    const bool list = i % 3 < 2;
    ambit__chunk_form f = (far = 1, form_of(i, 1, list));
    ambit__active a = make_in(list ? STORAGE_LIST : STORAGE_RUNS, sizes[i % SIZES], i / SIZES,
                              ambit__chunk_form_pad(&f));

    check_team(&a, &f, NULL);
    if (i % SIZES == 2) check_team(&a, &f, &tiles);
    ambit__active_free(&a);
    ambit__chunk_form_free(&f);
  }
}

static void chunks_read_what_boundaries_and_activity_say(void)
{
  for (int i = 0; i < SIZES * KINDS * 5; i++)
    for (int storage = STORAGE_RUNS; storage <= STORAGE_LIST; storage++)
      if (test_takes(i + storage, storage ? 19 : 9)) check_storage((ambit__storage)storage, i);
}

/* Reads of two views in other rows and planes, and no tests. */
static ambit__chunk_form form_without_tests(int choice)
{
  static const int reads[][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 1}, {0, 2, 0}, {1, 1, -1}};
  const ambit__boundaries one = boundaries_of(choice), other = boundaries_of(choice + 7);
  ambit__chunk_form f = {0};

  CHECK_EQ(0, ambit__chunk_form_view(&errors, &f, &one));
  CHECK_EQ(1, ambit__chunk_form_view(&errors, &f, &other));
  for (int i = 0; i < 5; i++)
    for (int view = 0; view <= i % 2; view++)
      CHECK(!ambit__chunk_form_add(&errors, &f, 3, view, reads[i], false));
  return f;
}

static const int stacks[][2] = {{2, 1}, {2, 2}, {2, 4}, {4, 1}};

static void units_of_several_rows_read_what_their_chunks_do(void)
{
  for (int i = 0; i < SIZES * KINDS; i++) {
    const int size = i % SIZES, kind = i / SIZES;
    ambit__chunk_form f = form_without_tests(i);
    ambit__active a = make_in(STORAGE_RUNS, sizes[size], kind, ambit__chunk_form_pad(&f));
    const ambit__box some = {.ndims = 3, .lo = {0, 1, 3}, .hi = {19, 3, 65}};
    const ambit__box part = ambit__box_intersect(&a.box, &some);
    ambit__chunks c;

    CHECK(!ambit__chunks_make(&errors, &a, &f, &a.box, NULL, NULL, &c));
    for (int k = 0; k < 4; k++)
      check_stacks(&c, stacks[k]);
    ambit__chunks_free(&c);
    CHECK(!ambit__chunks_make(&errors, &a, &f, &part, NULL, NULL, &c));
    check_stacks(&c, stacks[i % 4]);
    ambit__chunks_free(&c);
    ambit__active_free(&a);
    ambit__chunk_form_free(&f);
  }
}

/* Stacks are as high as units wherever rows lie above each other. */
static void a_full_grid_has_a_stack_for_as_many_rows_as_units_have(void)
{
  static const int64_t extents[] = {10, 20, 300};
  ambit__chunk_form f = form_without_tests(0);
  ambit__active a = make(extents, 0, AMBIT__PAD);
  ambit__chunks c;

  CHECK(!ambit__chunks_make(&errors, &a, &f, &a.box, NULL, NULL, &c));
  CHECK_EQ(200 / 4 * 3, check_stacks(&c, stacks[3]));
  CHECK_EQ(200 / 2 * 3, check_stacks(&c, stacks[0]));
  CHECK_EQ(3 * 10 * 3, check_stacks(&c, stacks[2])); /* of 10 planes, in three times 4 */
  CHECK(ambit__active_stacked(&a) == 9.0 / 10);      /* 19 of 20 rows, 9 of 10 planes */
  ambit__chunks_free(&c);
  ambit__active_free(&a);
  a = make(extents, 3, AMBIT__PAD); /* every other row */
  CHECK(ambit__active_stacked(&a) == 0);
  ambit__active_free(&a);
  a = make((const int64_t[]){1, 20, 300}, 0, AMBIT__PAD); /* one plane */
  CHECK(ambit__active_stacked(&a) == 0);
  ambit__active_free(&a);
  a = make((const int64_t[]){10, 20, AMBIT__LONG_RUN - 1}, 0, AMBIT__PAD);
  CHECK(ambit__active_stacked(&a) == 0);
  ambit__active_free(&a);
  ambit__chunk_form_free(&f);
}

/* The rows of the best units for a star of some radius. */
static int best_rows(int ndims, int radius, double stacked, ambit__assignment_load load)
{
  const ambit__boundaries b = boundaries_of(0);
  ambit__chunk_form f = {0};
  int rows;

  CHECK_EQ(0, ambit__chunk_form_view(&errors, &f, &b));
  for (int k = 0; k < ndims * (2 * radius + 1); k++) {
    int offset[AMBIT_MAX_DIMS] = {0};

    offset[k % ndims] = k / ndims - radius;
    CHECK(!ambit__chunk_form_add(&errors, &f, ndims, 0, offset, false));
  }
  rows = ambit__assignment_rows(ambit__assignment_best(&f, ndims, stacked, &load));
  ambit__chunk_form_free(&f);
  return rows;
}

static void units_have_as_many_rows_as_registers_allow(void)
{
  const ambit__assignment_load one = {.beside = 1}, two = {.beside = 2},
                               wave = {.beside = 1, .own = 1};

  CHECK_EQ(8, best_rows(3, 1, 0.9, one));
  CHECK_EQ(8, best_rows(3, 1, 0.9, wave));
  CHECK_EQ(4, best_rows(3, 1, 0.9, two)); /* a double, or two fields */
  CHECK_EQ(8, best_rows(3, 2, 0.9, one));
  CHECK_EQ(4, best_rows(3, 3, 0.9, one));
  CHECK_EQ(2, best_rows(3, 4, 0.9, one));
  CHECK_EQ(1, best_rows(3, 9, 0.9, one));
  CHECK_EQ(1, best_rows(2, 1, 0.9, one)); /* there are no planes */
  CHECK_EQ(1, best_rows(3, 1, 0.6, one)); /* too few cells lie behind others */
}

/* Rows that are whole are one chunk each, and take little more memory than their cells. */
static void a_full_grid_has_a_chunk_per_row(void)
{
  static const int64_t extents[] = {10, 20, 300};
  static const int reads[][3] = {{-1, 0, 0}, {1, 0, 0}, {0, 0, -1}, {0, 0, 2}, {0, 1, 0}};
  const ambit__boundaries b = boundaries_of(0);
  ambit__chunk_form f = {0};
  ambit__active a = make(extents, 0, AMBIT__PAD);
  ambit__chunks c;

  CHECK_EQ(0, ambit__chunk_form_view(&errors, &f, &b));
  for (int i = 0; i < 5; i++)
    CHECK(!ambit__chunk_form_add(&errors, &f, 3, 0, reads[i], i < 4));
  CHECK(!ambit__chunks_make(&errors, &a, &f, &a.box, NULL, NULL, &c));
  CHECK_EQ(200, c.n);
  CHECK_EQ(0, c.table[0] % 16);
  for (int64_t i = 0; i < c.n; i++) /* all cells of planes that have some on both sides */
    CHECK_EQ(i < 20 || i >= 180 ? 0 : 1 | 298 << 16, c.table[i * c.words + AMBIT__CHUNK_INNER]);
  CHECK(a.size < 300 * 200 * 11 / 10);
  CHECK_EQ(1, ambit__chunk_form_column(&f, 3, 0, (const int[]){1, 0, 5}));
  CHECK_EQ(-1, ambit__chunk_form_column(&f, 3, 0, (const int[]){0, 0, 1}));
  ambit__chunks_free(&c);
  ambit__chunk_form_free(&f);
  ambit__active_free(&a);
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"constants_are_apart_from_cells", constants_are_apart_from_cells},
      {"chunks_read_what_boundaries_and_activity_say",
       chunks_read_what_boundaries_and_activity_say},
      {"threads_make_the_tables_that_one_would", threads_make_the_tables_that_one_would},
      {"units_of_several_rows_read_what_their_chunks_do",
       units_of_several_rows_read_what_their_chunks_do},
      {"a_full_grid_has_a_stack_for_as_many_rows_as_units_have",
       a_full_grid_has_a_stack_for_as_many_rows_as_units_have},
      {"units_have_as_many_rows_as_registers_allow", units_have_as_many_rows_as_registers_allow},
      {"a_full_grid_has_a_chunk_per_row", a_full_grid_has_a_chunk_per_row},
      {NULL, NULL}};

  return test_main(argc, argv, cases);
}
