/* SPDX-License-Identifier: BSD-3-Clause */
/* plane.c - the work on one plane, for any rule: its own expressions, on the loaded planes; the
 * results of a lane in one row, and their stores. */
#include "nest/strip/strip.h"

/* ---- results ---- */

/* "v_n", or for a vector field "v_n3": the results of a lane in one row. */
static const char *results_of(ambit__nest *n, const ambit__nest_access *a)
{
  return ambit__nest_name_of(n, "n", ambit__nest_param(n, a->param), a->component);
}

/* The variable for several cells at a time that has a result; -1: it is computed for each cell. */
static int pair_of(const ambit__strip *w, const ambit__nest_access *a)
{
  return w->cells > 1 ? ambit__pairs_result(w->pairs, a->param, a->component) : -1;
}

static void let_results(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__strip *w = n->builder;
  const bool paired = pair_of(w, &a) >= 0;
  const char *type = paired ? "ambit_u32" : "ambit_i32";

  (void)user;
  ambit__nest_node(n, NODE_ARRAY, .type = w->cells == 1 ? ambit__nest_type(n, a.param) : type,
                   .name = results_of(n, &a),
                   .size = {!paired            ? w->lane
                            : w->pairs->places ? w->units
                                               : w->lane / 2});
}

void ambit__strip_let_results(const ambit__strip *w)
{
  ambit__nest_each_output(w->n, let_results, NULL);
}

static void keep_pair(ambit__nest *n, ambit__nest_access a, void *user)
{
  const int q = pair_of(n->builder, &a);

  (void)user;
  if (q >= 0) ambit__nest_do(n, "%s[j] = q%d", results_of(n, &a), q);
}

static void let_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__strip *w = n->builder;
  const char *type = w->cells > 1 ? "ambit_i32" : ambit__nest_type(n, a.param);
  const char *name = ambit__nest_name_of(n, "out", ambit__nest_param(n, a.param), a.component);
  const int here[AMBIT_MAX_DIMS] = {0};

  (void)user;
  if (ambit__nest_param(n, a.param)->keeps[a.component])
    ambit__nest_do(n, "%s %s = %s", type, name, ambit__strip_cell(w, a.param, a.component, here));
  else
    ambit__nest_do(n, "%s %s", type, name);
}

static void keep_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__strip *w = n->builder;
  const char *to = results_of(n, &a),
             *out = ambit__nest_name_of(n, "out", ambit__nest_param(n, a.param), a.component);

  (void)user;
  if (pair_of(w, &a) >= 0) return;
  ambit__nest_do(n, "%s[%s] = %s", to, w->cells > 1 ? ambit__strip_place(w) : "j", out);
}

static void store_results(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__strip *w = n->builder;
  const char *name = ambit__nest_name(n, a.param);
  const char *to = ambit__nest_text(n, "%s_to", name);

  (void)user;
  if (w->y >= 0) to = ambit__nest_text(n, "%s + t * %s_s%d", to, name, w->y);
  if (a.component) to = ambit__nest_text(n, "%s + %d * %s_c", to, a.component, name);
  if (w->cells > 1)
    ambit__nest_do(n, "ambit_store_%s_%d(%s, %s, %s, mine)",
                   w->pairs->places      ? "words"
                   : pair_of(w, &a) >= 0 ? "bytes"
                                         : "numbers",
                   w->lane, w->planes ? "own" : "true", to, results_of(n, &a));
  else
    ambit__nest_call(n, w->planes ? "ambit_store_if" : "ambit_store", ambit__nest_type(n, a.param),
                     w->lane, "%s%s, %s, mine", w->planes ? "own, " : "", to, results_of(n, &a));
}

/* "z + p < n && t >= skip && t < stop": the warp owns the row. */
static const char *is_own(const ambit__strip *w)
{
  const char *plane = w->z < 0 ? "true" : w->planes ? "p >= from && p < till" : "z + p < n";

  return ambit__nest_text(w->n, "%s%s%s", w->ring ? "true" : plane,
                          ambit__strip_start(w) < 0 ? " && z + p >= 0" : "",
                          w->y >= 0 ? " && t >= skip && t < stop" : "");
}

void ambit__strip_store(const ambit__strip *w)
{
  if (w->planes)
    ambit__nest_do(w->n, "const bool own = %s", is_own(w));
  else
    ambit__nest_if(w->n, "%s", is_own(w));
  ambit__nest_each_output(w->n, store_results, NULL);
  if (!w->planes) ambit__nest_close(w->n);
}

void ambit__strip_advance(const ambit__strip *w)
{
  if (w->z < 0) return;
  for (int i = 0; i < w->n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(w->n, i);

    if (ambit__nest_is_field(w->n, i) && p->is_written)
      ambit__nest_do(w->n, "%s_to += %s_s%d", p->name, p->name, w->z);
  }
}

/* ---- the plane ---- */

static void let_index(const ambit__strip *w, int axis, const char *local)
{
  if (axis >= 0 && axis <= w->n->rule->max_axis)
    ambit__nest_do(w->n, "const %s i%d = offset%d + %s", w->n->integer, axis, axis, local);
}

/* Variables for the cells of a word, which begins at byte c, or for a pair of the lane's cells: of
 * bytes c and c + 2, which are two bytes apart in a word, of shorts c and c + 1. */
static void open_words(const ambit__strip *w)
{
  const bool words = w->pairs->places != PLACES_PAIRS;

  ambit__nest_unroll(w->n, "j", 0, words ? w->units : w->lane / 2);
  ambit__nest_do(w->n, "const int c = %s",
                 words           ? "4 * j"
                 : w->cells == 2 ? "2 * j"
                                 : "j / 2 * 4 + j % 2");
  let_index(w, w->x, "x + c");
  ambit__nest_node(w->n, NODE_WORDS, .inside = -1);
  ambit__nest_each_output(w->n, keep_pair, NULL);
}

/* All results of a row, for each cell of its own; of bytes some for two cells at a time, whose
 * number is h. Reductions count the cells that are stored. */
static void add_cells(const ambit__strip *w)
{
  const bool reduces = ambit__group_reduces(w->n->group);

  if (w->cells > 1) {
    open_words(w);
    ambit__nest_unroll(w->n, "h", 0, 2);
  } else {
    ambit__nest_unroll(w->n, "j", 0, w->lane);
  }
  let_index(w, w->x, w->cells == 1 ? "x + j" : w->cells == 2 ? "x + c + h" : "x + c + 2 * h");
  ambit__nest_each_output(w->n, let_out, NULL);
  ambit__nest_let_results(w->n);
  ambit__nest_node(w->n, NODE_RULE, .inside = w->inside);
  ambit__nest_each_output(w->n, keep_out, NULL);
  if (reduces) {
    ambit__nest_if(w->n, "counted >> (%s) & 1", w->cells > 1 ? ambit__strip_place(w) : "j");
    ambit__nest_fold_into(w->n, "total", "out", false);
    ambit__nest_close(w->n);
  }
  ambit__nest_close(w->n);
  if (w->cells > 1) ambit__nest_close(w->n);
}

void ambit__strip_plane(const ambit__strip *w)
{
  let_index(w, w->z, w->planes ? "begin + p" : "begin + z + p");
  if (w->y >= 0) ambit__nest_unroll(w->n, "t", 0, w->rows);
  if (w->ring) ambit__strip_take_for_row(w);
  let_index(w, w->y, "y + t");
  ambit__strip_let_results(w);
  if (ambit__group_reduces(w->n->group))
    ambit__nest_do(w->n, "const int counted = %s ? mine : 0", is_own(w));
  if (w->cells > 1 && w->pairs->places) {
    open_words(w);
    ambit__nest_close(w->n);
  } else {
    add_cells(w);
  }
  ambit__strip_store(w);
  if (w->y >= 0) ambit__nest_close(w->n);
}
