/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_bytes.c - reads of bytes and shorts, which are in registers as words of four or two. */
#include "plan/stream.h"

#include <string.h>

enum { WORD = 4, REAL = 0x4b400000, MOST_REAL = 1 << 22 };

const char *ambit__stream_cell(const ambit__stream_job *j)
{
  return j->cells == 2 ? "c + h" : "c + 2 * h";
}

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

/* The shorts of a sum that are in one word: of cells with h = 0, and with h = 1. */
typedef struct halves {
  const ambit__expr *first;
  int word; /* from that of the cell on */
  uint32_t weights[2];
} halves;

static int word_of(const ambit__stream_job *j, const ambit__expr *e, int h)
{
  const int at = e->offset[j->x] + h;

  return (at - (at & 1)) / 2;
}

/* Whether two shorts are in one row. */
static bool in_row(const ambit__stream_job *j, const ambit__expr *a, const ambit__expr *b)
{
  return a->index == b->index && a->component == b->component &&
         !memcmp(a->offset, b->offset, (size_t)j->x * sizeof *a->offset);
}

/* Adds a term to the words of a sum; their number. */
static int add_halves(const ambit__stream_job *j, const ambit__expr *e, int weight, halves *all,
                      int n)
{
  for (int h = 0; h < 2; h++) {
    const int word = word_of(j, e, h), second = (e->offset[j->x] + h) & 1;
    int i = 0;

    while (i < n && !(all[i].word == word && in_row(j, all[i].first, e)))
      i++;
    if (i == n) all[n++] = (halves){.first = e, .word = word};
    all[i].weights[h] |= (uint32_t)(uint8_t)weight << 8 * second;
  }
  return n;
}

/* "ambit_dot_shorts(u_w[p][j + 1], h ? 0x200u : 0x1u, ambit_dot_shorts(..., 0))" */
static void print_short_dot(const ambit__stream_job *j, const ambit__dot *sum)
{
  halves all[2 * AMBIT__DOT_TERMS];
  int n = 0;

  for (int i = 0; i < sum->n; i++)
    n = add_halves(j, sum->reads[i], sum->weights[i], all, n);
  for (int i = 0; i < n; i++) {
    const ambit__expr *e = all[i].first;
    const ambit__stream *s = ambit__stream_find(j, e->index, e->component, e->offset);

    ambit__print(j->gpu.t, "ambit_dot_shorts(");
    ambit__stream_print_read(j, s, e->offset);
    ambit__print(j->gpu.t, "[j + %d], h ? 0x%xu : 0x%xu, ", s->left + all[i].word,
                 (unsigned)all[i].weights[1], (unsigned)all[i].weights[0]);
  }
  ambit__print(j->gpu.t, sum->constant == INT32_MIN ? "(int)0x80000000u" : "%d", sum->constant);
  while (n-- > 0)
    ambit__print(j->gpu.t, ")");
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
    if (j->cells == 2) continue;
    if (window_at(ambit__stream_find(j, e->index, e->component, e->offset), 0) <
        -4 * ambit__stream_find(j, e->index, e->component, e->offset)->left)
      return false;
  }
  if (j->cells == 2) {
    print_short_dot(j, sum);
    return true;
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
