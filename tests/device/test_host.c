/* SPDX-License-Identifier: BSD-3-Clause */
/* Host memory: buffers, boxes, and ghost cells, which must match the definition in grid/boundary.h.
 * Random cases print the number that reproduces them; `test_host NAME` runs one test. */
#include "device/host.h"
#include "device/shape.h"

#include <stdlib.h>

enum { CASES = 4000, UNTOUCHED = 0xa5 };

static ambit__errors errors;
static ambit__settings settings = {.hugepages = true};
static ambit__device device = {.errors = &errors, .settings = &settings};
static ambit__queue queue = {.device = &device};

/* ---- random stores ---- */

typedef struct sample {
  ambit__store store;
  shape shape;
  unsigned char *want; /* expected contents of the buffer */
  size_t size;         /* of a value */
} sample;

/* A store of random shape: own cells random, all other bytes UNTOUCHED. */
static sample draw_sample(uint64_t seed)
{
  sample s = {.size = 0};
  ambit__layout *l = &s.store.layout;

  s.shape = draw_shape(seed, 4, l);
  CHECK_EQ(AMBIT_OK, ambit__host_alloc(&device, l->bytes, l, &s.store.buffer));
  memset(ambit__host_base(s.store.buffer), UNTOUCHED, l->bytes);
  s.want = malloc(l->bytes);
  memset(s.want, UNTOUCHED, l->bytes);
  s.size = ambit_type_size(l->type);
  return s;
}

static void free_sample(sample *s)
{
  ambit__host_release(&device, s->store.buffer);
  free(s->want);
}

static bool buffer_is_as_wanted(const sample *s)
{
  return !memcmp(s->want, ambit__host_base(s->store.buffer), s->store.layout.bytes);
}

/* The offset of a component of a cell, in bytes. */
static size_t place(const sample *s, const int64_t *cell, int component)
{
  const ambit__layout *l = &s->store.layout;

  return (size_t)(ambit__layout_at(l, cell) + component * l->component) * s->size;
}

static bool next_cell(const ambit__box *b, int64_t *at)
{
  if (++at[b->ndims - 1] < b->hi[b->ndims - 1]) return true;
  at[b->ndims - 1] = b->lo[b->ndims - 1];
  return ambit__box_next_row(b, at);
}

/* ---- buffers ---- */

static void buffers_are_zero_and_aligned(void)
{
  const size_t sizes[] = {0, 1, 8, 100, 4096, 4 * 1024 * 1024 - 1, 4 * 1024 * 1024, 9000001};

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ambit__buffer *b = NULL;
    size_t bad = 0;

    CHECK_EQ(AMBIT_OK, ambit__host_alloc(&device, sizes[i], NULL, &b));
    CHECK_EQ(sizes[i], b->bytes);
    CHECK_EQ(0, (uintptr_t)ambit__host_base(b) % 64);
    for (size_t k = 0; k < sizes[i]; k++)
      bad += ambit__host_base(b)[k] != 0;
    CHECK_EQ(0, bad);
    ambit__host_release(&device, b);
  }
  ambit__host_release(&device, NULL);
}

static void large_buffers_start_on_a_huge_page(void)
{
  for (int huge = 0; huge < 2; huge++) {
    ambit__buffer *b = NULL;

    settings.hugepages = huge;
    CHECK_EQ(AMBIT_OK, ambit__host_alloc(&device, 5000000, NULL, &b));
    CHECK(((ambit__host_buffer *)b)->mapped >= 5000000);
    CHECK_EQ(0, (uintptr_t)((ambit__host_buffer *)b)->start % (2 * 1024 * 1024));
    ambit__host_base(b)[4999999] = 1;
    ambit__host_release(&device, b);
  }
}

/* So that loads of one field do not wait for stores to another: at least 4 lines apart. */
static void buffers_begin_at_different_places_of_a_page(void)
{
  enum { BUFFERS = 16 };
  ambit__buffer *b[BUFFERS];

  for (int i = 0; i < BUFFERS; i++) {
    CHECK_EQ(AMBIT_OK, ambit__host_alloc(&device, i % 3 ? 70000 : 5000000, NULL, &b[i]));
    ambit__host_base(b[i])[i % 3 ? 69999 : 4999999] = 1;
    for (int k = 0; k < i; k++) {
      const uintptr_t d = (uintptr_t)ambit__host_base(b[i]) - (uintptr_t)ambit__host_base(b[k]);

      CHECK_MSG(d % 4096 >= 256 && d % 4096 <= 4096 - 256, "%d, %d: %d", i, k, (int)(d % 4096));
    }
  }
  for (int i = 0; i < BUFFERS; i++)
    ambit__host_release(&device, b[i]);
}

static void an_impossible_size_is_an_error(void)
{
  const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2};

  for (int i = 0; i < 2; i++) {
    ambit__buffer *b = NULL;

    CHECK_EQ(AMBIT_ENOMEM, ambit__host_alloc(&device, sizes[i], NULL, &b));
    CHECK(!b);
    CHECK(errors.text && strstr(errors.text, i ? "9223372036854775807" : "18446744073709551615"));
    ambit__errors_clear(&errors);
  }
}

static void what_is_put_can_be_got(void)
{
  const char text[] = "a value";
  char back[sizeof text];
  ambit__buffer *b = NULL;

  CHECK_EQ(AMBIT_OK, ambit__host_alloc(&device, 64, NULL, &b));
  CHECK_EQ(AMBIT_OK, ambit__host_execute(&queue, AMBIT__COMMAND(put, b, text, sizeof text)));
  CHECK_EQ(AMBIT_OK, ambit__host_execute(&queue, AMBIT__COMMAND(get, back, b, sizeof back)));
  CHECK_STR(text, back);
  ambit__host_release(&device, b);
}

/* ---- boxes ---- */

static ambit__box draw_box(const ambit__box *within)
{
  ambit__box b = *within;

  for (int d = 0; d < b.ndims; d++) {
    b.lo[d] = draw(within->hi[d]);
    b.hi[d] = b.lo[d] + 1 + draw(within->hi[d] - b.lo[d]);
  }
  return b;
}

/* Copies the dense array to its cells, value by value. */
static void scatter(sample *s, const ambit__box *box, const unsigned char *dense)
{
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(box, at);
  do {
    for (int c = 0; c < s->store.layout.components; c++, dense += s->size)
      memcpy(s->want + place(s, at, c), dense, s->size);
  } while (next_cell(box, at));
}

static void a_box_goes_where_it_belongs_and_comes_back(void)
{
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);
    ambit__box box = draw_box(&s.store.layout.own);
    size_t bytes = (size_t)ambit__box_volume(&box) * (size_t)s.store.layout.components * s.size;
    unsigned char *dense = malloc(bytes), *back = malloc(bytes);

    draw_bytes(dense, bytes);
    scatter(&s, &box, dense);
    CHECK_EQ(AMBIT_OK, ambit__host_do(&queue, write, &s.store, &box, dense));
    CHECK_MSG(buffer_is_as_wanted(&s), "written wrongly: case %d", (int)seed);
    CHECK_EQ(AMBIT_OK, ambit__host_do(&queue, read, back, &s.store, &box));
    CHECK_MSG(!memcmp(dense, back, bytes), "read wrongly: case %d", (int)seed);
    free(dense);
    free(back);
    free_sample(&s);
  }
}

static void an_empty_box_copies_nothing(void)
{
  sample s = draw_sample(7);
  ambit__box box = s.store.layout.own;

  box.lo[0] = box.hi[0];
  CHECK_EQ(AMBIT_OK, ambit__host_do(&queue, write, &s.store, &box, NULL));
  CHECK_EQ(AMBIT_OK, ambit__host_do(&queue, read, NULL, &s.store, &box));
  CHECK(buffer_is_as_wanted(&s));
  free_sample(&s);
}

/* ---- ghosts ---- */

/* Sets the own cells to random values, in the buffer and in `want`. */
static void draw_values(sample *s)
{
  const ambit__box *own = &s->store.layout.own;
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(own, at);
  do {
    for (int c = 0; c < s->store.layout.components; c++) {
      unsigned char *p = s->want + place(s, at, c);

      draw_bytes(p, s->size);
      memcpy(ambit__host_base(s->store.buffer) + place(s, at, c), p, s->size);
    }
  } while (next_cell(own, at));
}

/* Whether reads of the cell are defined: it does not lie behind a NONE or FIXED face. */
static bool is_defined(const sample *s, const int64_t *cell)
{
  for (int d = 0; d < s->store.layout.own.ndims; d++) {
    ambit_boundary kind = s->shape.b.kind[d][cell[d] >= s->shape.extents[d]];
    bool outside = cell[d] < 0 || cell[d] >= s->shape.extents[d];

    if (outside && (kind == AMBIT_NONE || kind == AMBIT_FIXED)) return false;
  }
  return true;
}

/* Sets one cell, all components, to the values of the definition. */
static void define(sample *s, const int64_t *cell)
{
  const ambit__layout *l = &s->store.layout;
  int64_t from[AMBIT_MAX_DIMS];
  const bool negated = ambit__boundaries_negate(&s->shape.b, l->own.ndims, s->shape.extents, cell);
  double value = 0;
  bool inside;

  memcpy(from, cell, sizeof from);
  inside = ambit__boundaries_map(&s->shape.b, l->own.ndims, s->shape.extents, from, &value);
  for (int c = 0; c < l->components; c++) {
    unsigned char *p = s->want + place(s, cell, c);

    if (inside) memmove(p, s->want + place(s, from, c), s->size);
    if (inside && negated) p[s->size - 1] ^= 0x80; /* the sign */
    if (!inside) ambit__value_store(p, l->type, ambit__value_of(value, l->type));
  }
}

static void define_ghosts(sample *s)
{
  const ambit__box all = reach_of(&s->shape, &s->store.layout);
  int64_t at[AMBIT_MAX_DIMS] = {0};

  ambit__box_first(&all, at);
  do {
    if (is_defined(s, at)) define(s, at);
  } while (next_cell(&all, at));
}

static void fill(sample *s)
{
  const ambit__box reach = reach_of(&s->shape, &s->store.layout);

  CHECK_EQ(AMBIT_OK, ambit__host_do(&queue, ghosts, &s->store, &s->shape.b, s->shape.extents,
                                    &s->store.layout.own, &reach));
}

static void ghosts_are_what_the_boundary_defines_and_nothing_else_is_touched(void)
{
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);

    draw_values(&s);
    define_ghosts(&s);
    fill(&s);
    CHECK_MSG(buffer_is_as_wanted(&s), "case %d", (int)seed);
    free_sample(&s);
  }
}

/* Pieces of ghost cells, kept until all are known. */
typedef struct kept {
  ambit__patch patches[1024];
  int n;
} kept;

static ambit_status keep(void *user, const ambit__patch *p)
{
  kept *k = user;

  CHECK(k->n < (int)(sizeof k->patches / sizeof *k->patches));
  k->patches[k->n++] = *p;
  return AMBIT_OK;
}

/* Last patches first, each divided among some threads, of which the last one is first. */
static void ghosts_can_be_filled_in_patches_in_any_order(void)
{
  static kept k;

  for (uint64_t seed = 1; seed <= CASES; seed++) {
    sample s = draw_sample(seed);
    ambit__box reach = reach_of(&s.shape, &s.store.layout);

    draw_values(&s);
    define_ghosts(&s);
    k.n = 0;
    CHECK_EQ(AMBIT_OK, ambit__patch_ghosts(&s.store.layout, &s.shape.b, s.shape.extents,
                                           &s.store.layout.own, &reach, keep, &k));
    for (int i = k.n - 1; i >= 0; i--) {
      const ambit__host_copy whole = ambit__host_copy_within(&s.store, &k.patches[i]);
      const int threads = 1 + (int)draw(4);

      for (int t = threads - 1; t >= 0; t--) {
        const ambit__host_copy share = ambit__host_copy_share(&whole, t, threads);

        ambit__host_copy_run(&share);
      }
    }
    CHECK_MSG(buffer_is_as_wanted(&s), "case %d", (int)seed);
    free_sample(&s);
  }
}

static void a_reach_of_hundreds_of_cells_is_filled_too(void)
{
  sample s = {.shape = {.extents = {3}, .low = {300}, .high = {400}}, .size = 2};
  ambit__layout *l = &s.store.layout;

  *l = (ambit__layout){.type = AMBIT_I16,
                       .components = 3,
                       .order = AMBIT_AOS,
                       .own = ambit__box_of_extents(1, s.shape.extents),
                       .margin_lo = {300},
                       .margin_hi = {400}};
  s.shape.b.kind[0][0] = AMBIT_REFLECT;
  s.shape.b.kind[0][1] = AMBIT_SYMMETRIC;
  CHECK(ambit__layout_make(l));
  CHECK_EQ(AMBIT_OK, ambit__host_alloc(&device, l->bytes, l, &s.store.buffer));
  s.want = calloc(l->bytes, 1);
  draw_values(&s);
  define_ghosts(&s);
  fill(&s);
  CHECK(buffer_is_as_wanted(&s));
  free_sample(&s);
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"buffers_are_zero_and_aligned", buffers_are_zero_and_aligned},
      {"large_buffers_start_on_a_huge_page", large_buffers_start_on_a_huge_page},
      {"buffers_begin_at_different_places_of_a_page", buffers_begin_at_different_places_of_a_page},
      {"an_impossible_size_is_an_error", an_impossible_size_is_an_error},
      {"what_is_put_can_be_got", what_is_put_can_be_got},
      {"a_box_goes_where_it_belongs_and_comes_back", a_box_goes_where_it_belongs_and_comes_back},
      {"an_empty_box_copies_nothing", an_empty_box_copies_nothing},
      {"ghosts_are_what_the_boundary_defines_and_nothing_else_is_touched",
       ghosts_are_what_the_boundary_defines_and_nothing_else_is_touched},
      {"ghosts_can_be_filled_in_patches_in_any_order",
       ghosts_can_be_filled_in_patches_in_any_order},
      {"a_reach_of_hundreds_of_cells_is_filled_too", a_reach_of_hundreds_of_cells_is_filled_too},
      {0}};

  return test_main(argc, argv, tests);
}
