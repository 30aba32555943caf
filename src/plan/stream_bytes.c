/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_bytes.c - reads of bytes and shorts, which are in registers as words of four or two. */
#include "plan/stream.h"

enum { WORD = 4, REAL = 0x4b400000, MOST_REAL = 1 << 22 };

void ambit__stream_print_pair(const ambit__stream_job *j, int param, int component,
                              const int *offset)
{
  const ambit__stream *s = ambit__stream_find(j, param, component, offset);

  ambit__print(j->gpu.t, "ambit_pair(");
  ambit__stream_print_read(j, s, offset);
  ambit__print(j->gpu.t, ", c + %d)", s->left * j->cells + offset[j->x]);
}

void ambit__stream_print_word(const ambit__stream_job *j, const ambit__expr *e, const int *word)
{
  const ambit__stream *s = ambit__stream_find(j, e->index, e->component, e->offset);
  const int first = s->left * WORD + e->offset[j->x] * (WORD / j->cells); /* byte */

  if (!word) ambit__print(j->gpu.t, "ambit_window(");
  ambit__stream_print_read(j, s, e->offset);
  if (word)
    ambit__print(j->gpu.t, "[j + %d]", first / WORD + *word);
  else
    ambit__print(j->gpu.t, ", c + %d)", first);
}

/* The first of four adjacent bytes that contain one at an offset: they begin with it, unless that
 * would be beyond the words of the lane. */
static int window_at(const ambit__stream *s, int dx)
{
  const int last = 4 * s->right - 3;

  return dx < last ? dx : last;
}

/* Whether two bytes are in one row, the second one in a window that begins at the first. */
static bool in_window(const ambit__stream_job *j, const ambit__expr *a, const ambit__expr *b,
                      int at)
{
  bool same = a->index == b->index && a->component == b->component;

  for (int d = 0; d < j->x; d++)
    same = same && a->offset[d] == b->offset[d];
  return same && b->offset[j->x] >= at && b->offset[j->x] < at + 4;
}

/* The first byte of a sum that no window has yet, along x; -1: all have one. */
static int first_left(const ambit__stream_job *j, const ambit__dot *sum, const bool *done)
{
  int first = -1;

  for (int i = 0; i < sum->n; i++)
    if (!done[i] && (first < 0 || sum->reads[i]->offset[j->x] < sum->reads[first]->offset[j->x]))
      first = i;
  return first;
}

/* "ambit_dot(ambit_window(...), 0x010001u, " */
static void open_window(const ambit__stream_job *j, const ambit__dot *sum, int first, bool *done)
{
  const ambit__expr *e = sum->reads[first];
  const ambit__stream *s = ambit__stream_find(j, e->index, e->component, e->offset);
  const int at = window_at(s, e->offset[j->x]);
  uint32_t weights = 0;

  for (int i = 0; i < sum->n; i++)
    if (!done[i] && in_window(j, e, sum->reads[i], at)) {
      done[i] = true;
      weights |= (uint32_t)(uint8_t)sum->weights[i] << 8 * (sum->reads[i]->offset[j->x] - at);
    }
  ambit__print(j->gpu.t, "ambit_dot(ambit_window(");
  ambit__stream_print_read(j, s, e->offset);
  ambit__print(j->gpu.t, ", c + 2 * h + %d), 0x%xu, ", s->left * j->cells + at, (unsigned)weights);
}

/* Whether a sum is made a float later, probably: then it begins with the bits of 1.5 * 2^23, which
 * ambit_real would add. */
static bool becomes_real(const ambit__stream_job *j, const ambit__dot *sum)
{
  return j->pairs->nroots && sum->constant > -MOST_REAL && sum->constant < MOST_REAL;
}

bool ambit__stream_print_dot(const ambit__stream_job *j, const ambit__dot *sum)
{
  const bool real = becomes_real(j, sum);
  bool done[AMBIT__DOT_TERMS] = {false};
  int windows = 0;

  for (int i = 0; i < sum->n; i++) {
    const ambit__expr *e = sum->reads[i];

    if (!ambit__gpucode_is_field(&j->gpu, e->index)) return false;
    if (window_at(ambit__stream_find(j, e->index, e->component, e->offset), 0) <
        -4 * ambit__stream_find(j, e->index, e->component, e->offset)->left)
      return false;
  }
  if (real) ambit__print(j->gpu.t, "(");
  for (int i; (i = first_left(j, sum, done)) >= 0; windows++)
    open_window(j, sum, i, done);
  if (real)
    ambit__print(j->gpu.t, "0x%x", (unsigned)(REAL + sum->constant));
  else
    ambit__print(j->gpu.t, sum->constant == INT32_MIN ? "(int)0x80000000u" : "%d", sum->constant);
  while (windows-- > 0)
    ambit__print(j->gpu.t, ")");
  if (real) ambit__print(j->gpu.t, " - 0x%x)", (unsigned)REAL);
  return true;
}
