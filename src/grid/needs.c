/* SPDX-License-Identifier: BSD-3-Clause */
/* needs.c - the reads of a stencil as boxes of offsets.
 *
 * Offsets are joined axis by axis, starting with the last: first into runs along rows, then
 * adjacent equal runs into planes, and so on. No box contains an offset that is not read, so halos
 * are exact for any shape.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "grid/halo.h"

#include <stdlib.h>
#include <string.h>

/* A box of offsets under construction, and the axis along which boxes are being joined. */
typedef struct joined {
  int lo[AMBIT_MAX_DIMS], hi[AMBIT_MAX_DIMS];
  int axis;
} joined;

static int order(int a, int b)
{
  return (a > b) - (a < b);
}

/* Compares all other axes first, so that boxes that can be joined along the axis are adjacent. */
static int compare(const void *a, const void *b)
{
  const joined *x = a, *y = b;

  for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
    int o = order(x->lo[d], y->lo[d]);

    if (!o) o = order(x->hi[d], y->hi[d]);
    if (o && d != x->axis) return o;
  }
  return order(x->lo[x->axis], y->lo[x->axis]);
}

/* Whether b overlaps a or continues it along the axis. */
static bool goes_on(const joined *a, const joined *b)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (d != a->axis && (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d])) return false;
  return b->lo[a->axis] <= a->hi[a->axis] + 1;
}

/* Joins boxes along one axis; returns the number of boxes left. */
static int join(joined *list, int n, int axis)
{
  int left = 0;

  for (int i = 0; i < n; i++)
    list[i].axis = axis;
  qsort(list, (size_t)n, sizeof *list, compare);
  for (int i = 0; i < n; i++)
    if (left && goes_on(&list[left - 1], &list[i])) {
      if (list[i].hi[axis] > list[left - 1].hi[axis]) list[left - 1].hi[axis] = list[i].hi[axis];
    } else {
      list[left++] = list[i];
    }
  return left;
}

static bool contains(const ambit__need *outer, const ambit__need *inner)
{
  const ambit__layers *a = &outer->beyond, *b = &inner->beyond;

  if (!ambit__box_equal(&outer->region, &inner->region)) return false;
  if (outer->boundaries != inner->boundaries) return false;
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d] || b->lo[d] > a->lo[d] ||
        b->hi[d] > a->hi[d])
      return false;
  return true;
}

/* Of the region and the boundaries. */
static uint64_t hash_of(const ambit__need *need)
{
  const ambit__box *b = &need->region;
  ambit__hash h;

  ambit__hash_init(&h);
  ambit__hash_bytes(&h, b->lo, (size_t)b->ndims * sizeof *b->lo);
  ambit__hash_bytes(&h, b->hi, (size_t)b->ndims * sizeof *b->hi);
  ambit__hash_bytes(&h, &need->boundaries, sizeof need->boundaries);
  return h.w[0];
}

static bool is_covered(const ambit__needs *needs, const ambit__need *need)
{
  const uint64_t hash = hash_of(need);
  int i;

  for (size_t at = 0; (i = ambit__index_next(&needs->regions, hash, &at)) >= 0;)
    if (contains(&needs->list[i], need)) return true;
  return false;
}

/* Whether cells read only themselves, and only own ones do. */
static bool is_own_cell(const ambit__need *need)
{
  for (int d = 0; d < AMBIT_MAX_DIMS; d++)
    if (need->lo[d] || need->hi[d] || need->beyond.lo[d] || need->beyond.hi[d]) return false;
  return true;
}

static ambit_status append(ambit__errors *errors, ambit__needs *needs, const ambit__need *need)
{
  AMBIT_TRY(
      ambit__make_room(errors, &needs->list, (size_t)needs->n, &needs->cap, sizeof *needs->list));
  AMBIT_TRY(ambit__index_add(errors, &needs->regions, hash_of(need), needs->n));
  needs->list[needs->n++] = *need;
  return AMBIT_OK;
}

ambit_status ambit__needs_add(ambit__errors *errors, ambit__needs *needs, const ambit__need *what,
                              const int (*offsets)[AMBIT_MAX_DIMS], int n)
{
  joined *boxes = ambit__new(errors, (size_t)n, sizeof *boxes);
  ambit_status s = boxes ? AMBIT_OK : AMBIT_ENOMEM;
  int left = n;

  for (int i = 0; boxes && i < n; i++) {
    memcpy(boxes[i].lo, offsets[i], sizeof boxes->lo);
    memcpy(boxes[i].hi, offsets[i], sizeof boxes->hi);
  }
  for (int d = what->region.ndims - 1; boxes && d >= 0; d--)
    left = join(boxes, left, d);
  for (int i = 0; !s && i < left; i++) {
    ambit__need need = *what;

    memcpy(need.lo, boxes[i].lo, sizeof need.lo);
    memcpy(need.hi, boxes[i].hi, sizeof need.hi);
    if (!is_own_cell(&need) && !is_covered(needs, &need)) s = append(errors, needs, &need);
  }
  free(boxes);
  return s;
}

bool ambit__needs_cover(const ambit__needs *a, const ambit__needs *b)
{
  for (int i = 0; i < b->n; i++)
    if (!is_covered(a, &b->list[i])) return false;
  return true;
}

void ambit__needs_free(ambit__needs *needs)
{
  free(needs->list);
  ambit__index_free(&needs->regions);
  *needs = (ambit__needs){0};
}
