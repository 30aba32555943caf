/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a grid on one device: copies between them, messages, and ghost cells. Random cases print
 * the number that reproduces them. */
#include "device/parts.h"

enum { CASES = 120, UNITS = 8 };

typedef struct sample {
  ambit__box grid;
  ambit__boundaries b;
  int n;
  twin parts[MOST_PARTS]; /* together the whole grid; some may be empty */
} sample;

/* ---- cells and boxes ---- */

static unsigned char *place(const ambit__store *s, const int64_t *cell, int component)
{
  const ambit__layout *l = &s->layout;

  return ambit__host_base(s->buffer) +
         (ambit__layout_at(l, cell) + component * l->component) * (int64_t)ambit_type_size(l->type);
}

static bool next_cell(const ambit__box *b, int64_t *at)
{
  if (++at[b->ndims - 1] < b->hi[b->ndims - 1]) return true;
  at[b->ndims - 1] = b->lo[b->ndims - 1];
  return ambit__box_next_row(b, at);
}

static int able; /* number of devices with an entry that not every table has */

/* Own cells and margins. */
static ambit__box all_of(const ambit__layout *l)
{
  ambit__box b = l->own;

  for (int d = 0; d < b.ndims; d++) {
    b.lo[d] -= l->margin_lo[d];
    b.hi[d] += l->margin_hi[d];
  }
  return b;
}

static ambit__box draw_box(const ambit__box *within)
{
  ambit__box b = *within;

  for (int d = 0; d < b.ndims; d++) {
    b.lo[d] += draw(within->hi[d] - within->lo[d]);
    b.hi[d] = b.lo[d] + 1 + draw(within->hi[d] - b.lo[d]);
  }
  return b;
}

static sample draw_sample(uint64_t seed)
{
  ambit__layout l = {.components = 0};
  ambit__box own[MOST_PARTS];
  int64_t extents[AMBIT_MAX_DIMS];
  int ndims;
  sample s;

  state = seed * 0x9e3779b97f4a7c15u;
  ndims = 1 + (int)draw(seed % 16 ? 4 : AMBIT_MAX_DIMS);
  l.type = (ambit_type)draw(6);
  l.components = 1 + (int)draw(3);
  for (int d = 0; d < ndims; d++) {
    extents[d] = 1 + draw(draw(4) ? 5 : 11);
    for (int side = 0; side < 2; side++) {
      s.b.kind[d][side] = (ambit_boundary)draw(7);
      s.b.value[d][side] = (double)draw(1000) - 300.25;
    }
  }
  s.grid = ambit__box_of_extents(ndims, extents);
  s.n = 1 + (int)draw(MOST_PARTS);
  draw_cuts(&s.grid, s.n, own);
  for (int i = 0; i < s.n; i++) {
    l.own = own[i];
    l.order = (ambit_order)draw(2);
    for (int d = 0; d < ndims; d++) {
      l.margin_lo[d] = draw(4);
      l.margin_hi[d] = draw(4);
    }
    s.parts[i] = new_twin(l);
  }
  return s;
}

static void free_sample(sample *s)
{
  for (int i = 0; i < s->n; i++)
    free_twin(&s->parts[i]);
}

static void check_sample(const sample *s, uint64_t seed)
{
  for (int i = 0; i < s->n; i++)
    CHECK_MSG(is_the_same(&s->parts[i]), "%s: part %d of case %d", backend->name, i, (int)seed);
}

/* ---- copies ---- */

/* A box of `within` that fits in `other`, and the shift to a random position there. */
static ambit__box draw_move(const ambit__box *within, const ambit__box *other, int64_t *shift)
{
  ambit__box b = draw_box(within);

  for (int d = 0; d < b.ndims; d++) {
    int64_t room = other->hi[d] - other->lo[d];

    if (b.hi[d] - b.lo[d] > room) b.hi[d] = b.lo[d] + room;
    shift[d] = other->lo[d] + draw(room - (b.hi[d] - b.lo[d]) + 1) - b.lo[d];
  }
  return b;
}

static void copy_here(twin *to, twin *from, const ambit__box *box, const int64_t *shift)
{
  const size_t size = ambit_type_size(to->here.layout.type);
  int64_t at[AMBIT_MAX_DIMS], there[AMBIT_MAX_DIMS];

  ambit__box_first(box, at);
  do {
    for (int d = 0; d < box->ndims; d++)
      there[d] = at[d] + shift[d];
    for (int c = 0; c < to->here.layout.components; c++)
      memcpy(place(&to->here, there, c), place(&from->here, at, c), size);
  } while (next_cell(box, at));
}

static void copy_shifted(void)
{
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);

    for (int i = 0; i < s.n; i++) {
      twin *from = &s.parts[i], *to = &s.parts[(i + 1) % s.n];
      ambit__box all = all_of(&to->here.layout), box;
      int64_t shift[AMBIT_MAX_DIMS];

      if (to == from || ambit__box_is_empty(&from->here.layout.own) || ambit__box_is_empty(&all))
        continue;
      box = draw_move(&from->here.layout.own, &all, shift);
      CHECK_EQ(AMBIT_OK, ambit__do(queue, copy, &to->there, &from->there, &box, shift));
      copy_here(to, from, &box, shift);
    }
    check_sample(&s, seed);
    free_sample(&s);
  }
}

static void copies_between_parts_land_where_the_shift_says(void)
{
  on_each_device(copy_shifted);
}

/* The own cells of a part, wrapped to its own margin. */
static void copy_within(void)
{
  const int64_t shift[AMBIT_MAX_DIMS] = {0, -9};
  ambit__layout l = {.type = AMBIT_I16, .components = 2, .own = {2, {4, 0}, {7, 9}}};
  ambit__box box = {2, {4, 6}, {7, 9}}, none = {2, {4, 6}, {7, 6}};
  twin t;

  l.margin_lo[1] = 3;
  t = new_twin(l);
  CHECK_EQ(AMBIT_OK, ambit__do(queue, copy, &t.there, &t.there, &box, shift));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, copy, &t.there, &t.there, &none, shift));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, copy, &t.there, &t.there, &box, NULL));
  copy_here(&t, &t, &box, shift);
  CHECK(is_the_same(&t));
  free_twin(&t);
}

static void a_part_can_be_its_own_neighbour(void)
{
  on_each_device(copy_within);
}

/* ---- one value ---- */

static void fill_here(twin *t, const ambit__box *box, const void *value)
{
  const size_t size = ambit_type_size(t->here.layout.type);
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(box, at);
  do
    for (int c = 0; c < t->here.layout.components; c++)
      memcpy(place(&t->here, at, c), value, size);
  while (next_cell(box, at));
}

static void fill_boxes(void)
{
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);

    for (int i = 0; i < s.n; i++) {
      const ambit__box *own = &s.parts[i].here.layout.own;
      unsigned char value[8];
      ambit__box box;

      draw_bytes(value, sizeof value);
      CHECK_EQ(AMBIT_OK,
               ambit__do(queue, fill, &s.parts[i].there, &(ambit__box){.ndims = 1}, value));
      if (ambit__box_is_empty(own)) continue;
      box = draw(3) ? draw_box(own) : *own;
      CHECK_EQ(AMBIT_OK, ambit__do(queue, fill, &s.parts[i].there, &box, value));
      fill_here(&s.parts[i], &box, value);
    }
    check_sample(&s, seed);
    free_sample(&s);
  }
}

static void one_value_goes_to_all_cells_of_a_box_and_nowhere_else(void)
{
  on_each_device(fill_boxes);
}

/* Enough for all threads, along each axis. */
static void fill_large(void)
{
  static const ambit__box boxes[] = {
      {2, {10, 20}, {310, 270}}, {2, {0, 0}, {2, 50000}}, {2, {0, 0}, {25000, 3}}};

  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
    const double value = 1.0 / (double)(i + 3);
    twin t = new_twin(
        (ambit__layout){.type = AMBIT_F64, .components = 1, .own = boxes[i], .margin_lo = {1, 2}});

    CHECK_EQ(AMBIT_OK, ambit__do(queue, fill, &t.there, &boxes[i], &value));
    fill_here(&t, &boxes[i], &value);
    CHECK_MSG(is_the_same(&t), "%s: box %d", backend->name, (int)i);
    free_twin(&t);
  }
}

static void large_boxes_are_filled_by_all_threads(void)
{
  on_each_device(fill_large);
}

/* ---- messages ---- */

/* Waits until all work in the queue is complete. */
static void settle(void)
{
  ambit__event *e;

  if (!ambit__can(backend, mark)) return;
  CHECK_EQ(AMBIT_OK, ambit__ask(device, event_open, false, &e));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, mark, e));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, wait, e));
  CHECK(backend->event_done(e));
  ambit__ask(device, event_close, e);
}

static void pack_here(unsigned char *to, const twin *from, const ambit__box *box)
{
  const size_t size = ambit_type_size(from->here.layout.type);
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(box, at);
  do {
    for (int c = 0; c < from->here.layout.components; c++, to += size)
      memcpy(to, place(&from->here, at, c), size);
  } while (next_cell(box, at));
}

/* Packs a box of one part, compares it, and unpacks it at a position in another part. */
static void send(sample *s, int i, ambit__message *m, uint64_t seed)
{
  twin *from = &s->parts[i], *to = &s->parts[(i + 1) % s->n];
  const ambit__box all_from = all_of(&from->here.layout), all_to = all_of(&to->here.layout);
  const size_t at = (size_t)draw(3) * UNITS;
  ambit__box box;
  int64_t shift[AMBIT_MAX_DIMS];
  unsigned char *want;
  size_t bytes;

  if (from == to || ambit__box_is_empty(&all_from) || ambit__box_is_empty(&all_to)) return;
  box = draw_move(&all_from, &all_to, shift);
  bytes = ambit__layout_box_bytes(&from->here.layout, &box);
  want = malloc(bytes);
  pack_here(want, from, &box);
  CHECK(at + bytes + 1 <= m->size);
  m->bytes[at + bytes] = 201;
  CHECK_EQ(AMBIT_OK, ambit__do(queue, pack, m, at, &from->there, &box));
  settle();
  CHECK_MSG(!memcmp(want, m->bytes + at, bytes) && m->bytes[at + bytes] == 201,
            "%s: case %d is packed wrongly", backend->name, (int)seed);
  copy_here(to, from, &box, shift);
  for (int d = 0; d < box.ndims; d++) {
    box.lo[d] += shift[d];
    box.hi[d] += shift[d];
  }
  CHECK_EQ(AMBIT_OK, ambit__do(queue, unpack, &to->there, &box, m, at));
  settle();
  memset(m->bytes, 202, m->size); /* no longer read */
  free(want);
}

static void exchange_messages(void)
{
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);
    ambit__message *m = NULL;
    size_t most = 64;

    for (int i = 0; i < s.n; i++)
      if (s.parts[i].here.layout.bytes + 64 > most) most = s.parts[i].here.layout.bytes + 64;
    CHECK_EQ(AMBIT_OK, ambit__ask(device, message_open, most, &m));
    CHECK_EQ(most, m->size);
    for (int i = 0; i < s.n; i++)
      send(&s, i, m, seed);
    check_sample(&s, seed);
    ambit__ask(device, message_close, m);
    free_sample(&s);
  }
  ambit__ask(device, message_close, NULL);
}

static void what_is_packed_in_one_part_can_be_unpacked_in_another(void)
{
  on_each_device(exchange_messages);
}

/* Long rows, a thin face, and a whole store; enough for several threads and several pieces. */
static void exchange_large(void)
{
  static const ambit__box boxes[] = {
      {2, {100, 200}, {1700, 6203}}, {2, {100, 202}, {1700, 203}}, {2, {101, 196}, {102, 6200}}};
  ambit__layout l = {.type = AMBIT_F32, .components = 1, .own = {2, {100, 200}, {1700, 6203}}};
  ambit__message *m = NULL;
  ambit__store a, b;
  float *values, *back;
  size_t bytes;

  l.margin_lo[1] = 8;
  CHECK(ambit__layout_make(&l));
  a.layout = b.layout = l;
  bytes = ambit__layout_box_bytes(&l, &l.own);
  values = malloc(bytes);
  back = malloc(bytes);
  for (size_t i = 0; i < bytes / sizeof *values; i++)
    values[i] = (float)(i % 16381);
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, l.bytes, &l, &a.buffer));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, l.bytes, &l, &b.buffer));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, message_open, bytes, &m));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, write, &a, &l.own, values));
  for (int i = 0; i < 3; i++) {
    ambit__box own = ambit__box_intersect(&boxes[i], &l.own);

    CHECK_EQ(AMBIT_OK, ambit__do(queue, pack, m, 0, &a, &boxes[i]));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, unpack, &b, &boxes[i], m, 0)); /* in order in the queue */
    CHECK_EQ(AMBIT_OK, ambit__do(queue, read, values, &a, &own));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, read, back, &b, &own));
    CHECK(!memcmp(values, back, ambit__layout_box_bytes(&l, &own)));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, unpack, &b, &l.own, m, 0)); /* other values for the next */
  }
  CHECK_EQ(AMBIT_OK, ambit__do(queue, wait, NULL));
  ambit__ask(device, message_close, m);
  ambit__ask(device, release, a.buffer);
  ambit__ask(device, release, b.buffer);
  free(values);
  free(back);
}

static void large_boxes_are_exchanged_whole(void)
{
  on_each_device(exchange_large);
}

/* Faces of several planes and of several rows, whose rows are long enough to be copied one by one;
 * some have too many rows for that. */
static void exchange_rows(void)
{
  static const ambit__box boxes[] = {{3, {10, 20, 0}, {11, 30, 300}},
                                     {3, {10, 20, 0}, {12, 30, 300}},
                                     {3, {9, 28, 2}, {17, 30, 299}},
                                     {3, {9, 20, -1}, {17, 21, 300}},
                                     {3, {11, 22, 0}, {16, 27, 290}}};
  ambit__layout l = {.type = AMBIT_F32, .components = 1, .own = {3, {10, 20, 0}, {17, 30, 300}}};
  const int64_t nowhere[3] = {0};

  l.margin_lo[0] = l.margin_lo[2] = 1;
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
    const size_t bytes = ambit__layout_box_bytes(&l, &boxes[i]);
    twin from = new_twin(l), to = new_twin(l);
    unsigned char *want = malloc(bytes);
    ambit__message *m = NULL;

    CHECK_EQ(AMBIT_OK, ambit__ask(device, message_open, bytes + UNITS, &m));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, pack, m, UNITS, &from.there, &boxes[i]));
    settle();
    pack_here(want, &from, &boxes[i]);
    CHECK_MSG(!memcmp(want, m->bytes + UNITS, bytes), "%s: box %d", backend->name, (int)i);
    CHECK_EQ(AMBIT_OK, ambit__do(queue, unpack, &to.there, &boxes[i], m, UNITS));
    settle();
    copy_here(&to, &from, &boxes[i], nowhere);
    CHECK_MSG(is_the_same(&from) && is_the_same(&to), "%s: box %d", backend->name, (int)i);
    ambit__ask(device, message_close, m);
    free_twin(&from);
    free_twin(&to);
    free(want);
  }
}

static void faces_of_several_rows_and_planes_are_exchanged_whole(void)
{
  on_each_device(exchange_rows);
}

/* ---- ghosts ---- */

static bool is_filled(ambit_boundary kind)
{
  return kind != AMBIT_NONE && kind != AMBIT_FIXED;
}

/* Whether the cell that index i of an axis maps to is given, or is not needed. */
static bool has_source(const sample *s, const ambit__box *given, int d, int side, int64_t i)
{
  const ambit_boundary kind = s->b.kind[d][side];
  int64_t from;

  if (!is_filled(kind)) return false;
  if (kind == AMBIT_CONSTANT) return true;
  from = ambit__boundary_map(kind, s->grid.hi[d], i);
  return from >= given->lo[d] && from < given->hi[d];
}

/* Draws `given`, some of the cells around the own ones, and `reach`, at most the cells that follow
 * from them. */
static void draw_boxes(const sample *s, const twin *t, ambit__box *given, ambit__box *reach)
{
  const ambit__box all = all_of(&t->here.layout);
  const ambit__box inside = ambit__box_intersect(&all, &s->grid);

  *given = t->here.layout.own;
  for (int d = 0; d < given->ndims; d++) {
    const bool wraps = s->b.kind[d][0] == AMBIT_PERIODIC && s->b.kind[d][1] == AMBIT_PERIODIC;
    /* The halo extends beyond the grid. */
    const ambit__box *most = wraps && draw(2) ? &all : &inside;

    given->lo[d] -= draw(given->lo[d] - most->lo[d] + 1);
    given->hi[d] += draw(most->hi[d] - given->hi[d] + 1);
  }
  *reach = *given;
  for (int d = 0; d < given->ndims; d++) {
    int64_t *lo = &reach->lo[d], *hi = &reach->hi[d];

    if (*lo <= 0)
      while (*lo > all.lo[d] && has_source(s, given, d, 0, *lo - 1) && draw(5))
        --*lo;
    if (*hi >= s->grid.hi[d])
      while (*hi < all.hi[d] && has_source(s, given, d, 1, *hi) && draw(5))
        ++*hi;
  }
}

/* The definition: each axis along which the cell is not given is mapped independently; the last
 * constant applies. */
static void define(const sample *s, twin *t, const ambit__box *given, const int64_t *cell)
{
  const ambit__layout *l = &t->here.layout;
  int64_t from[AMBIT_MAX_DIMS];
  const double *constant = NULL;

  for (int d = 0; d < given->ndims; d++) {
    const int side = cell[d] >= given->hi[d];

    from[d] = cell[d];
    if (cell[d] >= given->lo[d] && !side) continue;
    if (s->b.kind[d][side] == AMBIT_CONSTANT)
      constant = &s->b.value[d][side];
    else
      from[d] = ambit__boundary_map(s->b.kind[d][side], s->grid.hi[d], cell[d]);
  }
  for (int c = 0; c < l->components; c++)
    if (constant)
      ambit__value_store(place(&t->here, cell, c), l->type, ambit__value_of(*constant, l->type));
    else
      memmove(place(&t->here, cell, c), place(&t->here, from, c), ambit_type_size(l->type));
}

static void fill_parts(void)
{
  int64_t filled = 0;

  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);

    for (int i = 0; i < s.n; i++) {
      twin *t = &s.parts[i];
      int64_t at[AMBIT_MAX_DIMS];
      ambit__box given, reach;

      if (ambit__box_is_empty(&t->here.layout.own)) {
        given = reach = t->here.layout.own;
        CHECK_EQ(AMBIT_OK, ambit__do(queue, ghosts, &t->there, &s.b, s.grid.hi, &given, &reach));
        continue;
      }
      draw_boxes(&s, t, &given, &reach);
      filled += ambit__box_volume(&reach) - ambit__box_volume(&given);
      CHECK_EQ(AMBIT_OK, ambit__do(queue, ghosts, &t->there, &s.b, s.grid.hi, &given, &reach));
      ambit__box_first(&reach, at);
      do {
        define(&s, t, &given, at);
      } while (next_cell(&reach, at));
    }
    check_sample(&s, seed);
    free_sample(&s);
  }
  CHECK(filled > 10 * CASES);
}

static void ghosts_of_a_part_are_made_from_what_it_is_given_and_nothing_else_is_touched(void)
{
  on_each_device(fill_parts);
}

/* ---- from device to device ---- */

/* Two devices if present, else one that is opened twice. */
static void pass_messages(void)
{
  ambit__layout l = {.type = AMBIT_F64, .components = 1, .own = {2, {0, 0}, {70, 90}}};
  const ambit__box face = {2, {0, 89}, {70, 90}};
  ambit__device *other = NULL;
  ambit__queue *there = NULL;
  ambit__message *out = NULL, *in = NULL;
  double values[70], back[70] = {0};
  ambit__store a, b;

  if (!ambit__can(backend, pass)) return;
  able++;
  CHECK(ambit__layout_make(&l));
  a.layout = b.layout = l;
  CHECK_EQ(AMBIT_OK, backend->open(&errors, &settings, backend->count() > 1, &other));
  CHECK_EQ(AMBIT_OK, ambit__ask(other, queue_open, true, &there));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, l.bytes, &l, &a.buffer));
  CHECK_EQ(AMBIT_OK, ambit__ask(other, alloc, l.bytes, &l, &b.buffer));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, message_open, sizeof values, &out));
  CHECK_EQ(AMBIT_OK, ambit__ask(other, message_open, sizeof values, &in));
  out->direct = in->direct = true;
  for (int i = 0; i < 70; i++)
    values[i] = 1.5 * i + 0.25;
  CHECK_EQ(AMBIT_OK, ambit__do(queue, write, &a, &face, values));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, pack, out, 0, &a, &face));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, wait, NULL));
  CHECK_EQ(AMBIT_OK, ambit__do(there, pass, in, out));
  CHECK_EQ(AMBIT_OK, ambit__do(there, unpack, &b, &face, in, 0));
  CHECK_EQ(AMBIT_OK, ambit__do(there, read, back, &b, &face));
  CHECK(!memcmp(values, back, sizeof values));
  ambit__ask(device, message_close, out);
  ambit__ask(other, message_close, in);
  ambit__ask(device, release, a.buffer);
  ambit__ask(other, release, b.buffer);
  ambit__ask(there->device, queue_close, there);
  backend->close(other);
}

static void messages_pass_from_device_to_device(void)
{
  able = 0;
  on_each_device(pass_messages);
  if (!able) SKIP("no device here passes messages to its like (CUDA does)");
}

/* ---- batches ---- */

enum { TOGETHER = 8 }; /* samples: more stores than one launch takes, of several types */

/* The ghost cells of all parts of a sample, as moves and by their definition. */
static int list_ghosts(sample *s, ambit__move *moves)
{
  int n = 0;

  for (int i = 0; i < s->n; i++) {
    twin *t = &s->parts[i];
    ambit__move *m = &moves[n];
    int64_t at[AMBIT_MAX_DIMS];

    if (ambit__box_is_empty(&t->here.layout.own)) continue;
    *m = (ambit__move){.dst = &t->there,
                       .count = t->there.layout.components,
                       .boundaries = &s->b,
                       .extents = s->grid.hi};
    draw_boxes(s, t, &m->box, &m->reach);
    n++;
    ambit__box_first(&m->reach, at);
    do {
      define(s, t, &m->box, at);
    } while (next_cell(&m->reach, at));
  }
  return n;
}

/* A copy of a part's own cells to the same cells of another store with other margins. */
static twin copy_elsewhere(twin *from, ambit__move *m)
{
  ambit__layout l = from->here.layout;
  int64_t at[AMBIT_MAX_DIMS];
  twin to;

  l.margin_lo[0] += 2;
  l.margin_hi[l.own.ndims - 1] += 3;
  to = new_twin(l);
  *m = (ambit__move){.src = &from->there, .count = l.components, .box = l.own};
  if (ambit__box_is_empty(&l.own)) return to;
  ambit__box_first(&l.own, at);
  do {
    for (int c = 0; c < l.components; c++)
      memcpy(place(&to.here, at, c), place(&from->here, at, c), ambit_type_size(l.type));
  } while (next_cell(&l.own, at));
  return to;
}

static void move_batches(void)
{
  if (!ambit__can(backend, batch)) return;
  able++;
  for (uint64_t seed = 1; seed <= CASES; seed += TOGETHER) {
    sample samples[TOGETHER];
    ambit__move moves[TOGETHER * MOST_PARTS + 1];
    ambit__batch *batch = NULL;
    twin copy;
    int n = 0;

    for (int i = 0; i < TOGETHER; i++) {
      samples[i] = draw_sample(seed + (uint64_t)i);
      if (i) n += list_ghosts(&samples[i], moves + n);
    }
    copy = copy_elsewhere(&samples[0].parts[0], &moves[n]);
    moves[n].dst = &copy.there;
    CHECK_EQ(AMBIT_OK, ambit__ask(device, batch_open, moves, n + 1, &batch));
    for (int i = 0; i < 2; i++)
      CHECK_EQ(AMBIT_OK, ambit__do(queue, batch, batch));
    ambit__ask(device, batch_close, batch);
    CHECK_MSG(is_the_same(&copy), "%s: copy of case %d", backend->name, (int)seed);
    free_twin(&copy);
    for (int i = 0; i < TOGETHER; i++) {
      check_sample(&samples[i], seed + (uint64_t)i);
      free_sample(&samples[i]);
    }
  }
}

static void moves_of_many_parts_can_be_made_together(void)
{
  able = 0;
  on_each_device(move_batches);
  if (!able) SKIP("no device here has batches (GPUs do)");
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"messages_pass_from_device_to_device", messages_pass_from_device_to_device},
      {"moves_of_many_parts_can_be_made_together", moves_of_many_parts_can_be_made_together},
      {"copies_between_parts_land_where_the_shift_says",
       copies_between_parts_land_where_the_shift_says},
      {"a_part_can_be_its_own_neighbour", a_part_can_be_its_own_neighbour},
      {"one_value_goes_to_all_cells_of_a_box_and_nowhere_else",
       one_value_goes_to_all_cells_of_a_box_and_nowhere_else},
      {"large_boxes_are_filled_by_all_threads", large_boxes_are_filled_by_all_threads},
      {"what_is_packed_in_one_part_can_be_unpacked_in_another",
       what_is_packed_in_one_part_can_be_unpacked_in_another},
      {"large_boxes_are_exchanged_whole", large_boxes_are_exchanged_whole},
      {"faces_of_several_rows_and_planes_are_exchanged_whole",
       faces_of_several_rows_and_planes_are_exchanged_whole},
      {"ghosts_of_a_part_are_made_from_what_it_is_given_and_nothing_else_is_touched",
       ghosts_of_a_part_are_made_from_what_it_is_given_and_nothing_else_is_touched},
      {0}};

  return test_main(argc, argv, tests);
}
