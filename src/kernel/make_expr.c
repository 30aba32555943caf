/* SPDX-License-Identifier: BSD-3-Clause */
/* make_expr.c - from checked nodes to expressions of the rule: makes conversions explicit, folds
 * constants.
 *
 * Constants are computed by value.c. Nothing else is simplified, so the result computes the same
 * operations. The unreachable side of ?:, && and || is not examined, so it may contain
 * accesses that would be invalid, as in `i > 0 ? w[i - 1] : 0`.
 */
#include "kernel/ast.h"

#include <inttypes.h>
#include <string.h>

void ambit__unroll_work(ambit__unit *u, ambit__place place)
{
  if (++u->work <= AMBIT_MAX_UNROLLED) return;
  AMBIT_FATAL(u, place,
              "the kernel is too long here: more than %d operations after unrolling its loops\nuse "
              "fewer or shorter loops; use ambit_run to iterate over the grid",
              AMBIT_MAX_UNROLLED);
}

static ambit__expr *new_expr(ambit__unit *u, ambit__op op, ambit_type type, ambit__place place)
{
  ambit__expr *e = ambit__rule_new(u, 1, sizeof *e);

  if (u->call) place = *u->call;
  ambit__unroll_work(u, place);
  e->op = op;
  e->type = type;
  e->place = place;
  return e;
}

static ambit__expr *constant(ambit__unit *u, ambit_type type, ambit__place place,
                             ambit__value value)
{
  ambit__expr *e = new_expr(u, EXPR_CONST, type, place);

  e->value = value;
  return e;
}

static ambit__expr *zero(ambit__unit *u, ambit_type type, ambit__place place)
{
  return constant(u, type, place, ambit__value_of(0, type));
}

static bool is_constant(const ambit__expr *e)
{
  return e->op == EXPR_CONST;
}

/* A half or bfloat is converted from and to float, and from double: all else goes through float.
 * Integers that float rounds are infinite as halves, and rounded twice as bfloats. */
ambit__expr *ambit__fold_cast(ambit__unit *u, ambit__expr *a, ambit_type type)
{
  const bool from_half = ambit__type_is_half(a->type) && type != AMBIT_F32;
  const bool to_half = ambit__type_is_half(type) && !ambit__type_is_real(a->type);
  ambit__expr *e;

  if (a->type == type) return a;
  if (is_constant(a))
    return constant(u, type, a->place, ambit__value_cast(a->value, a->type, type));
  if (from_half || to_half) a = ambit__fold_cast(u, a, AMBIT_F32);
  e = new_expr(u, EXPR_CAST, type, a->place);
  e->a = a;
  return e;
}

static ambit__expr *unary(ambit__unit *u, ambit__op op, ambit_type type, ambit__place place,
                          ambit__expr *a)
{
  ambit__expr *e;

  if (is_constant(a))
    return constant(u, type, place, ambit__value_unary((int)op, a->type, a->value));
  e = new_expr(u, op, type, place);
  e->a = a;
  return e;
}

ambit__expr *ambit__fold_minus(ambit__unit *u, ambit__expr *a)
{
  return unary(u, EXPR_NEG, a->type, a->place, a);
}

static ambit__expr *binary(ambit__unit *u, ambit__op op, ambit_type type, ambit__place place,
                           ambit__expr *a, ambit__expr *b)
{
  ambit__expr *e;

  if (is_constant(a) && is_constant(b))
    return constant(u, type, place, ambit__value_binary((int)op, a->type, a->value, b->value));
  e = new_expr(u, op, type, place);
  e->a = a;
  e->b = b;
  return e;
}

/* As an int, for use as a condition. */
static ambit__expr *truth(ambit__unit *u, ambit__expr *a)
{
  if (a->type == AMBIT_I32) return a;
  if (is_constant(a))
    return constant(u, AMBIT_I32, a->place,
                    (ambit__value){.integer = ambit__value_is_true(a->value, a->type)});
  a = ambit__fold_cast(u, a, ambit__type_promoted(a->type));
  if (a->type == AMBIT_I32) return a;
  return binary(u, EXPR_NE, AMBIT_I32, a->place, a, zero(u, a->type, a->place));
}

/* As an int that is 0 or 1. */
static ambit__expr *zero_or_one(ambit__unit *u, ambit__expr *a)
{
  a = truth(u, a);
  if (a->op == EXPR_NOT || (a->op >= EXPR_LT && a->op <= EXPR_LOR)) return a;
  return binary(u, EXPR_NE, AMBIT_I32, a->place, a, zero(u, AMBIT_I32, a->place));
}

/* ---- accesses ---- */

bool ambit__fold_integer(ambit__unit *u, const ambit__syntax *n, const char *kind, const char *name,
                         int64_t *value)
{
  const ambit__expr *e = ambit__fold(u, n);

  *value = e->value.integer;
  if (is_constant(e)) return true;
  AMBIT_WRONG(u, n->place,
              "the %s of '%s' is not a constant\n%s %s must be known when the kernel is compiled; "
              "use constants, const locals or the variable of a constant for loop",
              kind, name, strchr("aeiou", kind[0]) ? "an" : "a", kind);
  return false;
}

/* The subscript of a field or of a reduction with `count` components. */
static bool fold_component(ambit__unit *u, const ambit__syntax *n, int count, int *component)
{
  int64_t c;

  if (!ambit__fold_integer(u, n->subs, "component", n->name->text, &c)) return false;
  *component = (int)c;
  if (c >= 0 && c < count) return true;
  AMBIT_WRONG(u, n->subs->place, "'%s' has no component %" PRId64 "\nits components are 0 to %d",
              n->name->text, c, count - 1);
  return false;
}

/* An offset of a field, or of outside(). */
static bool fold_offset(ambit__unit *u, const ambit__syntax *s, const char *name, int *offset)
{
  int64_t o;

  if (!ambit__fold_integer(u, s, "offset", name, &o)) return false;
  *offset = (int)o;
  if (o >= -AMBIT_MAX_OFFSET && o <= AMBIT_MAX_OFFSET) return true;
  AMBIT_WRONG(u, s->place,
              "the offset %" PRId64
              " of '%s' is too far\noffsets are in cells from this one, from -%d to %d",
              o, name, AMBIT_MAX_OFFSET, AMBIT_MAX_OFFSET);
  return false;
}

bool ambit__fold_cell(ambit__unit *u, const ambit__syntax *n, int *component, int *offset)
{
  const ambit__syntax *s = n->subs;

  if (n->symbol->is_vector) {
    if (!fold_component(u, n, u->rule->params[n->symbol->param].components, component))
      return false;
    s = s->next;
  }
  for (int d = 0; s; s = s->next, d++)
    if (!fold_offset(u, s, n->name->text, &offset[d])) return false;
  return true;
}

/* "(unsigned)i < 256 ? i : 256" */
ambit__expr *ambit__fold_bin(ambit__unit *u, const ambit__syntax *n)
{
  const ambit__place at = n->subs->place;
  const int64_t count = n->symbol->size[0];
  ambit__expr *i = ambit__fold(u, n->subs), *none, *e;
  const bool wide = ambit_type_size(i->type) > 4 || i->type == AMBIT_U32;
  const ambit_type type = wide ? AMBIT_I64 : AMBIT_I32, positive = wide ? AMBIT_U64 : AMBIT_U32;
  int c;

  if (is_constant(i))
    return fold_component(u, n, (int)count, &c) ? ambit__fold_cast(u, i, n->type) : NULL;
  none = constant(u, type, at, (ambit__value){.integer = count});
  i = ambit__unroll_local(u, ambit__name_of(u, "bin", 3), type, ambit__fold_cast(u, i, type), at);
  e = new_expr(u, EXPR_COND, type, at);
  e->a = binary(u, EXPR_LT, AMBIT_I32, at, ambit__fold_cast(u, i, positive),
                ambit__fold_cast(u, none, positive));
  e->b = i;
  e->c = none;
  return ambit__fold_cast(u, e, n->type);
}

/* A subscript that is not constant: the text is read again. */
static bool is_computed(ambit__unit *u, const ambit__syntax *n)
{
  if (is_constant(ambit__fold(u, n->subs))) return false;
  u->computed |= 1u << u->rule->params[n->symbol->param].head;
  return true;
}

/* Each value of a reduction is a parameter of its own. */
bool ambit__fold_reduction(ambit__unit *u, const ambit__syntax *n, int *param, int *component)
{
  int c = 0;

  if (u->rule->params[n->symbol->param].bins) {
    AMBIT_WRONG(u, n->place,
                "'%s' is read, and some of its subscripts are computed\na statement adds to a "
                "component: *%s[i] += x; of a min or max it offers a value: *%s[i] = x",
                n->name->text, n->name->text, n->name->text);
    return false;
  }
  if (n->symbol->is_vector && is_computed(u, n)) return false;
  if (n->symbol->is_vector && !fold_component(u, n, (int)n->symbol->size[0], &c)) return false;
  *param = n->symbol->param;
  *component = 0;
  if (u->rule->params[*param].components > 1)
    *component = c;
  else
    *param += c;
  return true;
}

static ambit__expr *fold_field(ambit__unit *u, const ambit__syntax *n)
{
  ambit__expr *e = new_expr(u, EXPR_READ, n->type, n->place);

  e->index = n->symbol->param;
  return ambit__fold_cell(u, n, &e->component, e->offset) ? e : zero(u, n->type, n->place);
}

ambit__slot *ambit__fold_slot(ambit__unit *u, const ambit__syntax *n)
{
  const ambit__symbol *s = n->symbol;
  int64_t at = 0, i;
  int axis = 0;

  for (const ambit__syntax *e = n->subs; e; e = e->next, axis++) {
    if (!ambit__fold_integer(u, e, "subscript", n->name->text, &i)) return NULL;
    if (i < 0 || i >= s->size[axis]) {
      AMBIT_WRONG(u, e->place, "'%s' has no element %" PRId64 "\nits elements are 0 to %" PRId64,
                  n->name->text, i, s->size[axis] - 1);
      return NULL;
    }
    at = axis ? at * s->size[1] + i : i;
  }
  return &s->slots[at];
}

ambit__expr *ambit__fold_local(ambit__unit *u, ambit_type type, ambit__place place, int local)
{
  ambit__expr *e = new_expr(u, EXPR_LOCAL, type, place);

  e->index = local;
  return e;
}

static ambit__expr *fold_element(ambit__unit *u, const ambit__syntax *n)
{
  const ambit__slot *slot = ambit__fold_slot(u, n);

  if (!slot) return zero(u, n->type, n->place);
  if (slot->is_constant) return constant(u, n->type, n->place, slot->value);
  return ambit__fold_local(u, n->type, n->place, slot->local);
}

/* A subscript of a table, of a promoted type; reports a constant one that is out of range. */
static ambit__expr *fold_subscript(ambit__unit *u, const ambit__syntax *n, const ambit__syntax *s,
                                   int64_t size)
{
  ambit__expr *e = ambit__fold_as(u, s, ambit__type_promoted(s->type));

  if (is_constant(e) && (e->value.integer < 0 || e->value.integer >= size))
    AMBIT_WRONG(u, s->place, "'%s' has no element %" PRId64 "\nits elements are 0 to %" PRId64,
                n->name->text, e->value.integer, size - 1);
  return e;
}

ambit__expr *ambit__fold_row(ambit__unit *u, const ambit__syntax *n)
{
  const ambit__symbol *s = n->symbol->table ? n->symbol->table : n->symbol;

  return fold_subscript(u, n, n->subs, u->rule->tables[s->param].size[0]);
}

/* An element of a table, or of an array parameter that stands for one or for a row of it. */
static ambit__expr *fold_table(ambit__unit *u, const ambit__syntax *n)
{
  const ambit__symbol *s = n->symbol->table ? n->symbol->table : n->symbol;
  ambit__table *t = &u->rule->tables[s->param];
  ambit__expr *e = new_expr(u, EXPR_TABLE, n->type, n->place);
  const ambit__syntax *last = n->symbol->row ? n->subs : n->subs->next;

  e->index = s->param;
  e->a = n->symbol->row ? n->symbol->row : ambit__fold_row(u, n);
  if (last) e->b = fold_subscript(u, n, last, t->size[1]);
  if (!is_constant(e->a) || (e->b && !is_constant(e->b))) t->is_looked_up = true;
  return e;
}

static ambit__expr *fold_access(ambit__unit *u, const ambit__syntax *n)
{
  ambit__expr *e;

  switch (n->symbol->kind) {
  case SYMBOL_LOCAL: return n->symbol->table ? fold_table(u, n) : fold_element(u, n);
  case SYMBOL_FIELD: return fold_field(u, n);
  case SYMBOL_TABLE: return fold_table(u, n);
  case SYMBOL_VALUE:
    e = new_expr(u, EXPR_VALUE, n->type, n->place);
    e->index = n->symbol->param;
    return e;
  case SYMBOL_REDUCE:
    e = new_expr(u, EXPR_OUT, n->type, n->place);
    return ambit__fold_reduction(u, n, &e->index, &e->component) ? e : zero(u, n->type, n->place);
  default: return fold_element(u, n);
  }
}

/* ---- operators and calls ---- */

static ambit__expr *fold_unary(ambit__unit *u, const ambit__syntax *n)
{
  if (n->op == EXPR_CAST) return ambit__fold_as(u, n->a, n->operands);
  return unary(u, n->op, n->type, n->place,
               n->op == EXPR_NOT ? ambit__fold_truth(u, n->a)
                                 : ambit__fold_as(u, n->a, n->operands));
}

/* ---- operands under conditions ---- */

static bool tests_faces(const ambit__expr *e)
{
  if (e->is_outside) return true;
  if (e->op == EXPR_NOT) return tests_faces(e->a);
  return (e->op == EXPR_LAND || e->op == EXPR_LOR) && (tests_faces(e->a) || tests_faces(e->b));
}

/* Whether an operand calls a function of the text; if `fills`, one that may fill an array. */
static bool calls(const ambit__syntax *n, bool fills)
{
  bool is_call = n->kind == SYNTAX_CALL && n->symbol && !fills;

  if (n->kind == SYNTAX_CALL && n->symbol)
    for (const ambit__line *p = n->symbol->helper->params; p; p = p->next)
      is_call |= p->naxes && !p->is_const;
  for (const ambit__syntax *s = n->subs; s && !is_call; s = s->next)
    is_call = calls(s, fills);
  return is_call || (n->a && calls(n->a, fills)) || (n->b && calls(n->b, fills)) ||
         (n->c && calls(n->c, fills));
}

/* Functions in an operand are computed whatever the condition says, which is faster, unless
 * somebody can tell: their arguments are read beyond a face, or they fill an array. */
static bool is_chosen(const ambit__expr *condition, const ambit__syntax *n)
{
  return calls(n, !tests_faces(condition));
}

static ambit__expr *fold_logic(ambit__unit *u, const ambit__syntax *n)
{
  ambit__expr *a = ambit__fold_truth(u, n->a), *b;
  const bool decides = n->op == EXPR_LOR; /* the left value that makes the right one irrelevant */
  ambit__syntax number = {.kind = SYNTAX_NUMBER, .place = n->place, .type = AMBIT_I32}, left, right;

  number.value.integer = decides;
  if (is_constant(a) && ambit__value_is_true(a->value, AMBIT_I32) == decides)
    return ambit__fold(u, &number);
  if (is_constant(a)) return zero_or_one(u, ambit__fold_truth(u, n->b));
  if (!is_chosen(a, n->b))
    return binary(u, n->op, AMBIT_I32, n->place, a, ambit__fold_truth(u, n->b));
  left = number;
  number.value.integer = !decides;
  right = *n;
  right.a = &number; /* as 0 or 1 */
  b = ambit__unroll_choice(u, a, decides ? &left : &right, decides ? &right : &left, AMBIT_I32);
  return calls(n->b, true) ? b : binary(u, n->op, AMBIT_I32, n->place, a, b);
}

static ambit__expr *fold_binary(ambit__unit *u, const ambit__syntax *n)
{
  ambit__expr *a, *b;

  if (n->op == EXPR_LAND || n->op == EXPR_LOR) return fold_logic(u, n);
  a = ambit__fold_as(u, n->a, n->operands);
  if (n->op == EXPR_SHL || n->op == EXPR_SHR)
    b = ambit__fold_as(u, n->b, ambit__common_type(n->b->type, AMBIT_I32));
  else
    b = ambit__fold_as(u, n->b, n->operands);
  return binary(u, n->op, n->type, n->place, a, b);
}

static ambit__expr *fold_cond(ambit__unit *u, const ambit__syntax *n)
{
  ambit__expr *a = ambit__fold_truth(u, n->a), *e;

  if (is_constant(a)) return ambit__fold_as(u, a->value.integer ? n->b : n->c, n->type);
  if (is_chosen(a, n->b) || is_chosen(a, n->c))
    return ambit__unroll_choice(u, a, n->b, n->c, n->type);
  e = new_expr(u, EXPR_COND, n->type, n->place);
  e->a = a;
  e->b = ambit__fold_as(u, n->b, n->type);
  e->c = ambit__fold_as(u, n->c, n->type);
  return e;
}

static ambit__expr *place_of(ambit__unit *u, ambit__op op, ambit__place place, int axis)
{
  ambit__expr *e = new_expr(u, op, AMBIT_I64, place);

  e->index = axis;
  return e;
}

/* index + offset < 0, or index + offset >= extent, along one axis. */
static ambit__expr *is_beyond(ambit__unit *u, ambit__place place, int axis, int offset)
{
  ambit__expr *index = place_of(u, EXPR_INDEX, place, axis), *bound;

  if (offset < 0) {
    bound = constant(u, AMBIT_I64, place, (ambit__value){.integer = -offset});
    return binary(u, EXPR_LT, AMBIT_I32, place, index, bound);
  }
  bound = constant(u, AMBIT_I64, place, (ambit__value){.integer = offset});
  bound = binary(u, EXPR_SUB, AMBIT_I64, place, place_of(u, EXPR_EXTENT, place, axis), bound);
  return binary(u, EXPR_GE, AMBIT_I32, place, index, bound);
}

static ambit__expr *fold_outside(ambit__unit *u, const ambit__syntax *n)
{
  ambit__expr *e = NULL;
  int offset[AMBIT_MAX_DIMS] = {0}, d = 0;

  for (const ambit__syntax *s = n->subs; s; s = s->next, d++) {
    if (!fold_offset(u, s, "outside", &offset[d])) return zero(u, AMBIT_I32, n->place);
    if (!offset[d]) continue;
    if (e)
      e = binary(u, EXPR_LOR, AMBIT_I32, n->place, e, is_beyond(u, n->place, d, offset[d]));
    else
      e = is_beyond(u, n->place, d, offset[d]);
  }
  if (!e) return zero(u, AMBIT_I32, n->place);
  e->is_outside = true;
  memcpy(e->offset, offset, sizeof offset);
  return e;
}

static ambit__expr *fold_place(ambit__unit *u, const ambit__syntax *n)
{
  ambit__expr *e = new_expr(u, (ambit__op)n->function, AMBIT_I64, n->place);
  int axes = u->rule->ndims ? u->rule->ndims : AMBIT_MAX_DIMS;
  int64_t axis;

  if (e->op == EXPR_STEP || !ambit__fold_integer(u, n->subs, "axis", n->name->text, &axis))
    return e;
  if (axis < 0 || axis >= axes)
    AMBIT_WRONG(u, n->subs->place, "there is no axis %" PRId64 "\n%s are 0 to %d", axis,
                u->rule->ndims ? "by the subscripts of its fields, the axes of this kernel"
                               : "the axes",
                axes - 1);
  else
    e->index = (int)axis;
  return e;
}

/* The number of the cell in row-major order; on scalars 0. */
static ambit__expr *fold_cell_number(ambit__unit *u, ambit__place place)
{
  const int axes = u->rule->ndims ? u->rule->ndims : u->axes < 0 ? 1 : u->axes;
  ambit__expr *e = axes ? place_of(u, EXPR_INDEX, place, 0) : zero(u, AMBIT_I64, place);

  u->rule->wants_axes |= !u->rule->ndims && u->axes < 0;
  for (int d = 1; d < axes; d++) {
    e = binary(u, EXPR_MUL, AMBIT_I64, place, e, place_of(u, EXPR_EXTENT, place, d));
    e = binary(u, EXPR_ADD, AMBIT_I64, place, e, place_of(u, EXPR_INDEX, place, d));
  }
  return e;
}

/* coefficient(derivative, order, offset): a weight of ambit_coefficients, 0 beyond its reach. */
static ambit__expr *fold_coefficient(ambit__unit *u, const ambit__syntax *n)
{
  static const char *const names[] = {"derivative", "order", "offset"};
  double w[2 * AMBIT_MAX_REACH + 1];
  int64_t args[3];
  int i = 0, reach = -1;

  for (const ambit__syntax *a = n->subs; a; a = a->next, i++)
    if (!ambit__fold_integer(u, a, names[i], n->name->text, &args[i]))
      return zero(u, n->type, n->place);
  if (args[0] > 0 && args[0] <= 2 * AMBIT_MAX_REACH && args[1] > 0 &&
      args[1] <= 2 * AMBIT_MAX_REACH)
    reach = ambit_coefficients((int)args[0], (int)args[1], w);
  if (reach < 0)
    AMBIT_WRONG(u, n->place,
                "there is no central difference for derivative %" PRId64 " of order %" PRId64
                "\nderivatives are 1 or more, orders even, and the reach, (derivative + 1) / 2 + "
                "order / 2 - 1, at most %d",
                args[0], args[1], AMBIT_MAX_REACH);
  if (args[2] < -reach || args[2] > reach) return zero(u, n->type, n->place);
  return constant(u, n->type, n->place, ambit__value_of(w[reach + args[2]], n->type));
}

static ambit__expr *fold_call(ambit__unit *u, const ambit__syntax *n)
{
  ambit__expr *args[3] = {NULL, NULL, NULL}, *e;
  ambit__value v[3] = {{0}, {0}, {0}};
  bool all_constant = true;
  int i = 0;

  if (n->symbol) return ambit__unroll_call(u, n);
  if (n->is_place && n->function == EXPR_LOR) return fold_outside(u, n);
  if (n->is_place && n->function == EXPR_CONST) return fold_cell_number(u, n->place);
  if (n->is_place && n->function == EXPR_TABLE) return fold_coefficient(u, n);
  if (n->is_place) return fold_place(u, n);
  for (const ambit__syntax *a = n->subs; a; a = a->next, i++) {
    args[i] = ambit__fold_as(u, a, n->operands);
    all_constant = all_constant && is_constant(args[i]);
    v[i] = args[i]->value;
  }
  if (all_constant)
    return constant(u, n->type, n->place,
                    ambit__value_call((ambit__call)n->function, n->type, v[0], v[1], v[2]));
  e = new_expr(u, EXPR_CALL, n->type, n->place);
  e->call = (ambit__call)n->function;
  e->a = args[0];
  e->b = args[1];
  e->c = args[2];
  return e;
}

ambit__expr *ambit__fold(ambit__unit *u, const ambit__syntax *n)
{
  switch (n->kind) {
  case SYNTAX_NUMBER: return constant(u, n->type, n->place, n->value);
  case SYNTAX_ACCESS: return fold_access(u, n);
  case SYNTAX_UNARY: return fold_unary(u, n);
  case SYNTAX_BINARY: return fold_binary(u, n);
  case SYNTAX_COND: return fold_cond(u, n);
  case SYNTAX_CAST: break;
  case SYNTAX_CALL: return fold_call(u, n);
  }
  return ambit__fold_as(u, n->a, n->type);
}

ambit__expr *ambit__fold_as(ambit__unit *u, const ambit__syntax *n, ambit_type type)
{
  return ambit__fold_cast(u, ambit__fold(u, n), type);
}

ambit__expr *ambit__fold_truth(ambit__unit *u, const ambit__syntax *n)
{
  return truth(u, ambit__fold(u, n));
}
