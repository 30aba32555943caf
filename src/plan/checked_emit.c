/* SPDX-License-Identifier: BSD-3-Clause */
/* checked_emit.c - the text of a checked kernel, the same for C and for GPUs.
 *
 * The C function first derives the names of the GPU kernel's parameters from its call. Then both
 * run:
 *
 *   for each cell, counted in C order
 *     read the whole footprint, checking the position of each value          u_r0, u_r1, ...
 *     run the body; values it reads pass through ambit_use, which notes NaN
 *     check the results, and store those whose position is allowed           v_out, v_set
 *
 * A cell reads its whole footprint whichever branch it takes, as margins and halos provide for it.
 * On a sparse grid, checked_sparse.c writes the loop and the positions.
 */
#include "plan/checked_emit.h"

/* Embedded by the build. */
extern const char ambit__prelude_faults[], ambit__prelude_checked[], ambit__prelude_full_call[];

static const ambit__param *param(const ambit__gpucode_job *j, int i)
{
  return &j->rule->params[i];
}

static bool in_c(const ambit__gpucode_job *j)
{
  return j->dialect == &ambit__dialect_c;
}

static bool watches(const ambit__gpucode_job *j, ambit_type type)
{
  return (j->group->checks & AMBIT__CHECK_NAN) && ambit__type_is_real(type);
}

static const char *suffix(ambit_type type)
{
  return type == AMBIT_BF16  ? "bf16"
         : type == AMBIT_F16 ? "f16"
         : type == AMBIT_F32 ? "f32"
                             : "f64";
}

/* A written component of a field or scalar. */
static bool is_written(const ambit__gpucode_job *j, int i, int c)
{
  return param(j, i)->kind == PARAM_FIELD && param(j, i)->writes[c];
}

/* ---- names ---- */

/* "v_set" or "v_set3": 1 + the source position that last set a written component; 0: not set. */
static void print_set(const ambit__gpucode_job *j, ambit__text *t, int i, int c)
{
  ambit__print(t, "%s_set", param(j, i)->name);
  if (param(j, i)->is_vector) ambit__print(t, "%d", c);
}

void ambit__checked_print_index(const ambit__gpucode_job *j, char letter, int axis, int offset)
{
  ambit__print(j->t, "%c%d", letter, axis);
  if (offset) ambit__print(j->t, " %c %d", offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
}

void ambit__checked_print_place(const ambit__gpucode_job *j, int i, int component,
                                const int *offset)
{
  const char *name = param(j, i)->name;

  if (j->group->form) {
    ambit__checked_print_sparse(j, i, component, offset);
    return;
  }
  for (int d = 0; d < j->group->ndims; d++) {
    ambit__print(j->t, "%s(", d ? " + " : "");
    ambit__checked_print_index(j, 'y', d, offset[d]);
    ambit__print(j->t, ") * %s_s%d", name, d);
  }
  ambit__print(j->t, " + %d * %s_c", component, name);
}

/* ---- checked expressions ---- */

static void print_use(const ambit__gpucode_job *j, ambit__text *t, ambit_type type, int number,
                      const char *value)
{
  if (watches(j, type))
    ambit__print(t, "ambit_use_%s(&fault, %s, %d)", suffix(type), value, number);
  else
    ambit__print(t, "%s", value);
}

static void read(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__gpucode_job *j = s->user;
  const ambit__param *p = param(j, e->index);
  const int k = ambit__checked_which(p, e);
  ambit__text value = {0};

  if (ambit__gpucode_is_field(j, e->index))
    ambit__print(&value, "%s_r%d", p->name, k);
  else
    ambit__print(&value, "%s_v", p->name);
  print_use(j, t, p->type, ambit__checked_read(j->rule, e->index, ambit__checked_named(p, e)),
            value.chars);
  t->failed |= value.failed;
  ambit__text_free(&value);
}

/* The variable of a written component holds the old value until it is set. */
static void use_out(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__gpucode_job *j = s->user;
  const ambit__param *p = param(j, e->index);

  if (p->kind != PARAM_FIELD || !p->keeps[e->component] || !watches(j, p->type)) {
    ambit__name_out(s, t, e->index, e->component);
    return;
  }
  ambit__print(t, "(");
  print_set(j, t, e->index, e->component);
  ambit__print(t, " ? ");
  ambit__name_out(s, t, e->index, e->component);
  ambit__print(t, " : ambit_use_%s(&fault, ", suffix(p->type));
  ambit__name_out(s, t, e->index, e->component);
  ambit__print(t, ", %d))",
               ambit__checked_read(j->rule, e->index, ambit__checked_old(p, e->component)));
}

/* Values and written components, watched where they are used. */
static bool use(const ambit__scope *s, ambit__text *t, const ambit__expr *e)
{
  const ambit__gpucode_job *j = s->user;
  const bool is_value = e->op == EXPR_VALUE && watches(j, param(j, e->index)->type);

  if (e->is_outside && j->group->form && !in_c(j)) return ambit__sparse_print_test(j, t, e);
  if (e->op == EXPR_OUT) use_out(s, t, e);
  if (is_value) {
    ambit__print(t, "ambit_use_%s(&fault, ", suffix(param(j, e->index)->type));
    ambit__name_value(s, t, e->index);
    ambit__print(t, ", %d)", ambit__checked_read(j->rule, e->index, 0));
  }
  return e->op == EXPR_OUT || is_value;
}

static void note_set(const ambit__scope *s, ambit__writer *w, const ambit__stmt *st)
{
  const ambit__gpucode_job *j = s->user;

  if (!watches(j, param(j, st->index)->type)) return;
  ambit__line_begin(w);
  print_set(j, &w->text, st->index, st->component);
  ambit__print(&w->text, " = %d", st->place.offset + 1);
  ambit__line_end(w, ";");
}

static ambit__scope scope_of(const ambit__gpucode_job *j)
{
  ambit__scope s = ambit__gpucode_scope(j);

  s.read = read;
  s.instead = use;
  s.set = note_set;
  return s;
}

/* ---- before the loop over cells ---- */

/* C only: variables named like the parameters of a GPU kernel. */
static void emit_parameter(const ambit__gpucode_job *j, const ambit__gpucode_slot *s)
{
  const char *name = j->rule->nparams ? param(j, s->param)->name : "";
  const int i = s->param, d = s->axis;

  switch (s->kind) {
  case SLOT_MEMORY:
  case SLOT_VALUE:
    ambit__line(j->w, "%s *%s_mem = call->origin[%d];", ambit__gpucode_type(j, i), name, i);
    break;
  case SLOT_PARTIALS:
    ambit__line(j->w, "%s *%s_mem = call->origin[%d];",
                ambit__type_is_real(param(j, i)->type) && !ambit__gpucode_is_exact(j->group, i)
                    ? "double"
                    : "int64_t",
                name, i);
    break;
  case SLOT_ORIGIN: ambit__line(j->w, "const int64_t %s_o = 0;", name); break;
  case SLOT_STRIDE:
    ambit__line(j->w, "const int64_t %s_s%d = call->stride[%d][%d];", name, d, i, d);
    break;
  case SLOT_COMPONENT:
    ambit__line(j->w, "const int64_t %s_c = call->component[%d];", name, i);
    break;
  case SLOT_LO: ambit__line(j->w, "const int64_t lo%d = call->lo[%d];", d, d); break;
  case SLOT_HI: ambit__line(j->w, "const int64_t hi%d = call->hi[%d];", d, d); break;
  case SLOT_OFFSET: ambit__line(j->w, "const int64_t offset%d = call->offset[%d];", d, d); break;
  case SLOT_EXTENT: ambit__line(j->w, "const int64_t extent%d = call->extent[%d];", d, d); break;
  case SLOT_STEP: ambit__line(j->w, "const int64_t step = call->step;"); break;
  case SLOT_FAULTS:
    ambit__line(j->w, "int64_t *faults = ((const ambit_full_call *)call)->faults;");
    break;
  case SLOT_GROUPS: /* of sparse grids: the call has chunks instead */
  case SLOT_LINES:
  case SLOT_CELLS:
  case SLOT_UNITS:
  case SLOT_SHARE:
  case SLOT_FIRST:
  case SLOT_TIMES: /* of pipelines, the same */
  case SLOT_MAIL:
  case SLOT_ROUNDS:
  case SLOT_TABLE: /* of tiles, which are not checked either */
  case SLOT_THAN:
  case SLOT_FOUND:
  case SLOT_LINKS:
  case SLOT_STATE:
  case SLOT_TILES:
  case SLOT_ROUND:
  case SLOT_ENDS:
  case SLOT_RESULT:
  case SLOT_COUNT:
  case SLOT_MORE:
  case SLOT_ENDED: break;
  }
}

static void open_function(const ambit__gpucode_job *j)
{
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];
  const int n = ambit__gpucode_slots(j->group, slots);

  if (in_c(j))
    ambit__emit_head(j->group, j->plan, j->w);
  else
    ambit__gpucode_emit_head(j);
  if (j->group->form && !in_c(j)) ambit__print(j->t, "\n%s", j->dialect->stream);
  ambit__print(j->t, "%s\n%s\n%s\n", in_c(j) ? ambit__prelude_full_call : "", ambit__prelude_faults,
               ambit__prelude_checked);
  ambit__access_emit_prelude(j);
  if (!in_c(j)) {
    ambit__gpucode_open_kernel(j, "", j->plan->threads, n, slots);
    ambit__gpucode_emit_ended(j);
    return;
  }
  ambit__open(j->w, "void %s(const ambit_call *call)", ambit__entry_name(j->group));
  for (int i = 0; i < n; i++)
    emit_parameter(j, &slots[i]);
}

static void emit_totals(const ambit__gpucode_job *j)
{
  if (!in_c(j)) {
    ambit__gpucode_declare_totals(j, j->plan->threads[0]);
    return;
  }
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__gpucode_is_reduction(j, i) && !ambit__gpucode_is_exact(j->group, i))
      ambit__line(j->w, "%s %s_total = *%s_mem;",
                  ambit__type_is_real(param(j, i)->type) ? "double" : "int64_t", param(j, i)->name,
                  param(j, i)->name);
}

static void emit_fields(const ambit__gpucode_job *j)
{
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__gpucode_is_field(j, i))
      ambit__line(j->w, "AMBIT_GLOBAL %s%s *%s_0 = %s_mem + %s_o;",
                  param(j, i)->is_written ? "" : "const ", ambit__gpucode_type(j, i),
                  param(j, i)->name, param(j, i)->name, param(j, i)->name);
}

/* ---- a cell ---- */

static void emit_fault_cell(const ambit__gpucode_job *j)
{
  for (int a = 0; a < j->group->ndims; a++)
    ambit__line(j->w, "fault.cell[%d] = i%d;", a, a);
}

static void open_cells(const ambit__gpucode_job *j)
{
  const int ndims = j->group->ndims, n = j->plan->threads[0];
  const ambit__dialect *d = j->dialect;

  ambit__line_begin(j->w);
  ambit__print(j->t, "const %s cells = 1", j->integer);
  for (int a = 0; a < ndims; a++)
    ambit__print(j->t, " * (hi%d - lo%d)", a, a);
  ambit__line_end(j->w, ";");
  if (in_c(j))
    ambit__open(j->w, "for (int64_t z = 0; z < cells; z++)");
  else
    ambit__open(j->w, "for (%s z = %s * %d + %s; z < cells; z += %s * %d)", j->integer, d->block[0],
                n, d->thread[0], d->blocks[0], n);
  if (ndims) ambit__line(j->w, "%s rest = z;", j->integer);
  for (int a = ndims - 1; a >= 0; a--) {
    ambit__line(j->w, "const %s y%d = lo%d + rest %% (hi%d - lo%d), i%d = offset%d + y%d;",
                j->integer, a, a, a, a, a, a, a);
    if (a) ambit__line(j->w, "rest /= hi%d - lo%d;", a, a);
  }
  ambit__open(j->w, "if (!fault.kind)");
  ambit__line(j->w, "fault.source = -1;");
  emit_fault_cell(j);
  ambit__close(j->w);
}

static void open_sparse(const ambit__gpucode_job *j)
{
  ambit__line(j->w, "ambit_fault lowest;");
  ambit__line(j->w, "ambit_fault_begin(&lowest);");
  ambit__checked_open_sparse(j);
  ambit__access_emit_cell(j);
  ambit__line(j->w, "ambit_fault_begin(&fault);");
  emit_fault_cell(j);
}

static void close_sparse(const ambit__gpucode_job *j)
{
  ambit__line(j->w, "ambit_fault_keep(&lowest, &fault);");
  ambit__checked_close_sparse(j);
  ambit__line(j->w, "fault = lowest;");
}

static void emit_read(const ambit__gpucode_job *j, int i, int k)
{
  const ambit__read *r = &param(j, i)->reads[k];
  const char *name = param(j, i)->name;

  ambit__line_begin(j->w);
  ambit__print(j->t, "const %s %s_r%d = %s_0[", ambit__gpucode_type(j, i), name, k, name);
  if (!ambit__access_print_read(j, i, k)) ambit__checked_print_place(j, i, r->component, r->offset);
  ambit__line_end(j->w, "];");
}

static void declare_out(const ambit__gpucode_job *j, const ambit__scope *s, int i, int c)
{
  const ambit__param *p = param(j, i);

  ambit__line_begin(j->w);
  ambit__print(j->t, "%s ", ambit__gpucode_type(j, i));
  ambit__name_out(s, j->t, i, c);
  if (p->kind == PARAM_REDUCE) {
    ambit__print(j->t, " = ");
    ambit__emit_identity(s, j->t, p);
  } else if (p->keeps[c] && ambit__gpucode_is_field(j, i)) {
    ambit__print(j->t, " = %s_r%d", p->name, ambit__checked_old(p, c));
  } else if (p->keeps[c]) {
    ambit__print(j->t, " = %s_v", p->name);
  }
  ambit__line_end(j->w, ";");
  if (!watches(j, p->type)) return;
  ambit__line_begin(j->w);
  ambit__print(j->t, "int ");
  print_set(j, j->t, i, c);
  ambit__line_end(j->w, " = 0;");
}

static void test_out(const ambit__gpucode_job *j, const ambit__scope *s, int i, int c)
{
  if (!watches(j, param(j, i)->type)) return;
  ambit__line_begin(j->w);
  ambit__print(j->t, "ambit_test_%s(&fault, ", suffix(param(j, i)->type));
  ambit__name_out(s, j->t, i, c);
  ambit__print(j->t, ", ");
  print_set(j, j->t, i, c);
  ambit__print(j->t, ", %d)", ambit__checked_write(j->rule, i, c));
  ambit__line_end(j->w, ";");
}

static void store_out(const ambit__gpucode_job *j, const ambit__scope *s, int i, int c)
{
  const char *name = param(j, i)->name;

  ambit__line_begin(j->w);
  if (ambit__gpucode_is_field(j, i)) {
    ambit__access_print_write(j, i, c);
    ambit__print(j->t, "%s_0[", name);
    ambit__checked_print_place(j, i, c, ambit__param_target(param(j, i), c));
    ambit__print(j->t, "] = ");
  } else {
    ambit__print(j->t, "*%s_mem = ", name);
  }
  ambit__name_out(s, j->t, i, c);
  ambit__line_end(j->w, ";");
}

/* In C a total is a double or an int64_t. */
static void fold_cell(const ambit__gpucode_job *j, const ambit__scope *s)
{
  if (!in_c(j)) {
    ambit__gpucode_fold_cell(j);
    return;
  }
  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *p = param(j, i);
    ambit__text total = {0}, out = {0};

    if (ambit__gpucode_is_exact(j->group, i))
      ambit__line(j->w, "ambit_long_add_f64(%s_mem, (double)%s_out);", p->name, p->name);
    if (!ambit__gpucode_is_reduction(j, i) || ambit__gpucode_is_exact(j->group, i)) continue;
    ambit__print(&total, "%s_total", p->name);
    ambit__print(&out, "%s_out", p->name);
    ambit__line_begin(j->w);
    ambit__emit_fold(s, j->t, p, ambit__type_total(p->type), total.chars, out.chars);
    ambit__line_end(j->w, ";");
    j->t->failed |= total.failed || out.failed;
    ambit__text_free(&total);
    ambit__text_free(&out);
  }
}

static void each_out(const ambit__gpucode_job *j, const ambit__scope *s, bool reductions,
                     void (*f)(const ambit__gpucode_job *, const ambit__scope *, int, int))
{
  for (int i = 0; i < j->rule->nparams; i++)
    for (int c = 0; c < param(j, i)->components; c++)
      if (is_written(j, i, c) || (reductions && ambit__gpucode_is_reduction(j, i))) f(j, s, i, c);
}

static void emit_cell(const ambit__gpucode_job *j)
{
  const ambit__scope s = scope_of(j);

  for (int i = 0; i < j->rule->nparams; i++)
    for (int k = 0; ambit__gpucode_is_field(j, i) && k < param(j, i)->nreads; k++)
      if (!j->group->form || ambit__checked_has_place(j, i, k)) emit_read(j, i, k);
  each_out(j, &s, true, declare_out);
  ambit__emit_stmts(&s, j->w, j->rule->body);
  each_out(j, &s, true, test_out);
  each_out(j, &s, false, store_out);
  fold_cell(j, &s);
}

/* ---- after the loop over cells ---- */

static void emit_end(const ambit__gpucode_job *j)
{
  ambit__line(j->w, "ambit_fault_leave(&fault, faults);");
  for (int i = 0; in_c(j) && i < j->rule->nparams; i++)
    if (ambit__gpucode_is_reduction(j, i) && !ambit__gpucode_is_exact(j->group, i))
      ambit__line(j->w, "*%s_mem = %s_total;", param(j, i)->name, param(j, i)->name);
  if (in_c(j) || !ambit__gpucode_reduces(j->group)) return;
  ambit__line(j->w, "const int t = %s;", j->dialect->thread[0]);
  ambit__gpucode_leave_totals(j, j->plan->threads[0], "t", j->dialect->block[0]);
}

void ambit__checked_emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                         ambit__writer *w)
{
  ambit__target target = *t;
  ambit__gpucode_job j;

  if (t->kind == TARGET_C) target.dialect = &ambit__dialect_c;
  j = ambit__gpucode_begin(g, &target, p, w);
  open_function(&j);
  emit_totals(&j);
  ambit__gpucode_emit_values(&j);
  ambit__access_emit_limits(&j);
  emit_fields(&j);
  ambit__line(w, "ambit_fault fault;");
  ambit__line(w, "ambit_fault_begin(&fault);");
  if (g->form)
    open_sparse(&j);
  else
    open_cells(&j);
  emit_cell(&j);
  if (g->form)
    close_sparse(&j);
  else
    ambit__close(w);
  emit_end(&j);
  ambit__close(w);
  if (!in_c(&j)) ambit__gpucode_emit_fold(&j);
}
