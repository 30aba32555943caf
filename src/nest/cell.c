/* SPDX-License-Identifier: BSD-3-Clause */
/* cell.c - the pieces of a cell that builders put together: where it is, the values that it reads,
 * the variables of its results, and their stores. */
#include "nest/nest.h"

enum { MOST_KEPT = 16 }; /* carried components that a line keeps in variables */

/* ---- places ---- */

const char *ambit__nest_beyond(ambit__nest *n, ambit_boundary kind, int side, const char *y, int k)
{
  const int x = ambit__nest_last(n), less = kind == AMBIT_SYMMETRIC ? k - 1 : k;

  if (kind == AMBIT_PERIODIC && side) return ambit__nest_text(n, "%d - extent%d", k, x);
  if (kind == AMBIT_PERIODIC) return ambit__nest_text(n, "extent%d - %d", x, k);
  if (kind == AMBIT_CLAMP && side) return ambit__nest_text(n, "extent%d - 1 - %s", x, y);
  if (kind == AMBIT_CLAMP) return ambit__nest_text(n, "-%s", y);
  if (side) return ambit__nest_text(n, "2 * (extent%d - 1 - %s) - %d", x, y, less);
  return ambit__nest_text(n, "%d - 2 * %s", less, y);
}

/* "const long u_m1 = (y1 < 1 ? extent1 - 1 : -1);" */
static void let_neighbour(ambit__nest *n, int i, int distance)
{
  const char *name = ambit__nest_name(n, i), *where, *end;
  const int x = ambit__nest_last(n), side = distance > 0, k = side ? distance : -distance;

  end = ambit__nest_beyond(n, n->bind[i].ends[side], side, ambit__nest_text(n, "y%d", x), k);
  if (side)
    where = ambit__nest_text(n, "(y%d < extent%d - %d ? %d : %s)", x, x, k, k, end);
  else
    where = ambit__nest_text(n, "(y%d < %d ? %s : -%d)", x, k, end, k);
  if (!n->bind[i].contiguous) where = ambit__nest_text(n, "%s * %s_s%d", where, name, x);
  ambit__nest_do(n, "const %s %s_%c%d = %s", n->integer, name, distance < 0 ? 'm' : 'p', k, where);
}

static bool is_read_at(const ambit__param *p, int axis, int distance)
{
  for (int k = 0; k < p->nreads; k++)
    if (p->reads[k].offset[axis] == distance) return true;
  return false;
}

void ambit__nest_let_neighbours(ambit__nest *n)
{
  const int x = ambit__nest_last(n);

  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    for (int k = -p->low[x]; ambit__binding_is_closed(&n->bind[i]) && k <= p->high[x]; k++)
      if (k && is_read_at(p, x, k)) let_neighbour(n, i, k);
  }
}

/* "u_mem + (u_o + y0 * u_s0 + y1)", but for an axis; -1: for none. */
static const char *place_of(ambit__nest *n, int i, int but)
{
  const char *name = ambit__nest_name(n, i);
  const char *sum = ambit__nest_text(n, "%s_mem + (%s_o", name, name);

  for (int d = 0; d <= ambit__nest_last(n); d++)
    if (d == ambit__nest_last(n) && n->bind[i].contiguous)
      sum = ambit__nest_text(n, "%s + y%d", sum, d);
    else if (d != but)
      sum = ambit__nest_text(n, "%s + y%d * %s_s%d", sum, d, name, d);
  return ambit__nest_text(n, "%s)", sum);
}

bool ambit__nest_is_kept(const ambit__nest *n, int i)
{
  return n->dialect->kernel && n->group->sweep && ambit__nest_is_field(n, i) &&
         n->bind[i].carried && !n->bind[i].shared &&
         ambit__nest_param(n, i)->components <= MOST_KEPT;
}

void ambit__nest_let_carried(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const char *name = ambit__nest_name(n, i), *type = ambit__nest_type(n, i);

    if (!ambit__nest_is_kept(n, i)) continue;
    ambit__nest_do(n, "%s%s *%s_line = %s", n->dialect->global, type, name,
                   place_of(n, i, ambit__sweep_axis(n->group->sweep)));
    ambit__nest_node(n, NODE_ARRAY, .type = type, .name = ambit__nest_text(n, "%s_at", name),
                     .size = {ambit__nest_param(n, i)->components});
    for (int c = 0; c < ambit__nest_param(n, i)->components; c++)
      ambit__nest_do(n, "%s_at[%d] = %s_line[%d * %s_c]", name, c, name, c, name);
  }
}

void ambit__nest_store_carried(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const char *name = ambit__nest_name(n, i);

    for (int c = 0; ambit__nest_is_kept(n, i) && c < ambit__nest_param(n, i)->components; c++)
      ambit__nest_do(n, "%s_line[%d * %s_c] = %s_at[%d]", name, c, name, name, c);
  }
}

void ambit__nest_let_places(ambit__nest *n)
{
  for (int d = 0; d < ambit__group_indices(n->group); d++)
    ambit__nest_do(n, "const %s i%d = offset%d + y%d", n->integer, d, d, d);
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    if (ambit__nest_is_field(n, i) && !ambit__nest_is_kept(n, i) && !n->bind[i].onto)
      ambit__nest_do(n, "%s%s%s *%s_at = %s", n->dialect->global, p->is_written ? "" : "const ",
                     ambit__nest_type(n, i), p->name, place_of(n, i, -1));
  }
}

/* ---- the start of a kernel ---- */

void ambit__nest_let_ended(ambit__nest *n)
{
  if (!n->group->for_people) ambit__nest_do_if(n, "ended && *ended", "return");
}

void ambit__nest_let_values(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const char *name = ambit__nest_name(n, i);

    if (!ambit__nest_is_field(n, i) && !ambit__nest_is_reduction(n, i) && !n->bind[i].points)
      ambit__nest_do(n, "const %s %s_v = *%s_mem", ambit__nest_type(n, i), name, name);
  }
  ambit__nest_add(n, (ambit__node){.kind = NODE_SHARED});
}

/* ---- values ---- */

/* Not if it is a read of activity alone on a GPU, which tests then tell. */
static bool has_place(const ambit__nest *n, int i, const ambit__read *r)
{
  const ambit__chunk_form *form = n->dialect->kernel ? n->group->form : NULL;
  const int view = form ? ambit__chunk_form_of(form, i, r->component) : -1;
  const int k = form ? ambit__chunk_form_column(form, n->group->ndims, view, r->offset) : -1;

  return k < 0 || form->columns[k].reads;
}

void ambit__nest_let_loads(ambit__nest *n, ambit__nest_place *place, void *user)
{
  for (int i = 0; n->loads_first && i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    for (int k = 0; ambit__nest_is_field(n, i) && !n->widened[i] && k < p->nreads; k++) {
      const ambit__read *r = &p->reads[k];

      if (has_place(n, i, r))
        ambit__nest_node(n, NODE_LOAD,
                         .type = ambit__nest_text(n, "const %s", ambit__nest_type(n, i)),
                         .name = ambit__nest_text(n, "%s_r%d", p->name, k),
                         .access = place ? place(user, i, r)
                                         : (ambit__nest_access){i, r->component, r->offset, NULL});
    }
  }
}

/* ---- results ---- */

const char *ambit__nest_name_of(ambit__nest *n, const char *what, const ambit__param *p, int c)
{
  return p->is_vector ? ambit__nest_text(n, "%s_%s%d", p->name, what, c)
                      : ambit__nest_text(n, "%s_%s", p->name, what);
}

void ambit__nest_each_output(ambit__nest *n,
                             void (*f)(ambit__nest *, ambit__nest_access, void *user), void *user)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);

    for (int c = 0; ambit__nest_is_field(n, i) && c < p->components; c++)
      if (p->writes[c]) f(n, (ambit__nest_access){i, c, ambit__param_target(p, c), NULL}, user);
  }
}

static void let_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  const char *type = ambit__nest_type(n, a.param);
  const char *name = ambit__nest_name_of(n, "out", ambit__nest_param(n, a.param), a.component);

  (void)user;
  if (ambit__nest_param(n, a.param)->keeps[a.component])
    ambit__nest_node(n, NODE_LOAD, .type = type, .name = name, .access = a);
  else
    ambit__nest_do(n, "%s %s%s", type, name, n->flat ? " = 0" : "");
}

void ambit__nest_let_outs(ambit__nest *n)
{
  ambit__nest_each_output(n, let_out, NULL);
  ambit__nest_let_results(n);
}

void ambit__nest_let_results(ambit__nest *n)
{
  for (int i = 0; i < n->rule->nparams; i++)
    if (ambit__nest_is_reduction(n, i))
      ambit__nest_do(n, "%s %s_out = %s", ambit__nest_type(n, i), ambit__nest_name(n, i),
                     ambit__nest_identity(n, ambit__nest_param(n, i)));
}

const char *ambit__nest_amount(ambit__nest *n, int i, int k, const char *value)
{
  const ambit__param *p = ambit__nest_param(n, i);
  ambit__text amount = {0};

  if (!p->amounts[k]) return value;
  ambit__emit_constant(n->dialect, &amount, p->type, p->amounts[k]->value);
  return ambit__nest_keep(n, &amount);
}

void ambit__nest_fold_bin(ambit__nest *n, int i, int k, const char *bin, const char *value)
{
  const ambit__param *p = ambit__nest_param(n, i);

  ambit__nest_node(n, NODE_FOLD, .name = ambit__nest_text(n, "%s_bins[%s]", p->name, bin),
                   .value = ambit__nest_amount(n, i, k, value), .wide = ambit__type_total(p->type),
                   .access = {.param = i});
}

static void store_out(ambit__nest *n, ambit__nest_access a, void *user)
{
  const ambit__param *p = ambit__nest_param(n, a.param);

  (void)user;
  if (ambit__nest_is_binned(n, a.param)) {
    if (a.component % 2 == 0)
      ambit__nest_fold_bin(n, a.param, a.component / 2,
                           ambit__nest_name_of(n, "out", p, a.component),
                           ambit__nest_name_of(n, "out", p, a.component + 1));
    return;
  }
  ambit__nest_node(n, NODE_STORE, .access = a);
}

void ambit__nest_store_outs(ambit__nest *n)
{
  ambit__nest_each_output(n, store_out, NULL);
}

/* ---- reductions ---- */

ambit_type ambit__nest_part_type(const ambit__param *p)
{
  return p->reduce == REDUCE_SUM && !ambit__type_is_real(p->type) ? AMBIT_I64 : p->type;
}

void ambit__nest_fold_into(ambit__nest *n, const char *to, const char *from, bool wide)
{
  for (int i = 0; i < n->rule->nparams; i++) {
    const ambit__param *p = ambit__nest_param(n, i);
    const bool is_exact = !n->dialect->kernel && ambit__sums_exactly(n->group, p);
    const bool deref = to[0] == '*';

    if (ambit__nest_is_reduction(n, i) && !is_exact)
      ambit__nest_add(
          n, (ambit__node){
                 .kind = NODE_FOLD,
                 .name = ambit__nest_text(n, "%s%s_%s", deref ? "*" : "", p->name, to + deref),
                 .value = ambit__nest_text(n, "%s_%s", p->name, from),
                 .wide = wide ? ambit__type_total(p->type) : ambit__nest_part_type(p),
                 .access = {.param = i}});
  }
}
