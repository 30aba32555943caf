/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c - rules on bytes and shorts, which are in registers as words of four or two: their reads,
 * for one cell or for those of a word, weighted sums, and integer parts of roots. */
#include "nest/strip/strip.h"

#include <string.h>

enum { WORD = 4, REAL = 0x4b400000, MOST_REAL = 1 << 22 };

const char *ambit__strip_place(const ambit__strip *w)
{
  return w->cells == 2 ? "c + h" : "c + 2 * h";
}

static const ambit__strip_value *value_of(const ambit__strip *w, const ambit__expr *e)
{
  return ambit__strip_find(w, e->index, e->component, e->offset);
}

static const char *row_of(const ambit__strip *w, const ambit__expr *e)
{
  return ambit__strip_row(w, value_of(w, e), e->offset);
}

/* A value of a field or a scalar, for two or four cells: "ambit_pair(u_w[(p + 3) % 4][t + 1], c +
 * 5)", a byte at an offset from both cells of the current pair; "ambit_window(...)", the cells of a
 * word, or of the two words that they are in the first or the second one, "u_w[p][t + 1][j + 1]".
 */
void ambit__strip_word(ambit__nest *n, ambit__text *t, const ambit__expr *e, const int *word)
{
  const ambit__strip *w = n->builder;
  const bool quads = w->pairs->places == PLACES_QUADS;
  int first;

  if (e->op != EXPR_READ || !ambit__nest_is_field(n, e->index)) {
    ambit__print(t, quads ? "(%s_v * 0x01010101u)" : "((%s_v & 0xffffu) * 0x00010001u)",
                 ambit__nest_name(n, e->index));
    return;
  }
  first = value_of(w, e)->left * WORD + e->offset[w->x] * (WORD / w->cells); /* byte */
  if (!w->pairs->places)
    ambit__print(t, "ambit_pair(%s, c + %d)", row_of(w, e),
                 value_of(w, e)->left * w->cells + e->offset[w->x]);
  else if (word)
    ambit__print(t, "%s[j + %d]", row_of(w, e), first / WORD + *word);
  else
    ambit__print(t, "ambit_window(%s, c + %d)", row_of(w, e), first);
}

/* ---- weighted sums ---- */

/* The first of four adjacent bytes that contain one at an offset: they begin with it, unless that
 * would be beyond the words of the lane. */
static int window_at(const ambit__strip_value *s, int dx)
{
  const int last = 4 * s->right - 3;

  return dx < last ? dx : last;
}

/* Whether two values are in one row. */
static bool in_row(const ambit__strip *w, const ambit__expr *a, const ambit__expr *b)
{
  return a->index == b->index && a->component == b->component &&
         !memcmp(a->offset, b->offset, (size_t)w->x * sizeof *a->offset);
}

/* The first byte of a sum that no window has yet, along x; -1: all have one. */
static int first_left(const ambit__strip *w, const ambit__dot *sum, const bool *done)
{
  int first = -1;

  for (int i = 0; i < sum->n; i++)
    if (!done[i] && (first < 0 || sum->reads[i]->offset[w->x] < sum->reads[first]->offset[w->x]))
      first = i;
  return first;
}

/* "ambit_dot(ambit_window(...), 0x010001u, " */
static void open_window(const ambit__strip *w, ambit__text *t, const ambit__dot *sum, int first,
                        bool *done)
{
  const ambit__expr *e = sum->reads[first];
  const int at = window_at(value_of(w, e), e->offset[w->x]);
  uint32_t weights = 0;

  for (int i = 0; i < sum->n; i++) {
    const int away = sum->reads[i]->offset[w->x] - at;

    if (done[i] || !in_row(w, e, sum->reads[i]) || away < 0 || away >= WORD) continue;
    done[i] = true;
    weights |= (uint32_t)(uint8_t)sum->weights[i] << 8 * away;
  }
  ambit__print(t, "ambit_dot(ambit_window(%s, c + 2 * h + %d), 0x%xu, ", row_of(w, e),
               value_of(w, e)->left * w->cells + at, (unsigned)weights);
}

/* The shorts of a sum that are in one word: of cells with h = 0, and with h = 1. */
typedef struct halves {
  const ambit__expr *first;
  int word; /* from that of the cell on */
  uint32_t weights[2];
} halves;

/* Adds a term to the words of a sum; their number. */
static int add_halves(const ambit__strip *w, const ambit__expr *e, int weight, halves *all, int n)
{
  for (int h = 0; h < 2; h++) {
    const int at = e->offset[w->x] + h, second = at & 1, word = (at - second) / 2;
    int i = 0;

    while (i < n && !(all[i].word == word && in_row(w, all[i].first, e)))
      i++;
    if (i == n) all[n++] = (halves){.first = e, .word = word};
    all[i].weights[h] |= (uint32_t)(uint8_t)weight << 8 * second;
  }
  return n;
}

/* "ambit_dot_shorts(u_w[p][j + 1], h ? 0x200u : 0x1u, ": the number of these. */
static int open_halves(const ambit__strip *w, ambit__text *t, const ambit__dot *sum)
{
  halves all[2 * AMBIT__DOT_TERMS];
  int n = 0;

  for (int i = 0; i < sum->n; i++)
    n = add_halves(w, sum->reads[i], sum->weights[i], all, n);
  for (int i = 0; i < n; i++)
    ambit__print(t, "ambit_dot_shorts(%s[j + %d], h ? 0x%xu : 0x%xu, ", row_of(w, all[i].first),
                 value_of(w, all[i].first)->left + all[i].word, (unsigned)all[i].weights[1],
                 (unsigned)all[i].weights[0]);
  return n;
}

/* Whether there are words for all terms of a sum. */
static bool has_words(const ambit__strip *w, const ambit__dot *sum)
{
  for (int i = 0; i < sum->n; i++) {
    const ambit__expr *e = sum->reads[i];

    if (!ambit__nest_is_field(w->n, e->index)) return false;
    if (w->cells > 2 && window_at(value_of(w, e), 0) < -4 * value_of(w, e)->left) return false;
  }
  return true;
}

/* "ambit_dot(ambit_window(u_w[p], c + 2 * h + 3), 0x010001u, 0)": a weighted sum of bytes, or of
 * shorts. false: some are not of fields, and nothing is printed. One that is made a float later,
 * probably, begins with the bits of 1.5 * 2^23, which ambit_real would add. */
static bool print_dot(const ambit__strip *w, ambit__text *t, const ambit__dot *sum)
{
  const bool real =
      w->cells > 2 && w->pairs->nroots && sum->constant > -MOST_REAL && sum->constant < MOST_REAL;
  bool done[AMBIT__DOT_TERMS] = {false};
  int n = 0;

  if (!has_words(w, sum)) return false;
  if (real) ambit__print(t, "(");
  if (w->cells == 2)
    n = open_halves(w, t, sum);
  else
    for (int i; (i = first_left(w, sum, done)) >= 0; n++)
      open_window(w, t, sum, i, done);
  if (real)
    ambit__print(t, "0x%x", (unsigned)(REAL + sum->constant));
  else
    ambit__print(t, sum->constant == INT32_MIN ? "(int)0x80000000u" : "%d", sum->constant);
  while (n-- > 0)
    ambit__print(t, ")");
  if (real) ambit__print(t, " - 0x%x)", (unsigned)REAL);
  return true;
}

/* ---- roots ---- */

/* A rule that is printed. */
typedef struct spot {
  ambit__nest *n;
  const ambit__node *rule;
} spot;

static const char *text_of(const spot *s, const ambit__expr *e)
{
  return ambit__nest_expr(s->n, s->rule, e);
}

/* "(ambit_real(gx_) * ambit_real(gx_))": an integer as a float. */
static const char *real_of(const spot *s, const ambit__expr *e, bool parts)
{
  const ambit__strip *w = s->n->builder;

  if (!parts || !ambit__pairs_is_sum(e) || ambit__is_dot(w->pairs->dots, e))
    return ambit__nest_text(s->n, "ambit_real(%s)", text_of(s, e));
  return ambit__nest_text(s->n, "(%s %c %s)", real_of(s, e->a, true),
                          e->op == EXPR_ADD   ? '+'
                          : e->op == EXPR_SUB ? '-'
                                              : '*',
                          real_of(s, e->b, true));
}

/* "fmaf(a, b, fmaf(c, d, 0.5f))": a sum and what is added to it, a half at last. */
static const char *add_half(const spot *s, const ambit__expr *e, bool parts, const char *others)
{
  if (parts && e->op == EXPR_ADD && e->type == AMBIT_I32)
    return add_half(s, e->a, true, add_half(s, e->b, true, others));
  if (parts && e->op == EXPR_MUL && e->type == AMBIT_I32)
    return ambit__nest_text(s->n, "%s(%s, %s, %s)", s->n->dialect->float_names ? "fmaf" : "fma",
                            real_of(s, e->a, true), real_of(s, e->b, true), others);
  return ambit__nest_text(s->n, "(%s + %s)", real_of(s, e, parts), others);
}

/* "fminf(ambit_near_root(n), 255.0f)": a root whose integer part alone counts. */
static const char *root_of(const spot *s, const ambit__pairs_root *r)
{
  const char *root =
      ambit__nest_text(s->n, "ambit_near_root(%s)", add_half(s, r->root.n, r->real, "0.5f"));

  if (r->last || !r->root.cut) return root;
  return ambit__nest_text(s->n, s->n->dialect->float_names ? "fminf(%s, %s)" : "fmin(%s, %s)", root,
                          text_of(s, r->root.cut));
}

/* Whether a float is an int that was converted. */
static bool is_converted(const ambit__rule *rule, const ambit__expr *e)
{
  const ambit__expr *only = e->op == EXPR_LOCAL ? ambit__only_value(rule, e->index) : NULL;

  if (only) return is_converted(rule, only);
  return e->op == EXPR_CAST && e->type == AMBIT_F32 &&
         (e->a->type == AMBIT_I32 || e->a->type == AMBIT_I16 || e->a->type == AMBIT_U8);
}

/* Whether a float is a sum of such numbers and of products of two of them: it is 0 or at least 1,
 * and finite. */
static bool is_whole(const ambit__rule *rule, const ambit__expr *e)
{
  const ambit__expr *only = e->op == EXPR_LOCAL ? ambit__only_value(rule, e->index) : NULL;

  if (only) return is_whole(rule, only);
  if (e->type == AMBIT_F32 && (e->op == EXPR_ADD || e->op == EXPR_SUB))
    return is_whole(rule, e->a) && is_whole(rule, e->b);
  if (e->type == AMBIT_F32 && e->op == EXPR_MUL)
    return is_converted(rule, e->a) && is_converted(rule, e->b);
  return is_converted(rule, e);
}

/* "(int)ambit_signed_of(q3, h)", or of numbers that are not negative ambit_part_of: the part of a
 * variable that belongs to this cell. */
static bool print_part(const ambit__strip *w, ambit__text *t, const ambit__expr *e)
{
  const int i = ambit__pairs_find(w->pairs, e);

  if (i >= 0)
    ambit__print(t, "(%s)%s(q%d, h)", w->n->dialect->types[e->type],
                 w->pairs->negative[i] ? "ambit_signed_of" : "ambit_part_of", i);
  return i >= 0;
}

bool ambit__strip_instead(ambit__nest *n, const ambit__node *rule, ambit__text *t,
                          const ambit__expr *e)
{
  const ambit__strip *w = n->builder;
  const spot here = {n, rule};
  const ambit__pairs_root *root = ambit__pairs_find_root(w->pairs, e);
  ambit__dot sum;

  if (w->pairs->dots && ambit__dot_of(w->pairs->dots, e, &sum)) return print_dot(w, t, &sum);
  if (e->op == EXPR_CALL && e->call == CALL_sqrt && n->dialect->has_lanes &&
      is_whole(n->rule, e->a)) {
    ambit__print(t, "ambit_whole_root(%s)", text_of(&here, e->a));
    return true;
  }
  if (!root) return print_part(w, t, e);
  if (!root->last) ambit__print(t, "(%s)", n->dialect->types[e->type]);
  ambit__print(t, "ambit_integer_part(%s)", root_of(&here, root));
  return true;
}
