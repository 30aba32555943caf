/* host.c - allocating host memory, and copying boxes into and out of stores.
 *
 * A dense array has its components last; a store keeps them beside each other (AMBIT_AOS) or one array
 * each (AMBIT_SOA). Where the two agree a row is one memcpy, else it is copied value by value, and
 * only the size of a value matters, not its type.
 */
#define _GNU_SOURCE /* madvise, MAP_ANONYMOUS */
#include "device/host.h"

#include "base/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  LINE = 64,                   /* bytes: alignment of every buffer */
  HUGE_PAGE = 2 * 1024 * 1024, /* bytes */
  MAP_FROM = 2 * HUGE_PAGE     /* buffers at least this large are mapped */
};

/* Maps `bytes`, a multiple of HUGE_PAGE, at a multiple of HUGE_PAGE; NULL if the system refuses. */
static unsigned char *map_aligned(size_t bytes)
{
  unsigned char *p =
      mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t before;

  if (p == MAP_FAILED) return NULL;
  before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
  if (before) munmap(p, before);
  if (before < HUGE_PAGE) munmap(p + before + bytes, HUGE_PAGE - before);
  return p + before;
}

static size_t round_up(size_t bytes, size_t to)
{
  return (bytes + to - 1) / to * to;
}

static void alloc_mapped(ambit__host_buffer *b, bool hugepages)
{
  size_t bytes = round_up(b->head.bytes, HUGE_PAGE);

  b->base = map_aligned(bytes);
  if (!b->base) return;
  b->mapped = bytes;
  if (hugepages) madvise(b->base, bytes, MADV_HUGEPAGE); /* only advice: a refusal is no failure */
}

static void alloc_heap(ambit__host_buffer *b)
{
  size_t bytes = round_up(b->head.bytes ? b->head.bytes : 1, LINE);

  b->base = aligned_alloc(LINE, bytes);
  if (b->base) memset(b->base, 0, bytes);
}

ambit_status ambit__host_alloc(ambit__device *dev, size_t bytes, const ambit__layout *layout,
                               ambit__buffer **buf)
{
  ambit__host_buffer *b;

  (void)layout;
  AMBIT_CHECK(bytes <= SIZE_MAX / 2, dev->errors, AMBIT_ENOMEM,
              "a buffer of %zu bytes is more than this machine can address", bytes);
  b = ambit__new(dev->errors, 1, sizeof *b);
  if (!b) return AMBIT_ENOMEM;
  b->head.bytes = bytes;
  if (bytes >= MAP_FROM)
    alloc_mapped(b, dev->settings->hugepages);
  else
    alloc_heap(b);
  if (!b->base) {
    free(b);
    return ambit__raise(dev->errors, AMBIT_ENOMEM, "no memory for a buffer of %zu bytes", bytes);
  }
  *buf = &b->head;
  return AMBIT_OK;
}

void ambit__host_release(ambit__device *dev, ambit__buffer *buf)
{
  ambit__host_buffer *b = (ambit__host_buffer *)buf;

  (void)dev;
  if (!b) return;
  if (b->mapped)
    munmap(b->base, b->mapped);
  else
    free(b->base);
  free(b);
}

ambit_status ambit__host_put(ambit__queue *q, ambit__buffer *dst, const void *src, size_t bytes)
{
  (void)q;
  assert(bytes <= dst->bytes);
  memcpy(ambit__host_base(dst), src, bytes);
  return AMBIT_OK;
}

ambit_status ambit__host_get(ambit__queue *q, void *dst, ambit__buffer *src, size_t bytes)
{
  (void)q;
  assert(bytes <= src->bytes);
  memcpy(dst, ambit__host_base(src), bytes);
  return AMBIT_OK;
}

/* ---- boxes ---- */

/* n values of a size the compiler knows, each `to_step` and `from_step` bytes after the one before. */
static inline void copy_values(unsigned char *to, size_t to_step, const unsigned char *from,
                               size_t from_step, int64_t n, size_t size)
{
  for (int64_t i = 0; i < n; i++, to += to_step, from += from_step)
    memcpy(to, from, size);
}

static void copy_strided(unsigned char *to, size_t to_step, const unsigned char *from,
                         size_t from_step, int64_t n, size_t size)
{
  switch (size) {
  case 1: copy_values(to, to_step, from, from_step, n, 1); break;
  case 2: copy_values(to, to_step, from, from_step, n, 2); break;
  case 4: copy_values(to, to_step, from, from_step, n, 4); break;
  default: copy_values(to, to_step, from, from_step, n, 8); break;
  }
}

/* One row of a box: where it is in the store and how the dense array sees it. */
typedef struct row {
  size_t size;      /* bytes of a value */
  size_t cell;      /* bytes of a cell in the dense array */
  size_t step;      /* bytes from a cell to the next in the store */
  size_t component; /* bytes from a component to the next in the store */
  size_t bytes;     /* of the row in the dense array */
  int64_t cells;
  int components;
} row;

static row row_of(const ambit__layout *l, const ambit__box *box)
{
  const int last = box->ndims - 1;
  const size_t size = ambit_type_size(l->type);
  row r = {.size = size, .components = l->components, .cells = box->hi[last] - box->lo[last]};

  r.cell = (size_t)l->components * size;
  r.step = (size_t)l->stride[last] * size;
  r.component = (size_t)l->component * size;
  r.bytes = (size_t)r.cells * r.cell;
  return r;
}

static unsigned char *row_at(const ambit__store *s, const int64_t *at, size_t size)
{
  return ambit__host_base(s->buffer) + (size_t)ambit__layout_at(&s->layout, at) * size;
}

ambit_status ambit__host_write_box(ambit__queue *q, ambit__store *dst, const ambit__box *box,
                                   const void *src)
{
  const row r = row_of(&dst->layout, box);
  const unsigned char *from = src;
  int64_t at[AMBIT_MAX_DIMS];

  (void)q;
  if (ambit__box_is_empty(box)) return AMBIT_OK;
  assert(ambit__box_contains(&dst->layout.own, box));
  ambit__box_first(box, at);
  do {
    unsigned char *to = row_at(dst, at, r.size);

    if (r.step == r.cell)
      memcpy(to, from, r.bytes);
    else
      for (size_t c = 0; c < (size_t)r.components; c++)
        copy_strided(to + c * r.component, r.step, from + c * r.size, r.cell, r.cells, r.size);
    from += r.bytes;
  } while (ambit__box_next_row(box, at));
  return AMBIT_OK;
}

ambit_status ambit__host_read_box(ambit__queue *q, void *dst, ambit__store *src,
                                  const ambit__box *box)
{
  const row r = row_of(&src->layout, box);
  unsigned char *to = dst;
  int64_t at[AMBIT_MAX_DIMS];

  (void)q;
  if (ambit__box_is_empty(box)) return AMBIT_OK;
  assert(ambit__box_contains(&src->layout.own, box));
  ambit__box_first(box, at);
  do {
    const unsigned char *from = row_at(src, at, r.size);

    if (r.step == r.cell)
      memcpy(to, from, r.bytes);
    else
      for (size_t c = 0; c < (size_t)r.components; c++)
        copy_strided(to + c * r.size, r.cell, from + c * r.component, r.step, r.cells, r.size);
    to += r.bytes;
  } while (ambit__box_next_row(box, at));
  return AMBIT_OK;
}
