/* SPDX-License-Identifier: BSD-3-Clause */
/* halo.c - derives transfers from reads.
 *
 * The cells that a need reads are a product of spans, one per axis, since boundaries apply to each
 * axis independently (boundary.h). So a need is split axis by axis: reads inside the grid stay, and
 * reads outside become the cells that the ghost cells there copy, if any. On an axis that wraps
 * (periodic, and the part does not span it) indices continue beyond the grid. The spans are then
 * split into sectors, below, beside and above the own cells:
 *
 *          0 | 1 | 2
 *         ---+---+---        sector 4, in the middle, is the part; each other sector has the hull
 *          3 |own| 5         of all reads in it, and no two sectors overlap
 *         ---+---+---
 *          6 | 7 | 8
 *
 * The box of a sector is folded back into the grid and split by the parts that own it.
 */
#include "grid/halo.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct span {
  int64_t lo, hi; /* empty unless lo < hi */
} span;

/* One axis of a part. */
typedef struct line {
  int64_t extent;         /* of the grid */
  span own;               /* of the part */
  bool wraps;             /* periodic, and the part does not span it */
  ambit_boundary kind[2]; /* of both sides */
} line;

/* A box of the halo, folded back into the grid. */
typedef struct piece {
  ambit__box box;
  int64_t shift[AMBIT_MAX_DIMS]; /* from this box to the place where it is stored */
} piece;

typedef struct work {
  const ambit__halo_spec *spec;
  ambit__errors *errors;
  ambit__halo *halo;
  int *mine; /* the parts in spec->mine, in order */
  int nmine;
  line line[AMBIT_MAX_DIMS]; /* of the current part */
  ambit__box *sectors;       /* 3^n of them */
  int nsectors;
  piece *pieces;
  size_t npieces, cap;
} work;

/* ---- spans ---- */

static bool is_empty(span s)
{
  return s.lo >= s.hi;
}

static span cut(span s, int64_t lo, int64_t hi)
{
  return (span){s.lo > lo ? s.lo : lo, s.hi < hi ? s.hi : hi};
}

static span hull(span a, span b)
{
  if (is_empty(a)) return b;
  if (is_empty(b)) return a;
  return (span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static span span_of(const ambit__box *b, int axis)
{
  return (span){b->lo[axis], b->hi[axis]};
}

static void set_span(ambit__box *b, int axis, span s)
{
  b->lo[axis] = s.lo;
  b->hi[axis] = s.hi;
}

static bool overlap(const ambit__box *a, const ambit__box *b)
{
  for (int d = 0; d < a->ndims; d++)
    if (is_empty(cut(span_of(a, d), b->lo[d], b->hi[d]))) return false;
  return true;
}

/* ---- one axis ---- */

static line line_of(const ambit__halo_spec *spec, int part, int axis)
{
  const ambit_boundary *kind = spec->boundaries->kind[axis];
  const span own = span_of(&spec->parts[part], axis);
  const int64_t extent = spec->grid->hi[axis];
  const bool spans = own.lo == 0 && own.hi == extent;

  return (line){extent, own, kind[0] == AMBIT_PERIODIC && !spans, {kind[0], kind[1]}};
}

/* The cells that ghost cells of s copy, on one side. */
static span sources(const line *l, int side, span s)
{
  span from = {0, 0};

  s = side ? cut(s, l->extent, INT64_MAX) : cut(s, INT64_MIN, 0);
  if (!ambit__boundary_copies(l->kind[side])) return from;
  s.hi = cut(s, s.lo, s.lo + 2 * l->extent).hi; /* the pattern repeats after two extents */
  for (int64_t i = s.lo; i < s.hi; i++) {
    int64_t source = ambit__boundary_map(l->kind[side], l->extent, i);

    from = hull(from, (span){source, source + 1});
  }
  return from;
}

/* Splits the source cells of a read by their position: below, beside and above the own cells. */
static void split(const line *l, span read, span sector[3])
{
  const span from[3] = {l->wraps ? read : cut(read, 0, l->extent),
                        l->wraps ? (span){0, 0} : sources(l, 0, read),
                        l->wraps ? (span){0, 0} : sources(l, 1, read)};

  for (int k = 0; k < 3; k++)
    sector[k] = (span){0, 0};
  for (int i = 0; i < 3; i++) {
    sector[0] = hull(sector[0], cut(from[i], INT64_MIN, l->own.lo));
    sector[1] = hull(sector[1], cut(from[i], l->own.lo, l->own.hi));
    sector[2] = hull(sector[2], cut(from[i], l->own.hi, INT64_MAX));
  }
}

/* ---- the boxes of a part ---- */

/* Adds all products of the spans of the axes to the sectors. `index` is that of the axes before. */
static void add_products(work *w, span (*sector)[3], int axis, int index, ambit__box *box)
{
  if (axis == box->ndims) {
    w->sectors[index] = ambit__box_hull(&w->sectors[index], box);
    return;
  }
  for (int k = 0; k < 3; k++)
    if (!is_empty(sector[axis][k])) {
      set_span(box, axis, sector[axis][k]);
      add_products(w, sector, axis + 1, 3 * index + k, box);
    }
}

/* Sets the given cells, which hold values before ghost cells are filled: cells in the grid, cells
 * on axes that wrap, and all cells that ghost cells copy. */
static void find_given(const work *w, ambit__reach *r)
{
  r->given = r->reach;
  for (int d = 0; d < r->reach.ndims; d++) {
    const line *l = &w->line[d];
    const span all = span_of(&r->reach, d);
    span given = cut(all, 0, l->extent);

    if (l->wraps) continue;
    given = hull(given, hull(sources(l, 0, all), sources(l, 1, all)));
    set_span(&r->given, d, given);
    set_span(&r->reach, d, hull(all, given));
  }
}

static bool is_whole(const ambit__box *region, int axis, int64_t extent)
{
  return region->lo[axis] == 0 && region->hi[axis] == extent;
}

/* The cells that a part reads for a need; empty: none. */
static ambit__box reads_of(const work *w, const ambit__box *own, const ambit__need *need)
{
  ambit__box read = *own;

  for (int d = 0; d < own->ndims; d++) {
    const line *l = &w->line[d];
    span s = {own->lo[d] - need->beyond.lo[d], own->hi[d] + need->beyond.hi[d]};

    if (!l->wraps || !is_whole(&need->region, d, l->extent))
      s = cut(s, need->region.lo[d], need->region.hi[d]);
    if (!is_empty(s)) s = (span){s.lo + need->lo[d], s.hi + need->hi[d]};
    set_span(&read, d, s);
  }
  return read;
}

static void find_boxes(work *w, int part)
{
  const ambit__halo_spec *spec = w->spec;
  const ambit__box *own = &spec->parts[part];
  ambit__reach *r = &w->halo->reaches[part];

  r->reach = *own;
  for (int d = 0; d < own->ndims; d++)
    w->line[d] = line_of(spec, part, d);
  for (int i = 0; i < w->nsectors; i++)
    w->sectors[i] = (ambit__box){.ndims = own->ndims};
  for (int i = 0; i < spec->nneeds; i++) {
    const ambit__need *need = &spec->needs[i];
    ambit__box read = reads_of(w, own, need);
    span sector[AMBIT_MAX_DIMS][3];

    if (ambit__box_is_empty(&read)) continue;
    r->reach = ambit__box_hull(&r->reach, &read);
    for (int d = 0; d < read.ndims; d++) {
      line l = w->line[d];

      for (int side = 0; need->boundaries && side < 2; side++)
        l.kind[side] = need->boundaries->kind[d][side];
      split(&l, span_of(&read, d), sector[d]);
    }
    add_products(w, sector, 0, 0, &read);
  }
  find_given(w, r);
}

/* ---- transfers ---- */

static int64_t floor_div(int64_t a, int64_t n)
{
  return a >= 0 ? a / n : -((-a + n - 1) / n);
}

/* Adds the pieces of a box. Along axes that wrap it may lie some extents away, or on both sides of
 * a face. */
static ambit_status fold_back(work *w, int axis, piece *p)
{
  const int64_t extent = w->spec->grid->hi[axis < p->box.ndims ? axis : 0];
  span s;

  if (axis == p->box.ndims) {
    AMBIT_TRY(ambit__make_room(w->errors, &w->pieces, w->npieces, &w->cap, sizeof *w->pieces));
    w->pieces[w->npieces++] = *p;
    return AMBIT_OK;
  }
  s = span_of(&p->box, axis);
  for (int64_t n = floor_div(s.lo, extent); n * extent < s.hi; n++) {
    const span within = cut(s, n * extent, (n + 1) * extent);

    set_span(&p->box, axis, (span){within.lo - n * extent, within.hi - n * extent});
    p->shift[axis] = n * extent;
    AMBIT_TRY(fold_back(w, axis + 1, p));
  }
  set_span(&p->box, axis, s);
  return AMBIT_OK;
}

static ambit_status find_pieces(work *w)
{
  w->npieces = 0;
  for (int i = 0; i < w->nsectors; i++) {
    piece p = {.box = w->sectors[i]};

    if (i == w->nsectors / 2 || ambit__box_is_empty(&p.box)) continue;
    AMBIT_TRY(fold_back(w, 0, &p));
  }
  return AMBIT_OK;
}

/* Adds the transfers of the cells of all pieces that part `from` owns. */
static ambit_status add_transfers(work *w, int from, int to)
{
  ambit__halo *h = w->halo;

  for (size_t i = 0; i < w->npieces; i++) {
    ambit__transfer t = {.from = from, .to = to};

    if (!overlap(&w->pieces[i].box, &w->spec->parts[from])) continue;
    t.box = ambit__box_intersect(&w->pieces[i].box, &w->spec->parts[from]);
    t.cells = ambit__box_volume(&t.box);
    for (int d = 0; d < t.box.ndims; d++)
      t.shift[d] = w->pieces[i].shift[d];
    AMBIT_TRY(ambit__make_room(w->errors, &h->transfers, h->count, &h->cap, sizeof t));
    h->transfers[h->count++] = t;
  }
  return AMBIT_OK;
}

static ambit_status find_owners(work *w, int to)
{
  const bool all = !w->spec->mine || w->spec->mine[to];
  const int owners = all ? w->spec->nparts : w->nmine;
  ambit__box around = {.ndims = w->spec->grid->ndims};

  for (size_t i = 0; i < w->npieces; i++)
    around = ambit__box_hull(&around, &w->pieces[i].box);
  for (int i = 0; i < owners; i++) {
    int from = all ? i : w->mine[i];

    if (overlap(&around, &w->spec->parts[from])) AMBIT_TRY(add_transfers(w, from, to));
  }
  return AMBIT_OK;
}

/* ---- public functions ---- */

static ambit_status begin(work *w)
{
  const ambit__halo_spec *spec = w->spec;
  const size_t nparts = (size_t)spec->nparts;

  w->nsectors = 1;
  for (int d = 0; d < spec->grid->ndims; d++)
    w->nsectors *= 3;
  AMBIT_NEW(w->errors, w->sectors, (size_t)w->nsectors);
  AMBIT_NEW(w->errors, w->mine, nparts);
  AMBIT_NEW(w->errors, w->halo->reaches, nparts);
  for (int p = 0; p < spec->nparts && spec->mine; p++)
    if (spec->mine[p]) w->mine[w->nmine++] = p;
  return AMBIT_OK;
}

static ambit_status plan_part(work *w, int part)
{
  const ambit__box *own = &w->spec->parts[part];

  if (ambit__box_is_empty(own)) {
    w->halo->reaches[part] = (ambit__reach){*own, *own};
    return AMBIT_OK;
  }
  find_boxes(w, part);
  AMBIT_TRY(find_pieces(w));
  return find_owners(w, part);
}

ambit_status ambit__halo_make(ambit__errors *errors, const ambit__halo_spec *spec,
                              ambit__halo *halo)
{
  work w = {.spec = spec, .errors = errors, .halo = halo};
  ambit_status s;

  *halo = (ambit__halo){0};
  s = begin(&w);
  for (int p = 0; p < spec->nparts && !s; p++)
    s = plan_part(&w, p);
  free(w.sectors);
  free(w.mine);
  free(w.pieces);
  return s;
}

void ambit__halo_free(ambit__halo *halo)
{
  free(halo->reaches);
  free(halo->transfers);
  *halo = (ambit__halo){0};
}
