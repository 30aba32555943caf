/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/objects/pieces.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

int ambit__field_shape(const ambit_field *f, int64_t *shape)
{
  const ambit__box b = ambit__field_box(f);

  memcpy(shape, b.hi, (size_t)b.ndims * sizeof *shape);
  shape[b.ndims] = f->components;
  return b.ndims + (f->components > 1);
}

static ambit_status each_piece(ambit_field *f, const ambit__box *all, ambit__piece_fn fn,
                               void *dense, void *user)
{
  const int64_t most = ambit__field_piece_cells(f);
  ambit__box box;

  if (ambit__box_is_empty(all)) return AMBIT_OK;
  ambit__box_first_piece(all, most, &box);
  do
    AMBIT_TRY(fn(f, &box, dense, user));
  while (ambit__box_next_piece(all, most, &box));
  return AMBIT_OK;
}

ambit_status ambit__each_own_piece(ambit_field *f, bool once, ambit__piece_fn fn, void *user)
{
  void *dense = ambit__field_piece_new(f);
  ambit_status s = dense ? AMBIT_OK : AMBIT_ENOMEM;

  for (int i = 0; !s && i < f->grid->placement.n; i++)
    if (!once || !f->stores[i].layout.is_copy)
      s = each_piece(f, &f->stores[i].layout.own, fn, dense, user);
  free(dense);
  return s;
}

ambit_status ambit__each_shared_piece(ambit_field *f, ambit__piece_fn fn, void *user)
{
  const ambit__box all = ambit__field_box(f);
  void *dense = ambit__field_piece_new(f);
  ambit_status s = ambit__net_agree(f->grid->context->net);

  if (!s) s = each_piece(f, &all, fn, dense, user);
  free(dense);
  return s;
}

ambit_status ambit__each_bytes(const ambit_field *f, const ambit__box *piece, void *dense,
                               size_t cell, ambit__bytes_fn fn, void *user)
{
  const ambit__box all = ambit__field_box(f);
  ambit__box starts;
  const size_t n = (size_t)ambit__box_runs(&all, piece, &starts) * cell;
  unsigned char *bytes = dense;
  int64_t at[AMBIT_MAX_DIMS];

  ambit__box_first(&starts, at);
  do {
    AMBIT_TRY(fn(user, (size_t)ambit__box_number(&all, at) * cell, bytes, n));
    bytes += n;
  } while (ambit__box_next_row(&starts, at));
  return AMBIT_OK;
}

ambit_status ambit__share_name(ambit *a, const char *of_first, char **beside)
{
  uint64_t length = of_first && !a->net->rank ? strlen(of_first) + 1 : 0;

  *beside = NULL;
  AMBIT_TRY(ambit__net_agree(a->net));
  AMBIT_TRY(ambit__net_broadcast(a->net, 0, &length, sizeof length));
  if (!length) return AMBIT_OK;
  *beside = ambit__new(&a->errors, (size_t)length, 1);
  AMBIT_TRY(ambit__net_agree(a->net));
  if (!a->net->rank) memcpy(*beside, of_first, (size_t)length);
  return ambit__net_broadcast(a->net, 0, *beside, (size_t)length);
}
