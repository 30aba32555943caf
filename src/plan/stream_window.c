/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_window.c - the work on one plane, for any rule: its own expressions, on the loaded planes.
 */
#include "plan/stream.h"

static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__stream_job *j = s->user;

  if (ambit__gpucode_is_field(&j->gpu, e->index))
    ambit__stream_print_cell(j, e->index, e->component, e->offset);
  else
    ambit__print(t, "%s_v", j->gpu.rule->params[e->index].name);
}

/* A value of a field or a scalar, for two or four cells. */
static void read_pair(const ambit__scope *s, ambit__text *t, const ambit__expr *e, const int *word)
{
  const ambit__stream_job *j = s->user;

  if (e->op != EXPR_READ || !ambit__gpucode_is_field(&j->gpu, e->index))
    ambit__print(t,
                 j->pairs->places == PLACES_QUADS ? "(%s_v * 0x01010101u)"
                                                  : "((%s_v & 0xffffu) * 0x00010001u)",
                 j->gpu.rule->params[e->index].name);
  else if (j->pairs->places)
    ambit__stream_print_word(j, e, word);
  else
    ambit__stream_print_pair(j, e->index, e->component, e->offset);
}

/* "(int)ambit_signed_of(q3, h)", or of numbers that are not negative ambit_part_of: the part of a
 * variable that belongs to this cell. */
static bool part_of_pair(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__stream_job *j = s->user;
  const int i = ambit__pairs_find(j->pairs, e);

  if (i < 0) return false;
  ambit__print(t, "(%s)%s(q%d, h)", s->dialect->types[e->type],
               j->pairs->negative[i] ? "ambit_signed_of" : "ambit_part_of", i);
  return true;
}

/* "(ambit_real(gx_) * ambit_real(gx_))": an integer as a float. */
static void print_real(const ambit__scope *s, ambit__text *t, const ambit__expr *e, bool parts)
{
  const ambit__stream_job *j = s->user;

  parts = parts && ambit__root_is_sum(e) && !ambit__dots_find(j->dots, e);
  ambit__print(t, parts ? "(" : "ambit_real(");
  if (parts) {
    print_real(s, t, e->a, true);
    ambit__print(t, e->op == EXPR_ADD ? " + " : e->op == EXPR_SUB ? " - " : " * ");
    print_real(s, t, e->b, true);
  } else {
    ambit__emit_expr(s, t, e);
  }
  ambit__print(t, ")");
}

/* Terms of a sum that are still to be added. */
typedef struct terms {
  const ambit__expr *first;
  const struct terms *others;
} terms;

/* "fmaf(a, b, fmaf(c, d, 0.5f))": a sum, and a half. */
static void print_half_more(const ambit__scope *s, ambit__text *t, const terms *sum, bool parts)
{
  const ambit__expr *e = sum ? sum->first : NULL;

  if (!sum) {
    ambit__print(t, "0.5f");
  } else if (parts && e->op == EXPR_ADD && e->type == AMBIT_I32) {
    const terms others = {e->b, sum->others};

    print_half_more(s, t, &(terms){e->a, &others}, true);
  } else if (parts && e->op == EXPR_MUL && e->type == AMBIT_I32) {
    ambit__print(t, s->dialect->float_names ? "fmaf(" : "fma(");
    print_real(s, t, e->a, true);
    ambit__print(t, ", ");
    print_real(s, t, e->b, true);
    ambit__print(t, ", ");
    print_half_more(s, t, sum->others, true);
    ambit__print(t, ")");
  } else {
    ambit__print(t, "(");
    print_real(s, t, e, parts);
    ambit__print(t, " + ");
    print_half_more(s, t, sum->others, parts);
    ambit__print(t, ")");
  }
}

/* "fminf(ambit_near_root(n), 255.0f)": a root whose integer part alone counts. */
static void print_root(const ambit__scope *s, ambit__text *t, const ambit__expr *e,
                       const ambit__root *root)
{
  const bool cut = e->call != CALL_sqrt, printed = cut && !root->last;

  if (printed)
    ambit__print(t, "%s%s(", ambit__call_name(e->call), s->dialect->float_names ? "f" : "");
  if (cut) {
    print_root(s, t, e->a, root);
  } else {
    ambit__print(t, "ambit_near_root(");
    print_half_more(s, t, &(terms){e->a->a, NULL}, root->real);
    ambit__print(t, ")");
  }
  if (printed) {
    ambit__print(t, ", ");
    ambit__emit_expr(s, t, e->b);
    ambit__print(t, ")");
  }
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

static bool instead(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__stream_job *j = s->user;
  const ambit__dot *sum = j->cells > 1 ? ambit__dots_find(j->dots, e) : NULL;
  const ambit__root *root = j->cells > 1 ? ambit__pairs_root(j->pairs, e) : NULL;

  if (j->cells == 1) return false;
  if (e == j->pairs->last) {
    ambit__emit_expr(s, t, j->pairs->uncut);
    return true;
  }
  if (sum) return ambit__stream_print_dot(j, sum);
  if (e->op == EXPR_CALL && e->call == CALL_sqrt && j->gpu.dialect->has_lanes &&
      is_whole(j->gpu.rule, e->a)) {
    ambit__print(t, "ambit_whole_root(");
    ambit__emit_expr(s, t, e->a);
    ambit__print(t, ")");
    return true;
  }
  if (!root) return part_of_pair(s, t, e);
  if (!root->last) ambit__print(t, "(%s)", s->dialect->types[e->type]);
  ambit__print(t, "ambit_integer_part(");
  print_root(s, t, e->a, root);
  ambit__print(t, ")");
  return true;
}

static ambit__scope scope_of(const ambit__stream_job *j)
{
  ambit__scope s = ambit__gpucode_scope(&j->gpu);

  s.read = read;
  s.instead = instead;
  s.near_tables = j->near;
  s.user = j;
  return s;
}

/* ---- results ---- */

/* "v_n", or for a vector field "v_n3": the results of a lane in one row. */
static void name_results(const ambit__stream_job *j, int param, int component)
{
  ambit__print(j->gpu.t, "%s_n", j->gpu.rule->params[param].name);
  if (j->gpu.rule->params[param].is_vector) ambit__print(j->gpu.t, "%d", component);
}

/* Whether a result is computed for two cells at a time. */
static bool is_paired(const ambit__stream_job *j, int param, int component)
{
  return j->cells > 1 && ambit__pairs_result(j->pairs, param, component) >= 0;
}

static void declare_results(const ambit__stream_job *j, int param, int component)
{
  const bool paired = is_paired(j, param, component);

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s ",
               j->cells == 1 ? ambit__gpucode_type(&j->gpu, param)
               : paired      ? "ambit_u32"
                             : "ambit_i32");
  name_results(j, param, component);
  ambit__print(j->gpu.t, "[%d]", !paired ? j->lane : j->pairs->places ? j->units : j->lane / 2);
  ambit__line_end(j->gpu.w, ";");
}

static void keep_pair(const ambit__stream_job *j, int param, int component)
{
  if (!is_paired(j, param, component)) return;
  ambit__line_begin(j->gpu.w);
  name_results(j, param, component);
  ambit__print(j->gpu.t, "[j] = q%d", ambit__pairs_result(j->pairs, param, component));
  ambit__line_end(j->gpu.w, ";");
}

static void keep_byte(const ambit__stream_job *j, int param, int component)
{
  const ambit__scope s = scope_of(j);

  if (is_paired(j, param, component)) return;
  ambit__line_begin(j->gpu.w);
  name_results(j, param, component);
  ambit__print(j->gpu.t, "[%s] = ", ambit__stream_cell(j));
  ambit__name_out(&s, j->gpu.t, param, component);
  ambit__line_end(j->gpu.w, ";");
}

static void declare_out(const ambit__stream_job *j, int param, int component)
{
  const int here[AMBIT_MAX_DIMS] = {0};
  const ambit__scope s = scope_of(j);

  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "%s ", j->cells > 1 ? "ambit_i32" : ambit__gpucode_type(&j->gpu, param));
  ambit__name_out(&s, j->gpu.t, param, component);
  if (j->gpu.rule->params[param].keeps[component]) {
    ambit__print(j->gpu.t, " = ");
    ambit__stream_print_cell(j, param, component, here);
  }
  ambit__line_end(j->gpu.w, ";");
}

static void keep_out(const ambit__stream_job *j, int param, int component)
{
  const int here[AMBIT_MAX_DIMS] = {0};
  const ambit__scope s = scope_of(j);

  ambit__line_begin(j->gpu.w);
  name_results(j, param, component);
  ambit__print(j->gpu.t, "[j] = %s", j->whole ? "mine >> j & 1 ? " : "");
  ambit__name_out(&s, j->gpu.t, param, component);
  if (j->whole) {
    ambit__print(j->gpu.t, " : ");
    ambit__stream_print_cell(j, j->gpu.bind[param].twin - 1, component, here);
  }
  ambit__line_end(j->gpu.w, ";");
}

/* The helper that stores: if the warp owns the row; cells in a mask; or cells in a range. */
static const char *store_of(const ambit__stream_job *j, bool paired)
{
  if (j->cells > 1 && j->pairs->places) return "ambit_store_words";
  if (j->cells > 1) return paired ? "ambit_store_bytes" : "ambit_store_numbers";
  if (j->planes) return "ambit_store_if";
  return j->gpu.dialect->has_lanes || (j->taps && !j->whole) ? "ambit_store" : "ambit_store_bits";
}

static void store_results(const ambit__stream_job *j, int param, int component)
{
  const char *name = j->gpu.rule->params[param].name;

  ambit__line_begin(j->gpu.w);
  ambit__stream_print_call(j, store_of(j, is_paired(j, param, component)),
                           j->cells > 1 ? -1 : param, j->lane);
  ambit__print(j->gpu.t, "%s%s_to", j->planes ? "own, " : j->cells > 1 ? "true, " : "", name);
  if (j->y >= 0) ambit__print(j->gpu.t, " + t * %s_s%d", name, j->y);
  if (component) ambit__print(j->gpu.t, " + %d * %s_c", component, name);
  ambit__print(j->gpu.t, ", ");
  name_results(j, param, component);
  ambit__line_end(j->gpu.w, j->whole ? ", mine + brim);" : j->taps ? ", first, end);" : ", mine);");
}

static void each_output(const ambit__stream_job *j,
                        void (*f)(const ambit__stream_job *, int param, int component))
{
  for (int i = 0; i < j->gpu.rule->nparams; i++)
    for (int c = 0; ambit__gpucode_is_field(&j->gpu, i) && c < j->gpu.rule->params[i].components;
         c++)
      if (j->gpu.rule->params[i].writes[c]) f(j, i, c);
}

void ambit__stream_declare_results(const ambit__stream_job *j)
{
  each_output(j, declare_results);
}

/* "z + p < n && t >= skip && t < stop": the warp owns the row. */
static void print_is_own(const ambit__stream_job *j)
{
  ambit__print(j->gpu.t, j->planes              ? "p >= from && p < till"
                         : j->pinned || j->ring ? "true"
                                                : "z + p < n");
  if (ambit__stream_start(j) < 0) ambit__print(j->gpu.t, " && z + p >= 0");
  if (j->y >= 0) ambit__print(j->gpu.t, " && t >= skip && t < stop");
}

void ambit__stream_store(const ambit__stream_job *j)
{
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, j->planes ? "const bool own = " : "if (");
  print_is_own(j);
  ambit__line_end(j->gpu.w, j->planes ? ";" : ") {");
  j->gpu.w->depth += !j->planes;
  each_output(j, store_results);
  if (!j->planes) ambit__close(j->gpu.w);
}

void ambit__stream_advance(const ambit__stream_job *j)
{
  for (int i = 0; i < j->gpu.rule->nparams; i++)
    if (ambit__gpucode_is_field(&j->gpu, i) && j->gpu.rule->params[i].is_written)
      ambit__line(j->gpu.w, "%s_to += %s_s%d;", j->gpu.rule->params[i].name,
                  j->gpu.rule->params[i].name, j->z);
}

/* ---- reductions ---- */

static void declare_reductions(const ambit__stream_job *j)
{
  const ambit__scope s = scope_of(j);

  for (int i = 0; i < j->gpu.rule->nparams; i++) {
    const ambit__param *p = &j->gpu.rule->params[i];

    if (!ambit__gpucode_is_reduction(&j->gpu, i)) continue;
    ambit__line_begin(j->gpu.w);
    ambit__print(j->gpu.t, "%s %s_out = ", ambit__gpucode_type(&j->gpu, i), p->name);
    ambit__emit_identity(&s, j->gpu.t, p);
    ambit__line_end(j->gpu.w, ";");
  }
}

/* A bit for every cell of the lane's row that is stored: only those are counted. */
static void declare_counted(const ambit__stream_job *j)
{
  if (!ambit__gpucode_reduces(j->gpu.group)) return;
  ambit__line_begin(j->gpu.w);
  ambit__print(j->gpu.t, "const int counted = ");
  print_is_own(j);
  ambit__line_end(j->gpu.w, " ? mine : 0;");
}

static void fold_reductions(const ambit__stream_job *j)
{
  if (!ambit__gpucode_reduces(j->gpu.group)) return;
  ambit__open(j->gpu.w, "if (counted >> (%s) & 1)", j->cells > 1 ? ambit__stream_cell(j) : "j");
  ambit__gpucode_fold_cell(&j->gpu);
  ambit__close(j->gpu.w);
}

/* ---- the plane ---- */

static void emit_index(const ambit__stream_job *j, int axis, const char *local)
{
  if (axis >= 0 && axis <= j->gpu.rule->max_axis)
    ambit__line(j->gpu.w, "const %s i%d = offset%d + %s;", j->gpu.integer, axis, axis, local);
}

/* A loop over the pairs of a lane's cells, and one over the two cells of each: of bytes c and
 * c + 2, which are two bytes apart in a word, of shorts c and c + 1. */
static void open_pairs(const ambit__stream_job *j, const ambit__scope *s)
{
  ambit__stream_unroll(j, "j", 0, j->lane / 2);
  ambit__line(j->gpu.w,
              j->cells == 2 ? "const int c = 2 * j;" : "const int c = j / 2 * 4 + j %% 2;");
  ambit__pairs_emit(j->pairs, s, j->gpu.w, read_pair);
  each_output(j, keep_pair);
  ambit__stream_unroll(j, "h", 0, 2);
}

/* All results of a row, for the cells of a word at a time, which begins at byte c. */
static void emit_words(const ambit__stream_job *j, const ambit__scope *s)
{
  ambit__stream_unroll(j, "j", 0, j->units);
  ambit__line(j->gpu.w, "const int c = 4 * j;");
  ambit__pairs_emit(j->pairs, s, j->gpu.w, read_pair);
  each_output(j, keep_pair);
  ambit__close(j->gpu.w);
}

/* All results of a row, for each cell of its own, or of bytes some for two cells at a time. */
static void emit_cells(const ambit__stream_job *j, const ambit__scope *s)
{
  if (j->cells > 1)
    open_pairs(j, s);
  else
    ambit__stream_unroll(j, "j", 0, j->lane);
  emit_index(j, j->x, j->cells == 1 ? "x + j" : j->cells == 2 ? "x + c + h" : "x + c + 2 * h");
  each_output(j, declare_out);
  declare_reductions(j);
  ambit__emit_stmts(s, j->gpu.w, j->gpu.rule->body);
  each_output(j, j->cells > 1 ? keep_byte : keep_out);
  fold_reductions(j);
  ambit__close(j->gpu.w);
  if (j->cells > 1) ambit__close(j->gpu.w);
}

void ambit__stream_emit_window(const ambit__stream_job *j)
{
  const ambit__scope s = scope_of(j);

  emit_index(j, j->z, j->planes ? "begin + p" : "begin + z + p");
  if (j->y >= 0) ambit__stream_unroll(j, "t", 0, j->rows);
  if (j->ring) ambit__stream_take_for_row(j);
  emit_index(j, j->y, "y + t");
  ambit__stream_declare_results(j);
  declare_counted(j);
  if (j->cells > 1 && j->pairs->places)
    emit_words(j, &s);
  else
    emit_cells(j, &s);
  ambit__stream_store(j);
  if (j->centre) ambit__stream_load_after(j);
  if (j->y >= 0) ambit__close(j->gpu.w);
  if (j->centre) ambit__stream_advance_after(j);
}
