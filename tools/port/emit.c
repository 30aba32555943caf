/* SPDX-License-Identifier: BSD-3-Clause */
/* emit.c - the steps of a nest as text: a table for each rule, and calls in the place of the nest.
 *
 * The nest itself stays, as the other branch of a condition: it runs where what the translator had
 * to assume does not hold at run time.
 */
#include "edit.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"AMBIT_F32", "AMBIT_F64", "AMBIT_I32", "AMBIT_U8",
                                    "AMBIT_I16", "AMBIT_I64", "AMBIT_U8",  "AMBIT_U8",
                                    "AMBIT_I16", "AMBIT_I32"};
static const char *const kinds[] = {"PORT_READ",  "PORT_WRITE", "PORT_UPDATE", "PORT_SHADOW",
                                    "PORT_VALUE", "PORT_SUM",   "PORT_MIN",    "PORT_MAX",
                                    "PORT_TERM",  "PORT_TABLE", "PORT_CARRIED"};

static const char *const casts[] = {"(float)",          "",       "(int)",   "(unsigned char)",
                                    "(short)",          "(long)", "(_Bool)", "(signed char)",
                                    "(unsigned short)", "(long)", "(long)"};

const char *port_emit_type(value_type t)
{
  return types[t];
}

static const char *finish(ambit__text *t)
{
  char *out = ambit__text_finish(t);
  const char *copy = port_text("%s", out ? out : "");

  free(out);
  return copy;
}

/* ---- tables ---- */

static void print_offsets(ambit__text *t, const int64_t *v, int n)
{
  ambit__print(t, "{");
  for (int d = 0; d < n; d++)
    ambit__print(t, "%s%" PRId64, d ? ", " : "", v[d]);
  ambit__print(t, "}");
}

static void print_slot(ambit__text *t, const step *s, const param *p)
{
  bool reads = p->periodic || p->clamp;
  const int naxes = p->array ? s->naxes : 0;

  ambit__print(t, "        {.kind = %s, .type = %s", kinds[p->kind], types[p->type]);
  if (p->array) ambit__print(t, ", .name = \"%s\"", p->array->root->name);
  for (int d = 0; d < naxes; d++)
    reads |= p->low[d] || p->high[d];
  if (reads) {
    ambit__print(t, ", .low = ");
    print_offsets(t, p->low, s->naxes);
    ambit__print(t, ", .high = ");
    print_offsets(t, p->high, s->naxes);
  }
  if (p->periodic) ambit__print(t, ", .periodic = %u", p->periodic);
  if (p->clamp & ~p->periodic) ambit__print(t, ", .clamp = %u", p->clamp & ~p->periodic);
  if (p->loose) ambit__print(t, ", .loose = %u", p->loose);
  if (p->is_fresh) ambit__print(t, ", .fresh = 1");
  if (port_step_reads_first(s, p)) ambit__print(t, ", .first = 1");
  if (p->copies) ambit__print(t, ", .copies = %d", 1 + port_emit_slot(s, p->copies));
  if (p->kind == P_CARRIED) ambit__print(t, ", .number = %d", p->number);
  if (p->of) ambit__print(t, ", .of = %d", 1 + port_emit_slot(s, p->of));
  ambit__print(t, p->array ? "},\n" : "}, /* %s */\n", p->name);
  if (p->kind == P_UPDATE)
    ambit__print(t, "        {.kind = PORT_SHADOW, .type = %s}, /* %s_new */\n", types[p->type],
                 p->name);
}

static int slots_of(const step *s)
{
  int n = s->nparams;

  for (int i = 0; i < s->nparams; i++)
    n += s->params[i].kind == P_UPDATE;
  return n;
}

int port_emit_slot(const step *s, const param *p)
{
  int n = 0;

  for (const param *q = s->params; q < p; q++)
    n += 1 + (q->kind == P_UPDATE);
  return n;
}

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}

static bool is_line_used(const step *steps, const line *l)
{
  for (const step *s = steps; s; s = s->next)
    for (int i = 0; i < s->nparams; i++)
      if (s->params[i].array && s->params[i].array->line == l) return true;
  return false;
}

static const char *sweep_text(const step *s)
{
  if (!s->sweep) return "";
  return port_text("    .sweep = AMBIT_%s(%d),\n",
                   s->nest->loops[s->loop_of[s->sweep - 1]].is_down ? "HIGH" : "LOW", s->sweep - 1);
}

const char *port_emit_rules(const unit *u, step *steps)
{
  ambit__text t = {0};

  for (int k = 0; steps && k < steps->nest->nlines; k++)
    if (is_line_used(steps, &steps->nest->lines[k]))
      ambit__print(&t, "static port_lines %s;\n", steps->nest->lines[k].name);
  for (const step *s = steps; s; s = s->next) {
    ambit__print(&t, "#line %u \"%s\"\n", s->nest->node->line, base_name(u->path));
    ambit__print(&t,
                 "static port_rule port_%s = {\n    .place = \"%s:%u\",\n    .text = "
                 "AMBIT_SOURCE(\n%s\n    ),\n"
                 "    .axes = %d,\n    .nslots = %d,\n%s%s    .slots = {\n",
                 s->name, base_name(u->path), s->nest->node->line, s->text, s->naxes, slots_of(s),
                 port_number_is_late(s) ? "    .late = 1,\n" : "", sweep_text(s));
    for (int i = 0; i < s->nparams; i++)
      print_slot(&t, s, &s->params[i]);
    if (s->in_place)
      ambit__print(&t, "    },\n    .in_place = AMBIT_SOURCE(\n%s\n    )};\n\n", s->in_place);
    else
      ambit__print(&t, "    }};\n\n");
  }
  return finish(&t);
}

/* ---- arrays ---- */

/* The path of an array down to a subscript (included or not), axes being 0, or one of the parts of
 * a cell; fold: but the first ones, which are tables of pointers, have these subscripts, or NULL.
 */
static const char *path(const access *a, int level, bool with_subscript, const poly *fold)
{
  const int rows = fold ? port_row_levels(a->array) : 0;
  ambit__text t = {0};
  const int line = a->array->line ? a->array->line->place : 0;
  int l = line, at = line; /* brackets, and subscripts: f[(@) * (n) + (@)] has two */

  for (const char *k = a->array->key; *k; k++) {
    if (*k == '[' && l == level && !with_subscript) break;
    if (*k == '@') {
      ambit__print(&t, "%s",
                   at < rows               ? port_poly_code(fold[at])
                   : a->array->is_axis[at] ? port_text("%lld", (long long)a->parts[at])
                                           : port_poly_code(a->subs[at]));
      at++;
      continue;
    }
    ambit__print_chars(&t, k, 1);
    if (*k == ']' && l++ == level) break;
  }
  return finish(&t);
}

static const char *prefix(const access *a, int level, bool with_subscript)
{
  return path(a, level, with_subscript, NULL);
}

static const char *stride_text(const access *a, int axis)
{
  const array *s = a->array;
  const char *element = prefix(a, s->level_of[axis], true);
  int64_t x;

  if (s->line) return "0"; /* the step knows */
  if (s->plane.n && s->level_of[axis] == s->nlevels - 2)
    return port_text("(int64_t)(%s) * (int64_t)sizeof(%s)", port_poly_code(s->plane), element);
  if (s->levels[s->level_of[axis]] != LEVEL_FLAT) return port_text("(int64_t)sizeof(%s)", element);
  if (port_poly_is_number(s->stride_of[axis], &x) && x == 1)
    return port_text("(int64_t)sizeof(%s)", element);
  return port_text("(int64_t)(%s) * (int64_t)sizeof(%s)", port_poly_code(s->stride_of[axis]),
                   element);
}

static const char *extent_text(const param *p, int d)
{
  const array *s = p->array;
  const int axis = p->axis_of[d];
  int l;

  if (s->line) return "0";
  if (!p->extent[d].is_bad) return port_poly_code(p->extent[d]);
  if (axis < 0) return "0";
  l = s->level_of[axis];
  if (!s->extent_of[axis].is_bad) return port_poly_code(s->extent_of[axis]);
  if (s->levels[l] != LEVEL_TYPED || s->is_open[l]) return "0";
  return port_text("(int64_t)(sizeof(%s) / sizeof(%s))", prefix(p->like, l, false),
                   prefix(p->like, l, true));
}

static const char *base_text(const param *p)
{
  const access *a = p->like;
  const int rows = port_row_levels(a->array);
  const char *text = port_text("&%s", path(a, -1, true, rows ? p->fold : NULL));
  bool is_plain = true;

  if (p->array->line) return port_text("port_line(&%s)", p->array->line->name);
  for (int e = rows; e < a->naxes; e++)
    is_plain &= !p->fold[e].n;
  if (is_plain) return text;
  text = port_text("(const char *)%s", text);
  for (int e = rows; e < a->naxes; e++)
    if (p->fold[e].n)
      text =
          port_text("%s + (int64_t)(%s) * %s", text, port_poly_code(p->fold[e]), stride_text(a, e));
  return text;
}

static void print_extents(ambit__text *t, const step *s, const param *p)
{
  ambit__print(t, "(int64_t[]){");
  for (int d = 0; d < s->naxes; d++)
    ambit__print(t, "%s%s", d ? ", " : "", extent_text(p, d));
  ambit__print(t, "}, (int64_t[]){");
  for (int d = 0; d < s->naxes; d++)
    ambit__print(t, "%s%s", d ? ", " : "",
                 p->axis_of[d] < 0 ? "0" : stride_text(p->like, p->axis_of[d]));
  ambit__print(t, "}");
}

/* Where the first element of a row is, from the pointer to the row: that of a member, or of a
 * subscript that all cells share. */
static const char *offset_in_row(const param *p, int rows)
{
  const access *a = p->like;
  const char *row = prefix(a, rows - 1, true), *rest = port_base_text(a) + strlen(row);
  const char *text = !strcmp(rest, "[0]")
                         ? "0"
                         : port_text("(int64_t)(uintptr_t)&((__typeof__(%s))0)%s", row, rest);

  for (int e = rows; e < a->naxes; e++)
    if (p->fold[e].n)
      text =
          port_text("%s + (int64_t)(%s) * %s", text, port_poly_code(p->fold[e]), stride_text(a, e));
  return text;
}

static bool has_rows(const param *p, int naxes)
{
  for (int d = 0; d < naxes; d++)
    if (p->axis_of[d] >= 0 && p->axis_of[d] < port_row_levels(p->array)) return true;
  return false;
}

/* Whether its elements are not part of the variable or member that it is named by. */
static bool is_behind(const array *a)
{
  for (int l = 1; l < a->nlevels; l++)
    if (a->is_behind[l]) return true;
  return false;
}

static void print_array(ambit__text *t, const char *in, const step *s, const param *p)
{
  const array *a = p->array;
  const int rows = port_row_levels(a);

  if (has_rows(p, s->naxes)) {
    ambit__print(t, "%s  port_rows(%s, %d, %s, ", in, prefix(p->like, 0, false), rows,
                 offset_in_row(p, rows));
    print_extents(t, s, p);
    ambit__print(t, ");\n");
    return;
  }
  ambit__print(t, "%s  port_array(%s, ", in, base_text(p));
  print_extents(t, s, p);
  if (a->levels[0] == LEVEL_TYPED && !a->is_open[0] && !is_behind(a))
    ambit__print(t, ", %s, sizeof(%s));\n", prefix(p->like, 0, false), prefix(p->like, 0, false));
  else
    ambit__print(t, ", NULL, 0);\n");
}

static void print_tables(ambit__text *t, const char *in, const step *s, const param *p)
{
  for (int d = 0; d < s->naxes; d++)
    for (int i = 0; i < 4 && p->near[d][i]; i++) {
      const guard *g = p->near[d][i];

      for (int k = 0; k < s->ntables; k++)
        if (s->tables[k] == g)
          ambit__print(t, "%s  port_neighbours(%d, %d, %s, sizeof(*(%s)), %s);\n", in, k, d,
                       g->table, g->table, port_poly_code(g->n));
    }
}

static const char *table_size(const access *a, int level)
{
  return port_text("(int64_t)sizeof(%s)", prefix(a, level, true));
}

/* A table whose subscripts cells compute. */
static void print_lookup(ambit__text *t, const char *in, const param *p)
{
  const access *a = p->like;
  const int64_t rows = a->nsubs == 2 ? port_table_extent(a, 0) : 1;
  const char *size = a->nsubs == 2 ? table_size(a, 0) : "0";

  ambit__print(t, "%s  port_table(&%s, %d, %" PRId64 ", %s, %" PRId64 ", %s);\n", in, p->value,
               (int)p->low[0], rows, size, port_table_extent(a, a->nsubs - 1),
               table_size(a, a->nsubs - 1));
}

/* ---- calls ---- */

static const char *cell_text(const step *s, int d, bool is_hi)
{
  poly p = s->shift[d];

  if (s->loop_of[d] >= 0) {
    const loop *l = &s->nest->loops[s->loop_of[d]];

    p = port_poly_add(p, is_hi ? l->hi : l->lo);
  } else if (is_hi)
    p = port_poly_add(p, port_poly_number(1));
  return port_poly_code(p);
}

static void print_step(ambit__text *t, const char *in, const step *s)
{
  for (int i = 0; i < s->nparams; i++)
    if (s->params[i].element && s->params[i].element->nsubs) {
      const char *text = port_access_text(s->params[i].element);

      ambit__print(t, "%s  port_reads(&%s, sizeof(%s));\n", in, text, text);
    }
  ambit__print(t, "%s  port_begin(&port_%s);\n", in, s->name);
  for (int d = 0; d < s->naxes; d++)
    ambit__print(t, "%s  port_cells(%d, %s, %s);\n", in, d, cell_text(s, d, false),
                 cell_text(s, d, true));
  for (int i = 0; i < s->nparams; i++) {
    const param *p = &s->params[i];

    if (p->kind == P_VALUE) ambit__print(t, "%s  port_value((double)(%s));\n", in, p->value);
    if (p->kind == P_TABLE) print_lookup(t, in, p);
    if (p->array) print_array(t, in, s, p);
    print_tables(t, in, s, p);
  }
}

/* ---- after the step ---- */

/* The loops of a sum, from the outermost. */
static void print_order(ambit__text *t, const step *s)
{
  ambit__print(t, ", (int[]){");
  for (int k = 0; k < s->leaf->nloops; k++)
    for (int d = 0; d < s->naxes; d++)
      if (s->loop_of[d] == s->leaf->loops[k])
        ambit__print(t, "%s%d", k ? ", " : "", s->nest->loops[s->loop_of[d]].is_down ? -1 - d : d);
  ambit__print(t, "}, %d", s->leaf->nloops);
}

/* The results go to their variable when the host reads it. */
static void print_later(ambit__text *t, const char *in, const step *s, const param *p)
{
  const symbol *sym = p->reduction->a->sym;

  ambit__print(t, "%s  port_later%s(&%s, %s, &port_%s, %d", in, p->kind == P_TERM ? "_ordered" : "",
               sym->name, types[sym->type], s->name, port_emit_slot(s, p));
  if (p->kind == P_TERM) print_order(t, s);
  ambit__print(t, ");\n");
}

/* The new value of a flag, by the maximum over all cells. */
static void print_flag(ambit__text *t, const char *in, const step *s, const param *p,
                       const char *var)
{
  const node *e = p->reduction;
  const int slot = port_emit_slot(s, p);

  ambit__print(t, "%s  if (port_result(&port_%s, %d) > 0) %s %s ", in, s->name, slot, var, e->op);
  if (e->d)
    ambit__print(t, "port_result(&port_%s, %d) > 1 ? %s : ", s->name, slot, port_print(e->d));
  ambit__print(t, "%s;\n", port_print(e->c));
}

static void print_results(ambit__text *t, const char *in, const step *s)
{
  for (int i = 0; i < s->nparams; i++) {
    const param *p = &s->params[i];
    const symbol *sym = p->reduction ? p->reduction->a->sym : NULL;
    const char *var = sym ? sym->name : NULL, *cast = sym ? casts[sym->type] : "";

    if (sym && sym->is_late) {
      print_later(t, in, s, p);
      continue;
    }
    if (sym && sym->is_place) ambit__print(t, "%s  port_writes(&%s, sizeof(%s));\n", in, var, var);
    if (p->kind == P_SUM)
      ambit__print(t, "%s  %s += %sport_result(&port_%s, %d);\n", in, var, cast, s->name,
                   port_emit_slot(s, p));
    if (p->reduction && p->reduction->c) {
      print_flag(t, in, s, p, var);
      continue;
    }
    if (p->kind == P_MAX || p->kind == P_MIN)
      ambit__print(t, "%s  %s = %s%s(%s, &port_%s, %d);\n", in, var, cast,
                   p->kind == P_MAX ? "port_larger" : "port_smaller", var, s->name,
                   port_emit_slot(s, p));
    if (p->kind == P_TERM && sym) {
      ambit__print(t, "%s  %s = %sport_ordered_sum(%s, %s, &port_%s, %d", in, var, cast, var,
                   types[sym->type], s->name, port_emit_slot(s, p));
      print_order(t, s);
      ambit__print(t, ");\n");
    }
  }
}

/* Variables of loops keep the value that the loops leave in them. */
static int print_exits(ambit__text *t, const char *in, const nest *n, const leaf *l)
{
  int open = 0;

  for (int k = 0; k < l->nloops; k++) {
    const loop *p = &n->loops[l->loops[k]];
    const char *lo = port_poly_code(p->lo), *hi = port_poly_code(p->hi);

    if (p->is_outside && p->is_down)
      ambit__print(t,
                   "%s  %s = (%s) - 1 - ((%s) > (%s) ? ((%s) - (%s) + %" PRId64 ") / %" PRId64
                   " * %" PRId64 " : 0);\n",
                   in, p->var->name, hi, hi, lo, hi, lo, p->step - 1, p->step, p->step);
    else if (p->is_outside)
      ambit__print(t,
                   "%s  %s = (%s) + ((%s) > (%s) ? ((%s) - (%s) + %" PRId64 ") / %" PRId64
                   " * %" PRId64 " : 0);\n",
                   in, p->var->name, lo, hi, lo, hi, lo, p->step - 1, p->step, p->step);
    if (k + 1 < l->nloops) {
      ambit__print(t, "%s  if ((%s) > (%s)) {\n", in, hi, lo);
      open++;
    }
  }
  for (int i = 0; i < open; i++)
    ambit__print(t, "%s  }\n", in);
  return open;
}

static bool has_exits(const nest *n)
{
  for (int i = 0; i < n->nloops; i++)
    if (n->loops[i].is_outside) return true;
  return false;
}

static void require_distinct(ambit__text *t, const char *in, const step *steps)
{
  for (const step *s = steps; s; s = s->next)
    for (int i = 0; i < s->nparams; i++)
      for (const step *r = steps; r; r = r->next)
        for (int k = 0; r != s && k < r->nparams; k++) {
          const param *p = &s->params[i], *q = &r->params[k];

          if (!p->array || !q->array || p->array == q->array ||
              (p->kind != P_WRITE && p->kind != P_UPDATE))
            continue;
          if (p->array->line || q->array->line || p->array->type != q->array->type ||
              p->array->root == q->array->root)
            continue;
          ambit__print(
              t, "%s  port_require((const void *)&%s != (const void *)&%s, \"arrays overlap\");\n",
              in, port_base_text(p->like), port_base_text(q->like));
        }
}

/* The steps of a nest, and the conditions that they must meet. */
static void print_orders(ambit__text *t, const char *in, const nest *n)
{
  for (const step *s = n->steps; s; s = s->next)
    print_step(t, in, s);
  for (int i = 0; i < n->nrequires; i++)
    ambit__print(t, "%s  port_require(%s, \"%s\");\n", in, n->requires[i], n->reasons[i]);
  require_distinct(t, in, n->steps);
  for (const step *s = n->steps; s; s = s->next)
    for (int i = 0; i < s->nparams; i++)
      if (s->params[i].reduction && s->params[i].reduction->a->sym->is_place)
        ambit__print(t, "%s  port_apart(&%s);\n", in, s->params[i].reduction->a->sym->name);
}

/* The values that steps leave in variables. */
static void print_outcome(ambit__text *t, const char *in, const nest *n)
{
  for (const step *s = n->steps; s; s = s->next)
    print_results(t, in, s);
  if (has_exits(n))
    for (const leaf *l = n->leaves; l; l = l->next)
      print_exits(t, in, n, l);
}

/* As text for the program: parameters of inlined functions are what they were called with. */
static const char *condition_of(const nest *n)
{
  node *c = port_copy_tree(n->condition), *name = port_bare(c->kind == N_NAME ? c : c->a);

  name->sym = n->fixed;
  name->text = n->fixed->name;
  return port_print(c);
}

/* One of them for each case; the last one also for numbers that are none. */
static void print_cases(ambit__text *t, const char *in, const nest *n,
                        void (*print)(ambit__text *t, const char *in, const nest *n))
{
  if (!n->fixed) {
    print(t, in, n);
    return;
  }
  for (; n->next_case; n = n->next_case) {
    if (n->condition)
      ambit__print(t, "%s  if (%s) {\n", in, condition_of(n));
    else
      ambit__print(t, "%s  %sif (%s == %" PRId64 ") {\n", in, n->fixed_to > 1 ? "} else " : "",
                   n->fixed->name, n->fixed_to);
    print(t, port_text("%s  ", in), n);
  }
  ambit__print(t, "%s  } else {\n", in);
  print(t, port_text("%s  ", in), n);
  if (print == print_orders && !n->condition)
    ambit__print(t, "%s    port_require(%s == %" PRId64 ", \"%s is none of 1 to %" PRId64 "\");\n",
                 in, n->fixed->name, n->fixed_to, n->fixed->name, n->fixed_to);
  ambit__print(t, "%s  }\n", in);
}

static bool has_outcome(const nest *n)
{
  for (const step *s = n->steps; s; s = s->next)
    if (s->has_reductions) return true;
  return has_exits(n);
}

void port_emit_calls(const unit *u, nest *n, bool check)
{
  const char *in = port_indent_at(u, n->node->begin);
  const unsigned end = port_statement_end(u, n->node);
  ambit__text t = {0};

  ambit__print(&t, "{ /* %s:%u */%s\n", base_name(u->path), n->node->line, port_numbers_read(n));
  print_cases(&t, in, n, print_orders);
  if (check) { /* the serial nest runs in any case, and gives the results */
    ambit__print(&t, "%s  port_go_beside();\n%s  ", in, in);
    port_edit(n->node->begin, 0, finish(&t));
    port_edit(end, 0, port_text("\n%s  port_compare();\n%s}", in, in));
    return;
  }
  ambit__print(&t, "%s  if (port_go()) {\n", in);
  if (has_outcome(n)) print_cases(&t, port_text("%s  ", in), n, print_outcome);
  ambit__print(&t, "%s  } else {\n%s  ", in, in);
  port_edit(n->node->begin, 0, finish(&t));
  port_edit(end, 0, port_text("\n%s  }\n%s}", in, in));
}
