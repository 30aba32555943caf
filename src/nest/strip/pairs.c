/* SPDX-License-Identifier: BSD-3-Clause */
#include "nest/strip/pairs.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
  MOST_NODES = 400, /* of an expression, which is examined anew on every level */
  FEWEST = 2,       /* operations that are worth a variable */
  MOST_SQUARE = 1 << 22,
  MOST_REAL = 1 << 24 /* integers up to this one are floats */
};

typedef struct work {
  ambit__pairs *p;
  const ambit__scope *s;
  ambit__writer *w;
  ambit__pairs_read *read;
  const int *word; /* cells are printed as this one of their two words in memory; NULL: joined */
} work;

/* ---- what can be a pair ---- */

static ambit__range range_of(const ambit__pairs *p, const ambit__expr *e)
{
  return ambit__range_of(p->range, e);
}

static bool is_natural(const ambit__pairs *p, const ambit__expr *e)
{
  return range_of(p, e).low >= 0;
}

static bool has_shorts(const ambit__pairs *p)
{
  return p->places == PLACES_SHORTS;
}

static bool has_quads(const ambit__pairs *p)
{
  return p->places == PLACES_QUADS;
}

static int bits_of(const ambit__pairs *p)
{
  return has_quads(p) ? 8 : 16;
}

/* The largest number to calculate with. */
static int64_t most_of(const ambit__pairs *p)
{
  return ((int64_t)1 << (bits_of(p) - 1)) - 1;
}

static bool is_within(const ambit__pairs *p, int64_t low, int64_t high)
{
  return low >= (has_shorts(p) ? 0 : -most_of(p)) && high <= most_of(p);
}

/* A value as it is in memory that is no number to calculate with: of quads a byte that is too
 * large, of shorts one that may be negative. */
static bool is_bare(const ambit__pairs *p, const ambit__expr *e)
{
  const ambit__range r = range_of(p, e);

  if (has_shorts(p)) return r.low < 0 && r.low >= INT16_MIN && r.high <= INT16_MAX;
  return has_quads(p) && r.low >= 0 && r.high <= UINT8_MAX && r.high > most_of(p);
}

/* Whether a sum, difference or product is one of numbers that are not negative: then no place takes
 * from the next one, up to 255. */
static bool is_counted(const ambit__pairs *p, const ambit__expr *e)
{
  return (e->op == EXPR_ADD || e->op == EXPR_SUB || e->op == EXPR_MUL || e->op == EXPR_SHL) &&
         is_natural(p, e->a) && is_natural(p, e->b);
}

/* Whether a number can be calculated with, or is a value of which the bits alone are used. */
static bool fits(const ambit__pairs *p, const ambit__expr *e)
{
  const ambit__range r = range_of(p, e);
  const bool bits = e->op < EXPR_NEG || e->op == EXPR_CAST || e->op == EXPR_COND ||
                    e->op == EXPR_AND || e->op == EXPR_OR || e->op == EXPR_XOR || e->op == EXPR_SHR;

  return is_within(p, r.low, r.high) ||
         ((bits || (has_quads(p) && is_counted(p, e))) && is_bare(p, e));
}

/* Low bits of the place of the cell, or of the step: (int)index(0) & 3. */
static bool is_of_place(const ambit__pairs *p, const ambit__expr *e)
{
  const ambit__expr *from = e->op == EXPR_AND && e->a->op == EXPR_CAST ? e->a->a : NULL;
  const int64_t mask = from && e->b->op == EXPR_CONST ? e->b->value.integer : 0;

  return mask > 0 && mask <= most_of(p) && !(mask & (mask + 1)) &&
         (from->op == EXPR_INDEX || from->op == EXPR_EXTENT || from->op == EXPR_STEP);
}

static bool is_pair(const ambit__pairs *p, const ambit__expr *e, int *nodes);

static bool are_pairs(const ambit__pairs *p, const ambit__expr *e, int *nodes)
{
  return is_pair(p, e->a, nodes) && is_pair(p, e->b, nodes);
}

/* Whether the difference of two numbers fits, too. */
static bool is_near(const ambit__pairs *p, const ambit__expr *a, const ambit__expr *b)
{
  const ambit__range x = range_of(p, a), y = range_of(p, b);

  if (has_shorts(p)) return x.low >= 0 && y.low >= 0;
  return is_within(p, x.low - y.high, x.high - y.low);
}

static bool compares(const ambit__pairs *p, const ambit__expr *e)
{
  return is_near(p, e->a, e->b) || has_shorts(p) ||
         (has_quads(p) && is_natural(p, e->a) && is_natural(p, e->b));
}

/* Whether an expression calculates, rather than compares or combines bits, with negative numbers,
 * which shorts have in places of their own. */
static bool calculates_below_zero(const ambit__pairs *p, const ambit__expr *e)
{
  const bool calculates = e->op == EXPR_NEG || (e->op >= EXPR_ADD && e->op <= EXPR_MOD) ||
                          e->op == EXPR_SHL || e->op == EXPR_SHR || e->op == EXPR_CALL;

  return calculates && !(is_natural(p, e->a) && (!e->b || is_natural(p, e->b)));
}

/* Whether a conversion changes nothing. */
static bool is_kept(const ambit__pairs *p, const ambit__expr *e)
{
  const ambit__range a = range_of(p, e->a), all = ambit__range_of_type(e->type);

  return a.low >= all.low && a.high <= all.high;
}

static bool is_shift(const ambit__pairs *p, const ambit__expr *e)
{
  return e->b->op == EXPR_CONST && e->b->value.integer >= 0 && e->b->value.integer < bits_of(p);
}

/* The multiplier and the shift for quotients of numbers up to n by d: n * multiplier >> shift. */
static bool find_reciprocal(int64_t n, int64_t d, uint32_t *multiplier, int *shift)
{
  for (*shift = 1; *shift < 32; ++*shift) {
    const int64_t power = (int64_t)1 << *shift, m = (power + d - 1) / d;

    *multiplier = (uint32_t)m;
    if (n * m > UINT32_MAX) return false;
    if ((m * d - power) * n < power) return true;
  }
  return false;
}

static bool is_quotient(const ambit__pairs *p, const ambit__expr *e)
{
  uint32_t multiplier;
  int shift;

  return !has_quads(p) && e->b->op == EXPR_CONST && e->b->value.integer > 0 &&
         is_natural(p, e->a) &&
         find_reciprocal(range_of(p, e->a).high, e->b->value.integer, &multiplier, &shift);
}

static bool is_extreme(const ambit__expr *e)
{
  return ambit__expr_is_least(e) || ambit__expr_is_most(e);
}

/* ---- look-ups ---- */

/* Entries of tables that an instruction chooses from: 32, below 128. */
enum { SMALL_TABLE = 32, SMALL_ENTRY = 127 };

/* The greatest subscript along an axis of a table. */
static int64_t last_of(const ambit__pairs *p, const ambit__expr *e, int axis)
{
  return p->rule->tables[e->index].size[axis] - 1;
}

/* Whether a subscript can be cut off at the ends of a table. */
static bool is_subscript(const ambit__pairs *p, const ambit__expr *e, int64_t last)
{
  const ambit__range r = range_of(p, e);

  if (has_quads(p)) return r.low >= 0;
  return (r.low >= 0 && r.high <= last) || (p->minima && (has_shorts(p) || r.low >= 0));
}

static bool is_small_table(const ambit__pairs *p, const ambit__expr *e)
{
  const ambit__table *t = &p->rule->tables[e->index];
  const ambit__range r = range_of(p, e);

  return t->values && t->size[0] * t->size[1] <= SMALL_TABLE && r.low >= 0 &&
         r.high <= SMALL_ENTRY && is_subscript(p, e->a, last_of(p, e, 0)) &&
         (!e->b || is_subscript(p, e->b, last_of(p, e, 1)));
}

/* Whether an expression can be computed for a pair of cells. Counts its nodes. */
static bool is_pair(const ambit__pairs *p, const ambit__expr *e, int *nodes)
{
  if (++*nodes > MOST_NODES || ambit__type_is_real(e->type) || e->is_outside ||
      (ambit__type_is_unsigned(e->type) && e->type != AMBIT_U8) || !fits(p, e) ||
      ambit__is_dot(p->dots, e) || (has_shorts(p) && calculates_below_zero(p, e)))
    return false;
  if (is_of_place(p, e)) return true;
  switch (e->op) {
  case EXPR_CONST: return true;
  case EXPR_LOCAL: return p->variable[e->index] >= 0;
  case EXPR_VALUE:
  case EXPR_READ: return e->type == (has_shorts(p) ? AMBIT_I16 : AMBIT_U8);
  case EXPR_TABLE:
    return is_small_table(p, e) && is_pair(p, e->a, nodes) && (!e->b || is_pair(p, e->b, nodes));
  case EXPR_CAST: return (!p->places || is_kept(p, e)) && is_pair(p, e->a, nodes);
  case EXPR_NEG:
  case EXPR_NOT: return is_pair(p, e->a, nodes);
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_LAND:
  case EXPR_LOR: return are_pairs(p, e, nodes);
  case EXPR_MUL:
    return (e->a->op == EXPR_CONST || e->b->op == EXPR_CONST) && are_pairs(p, e, nodes);
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_XOR:
    return (has_shorts(p) || (is_natural(p, e->a) && is_natural(p, e->b))) &&
           are_pairs(p, e, nodes);
  case EXPR_DIV:
  case EXPR_MOD: return is_quotient(p, e) && is_pair(p, e->a, nodes);
  case EXPR_CALL: return p->minima && e->call == CALL_abs && is_pair(p, e->a, nodes);
  case EXPR_SHL:
  case EXPR_SHR: return is_shift(p, e) && is_pair(p, e->a, nodes);
  case EXPR_LT:
  case EXPR_LE:
  case EXPR_GT:
  case EXPR_GE:
  case EXPR_EQ:
  case EXPR_NE: return are_pairs(p, e, nodes) && compares(p, e);
  case EXPR_COND:
    return (is_extreme(e) ? p->minima && compares(p, e->a) : is_pair(p, e->a, nodes)) &&
           is_pair(p, e->b, nodes) && is_pair(p, e->c, nodes);
  default: return false;
  }
}

/* Operations of an expression, up to FEWEST. */
static int operations(const ambit__expr *e)
{
  int n = e->op == EXPR_TABLE ? FEWEST : e->op >= EXPR_NEG && e->op != EXPR_CAST;

  if (e->a && n < FEWEST) n += operations(e->a);
  if (e->b && n < FEWEST) n += operations(e->b);
  if (e->c && n < FEWEST) n += operations(e->c);
  return n;
}

/* Whether an expression is 0 or 1 by a comparison. */
static bool is_truth(const ambit__expr *e)
{
  if (e->op == EXPR_COND) return is_truth(e->b) && is_truth(e->c);
  return e->op == EXPR_NOT || (e->op >= EXPR_LT && e->op <= EXPR_LOR);
}

/* ---- text ---- */

/* A number, in each place of a word. */
static uint32_t all(const work *w, int64_t n)
{
  if (has_shorts(w->p)) n &= UINT16_MAX;
  return (uint32_t)(n * (has_quads(w->p) ? 0x01010101 : 0x00010001));
}

/* The first bit of each place. */
static uint32_t tops(const work *w)
{
  return all(w, most_of(w->p) + 1);
}

static void print_truth(const work *w, ambit__text *t, const ambit__expr *e);
static void print_word(const work *w, ambit__text *t, const ambit__expr *e);

/* A text with the operands of an expression: A, B and C are words, X, Y and Z truths; @ is the
 * first bit of each place, # a number in each place, and ! the end of a name that shorts have
 * another function for. */
static void print_form(const work *w, ambit__text *t, const char *form, const ambit__expr *e,
                       int64_t number)
{
  const ambit__expr *operands[] = {e->a, e->b, e->c};

  for (; *form; form++)
    if (*form >= 'A' && *form <= 'C')
      print_word(w, t, operands[*form - 'A']);
    else if (*form >= 'X' && *form <= 'Z')
      print_truth(w, t, operands[*form - 'X']);
    else if (*form == '@' || *form == '#')
      ambit__print(t, "0x%08" PRIx32 "u", *form == '@' ? tops(w) : all(w, number));
    else if (*form == '!')
      ambit__print(t, "%s", has_shorts(w->p) ? "_shorts" : "");
    else
      ambit__print(t, "%c", *form);
}

static void print_product(const work *w, ambit__text *t, const ambit__expr *e)
{
  const bool first = e->a->op == EXPR_CONST;
  const ambit__expr *number = first ? e->a : e->b;

  print_form(w, t, first ? "(B" : "(A", e, 0);
  ambit__print(t, " * 0x%" PRIx32 "u)", (uint32_t)number->value.integer);
}

static void print_shift(const work *w, ambit__text *t, const ambit__expr *e)
{
  const bool right = e->op == EXPR_SHR, negative = right && !is_natural(w->p, e->a);
  const int n = (int)e->b->value.integer;

  print_form(w, t, negative ? "(((A + @)" : "(A", e, 0);
  ambit__print(t, right ? " >> %d & " : " << %d", n);
  if (right) print_form(w, t, "#", e, (2 * most_of(w->p) + 1) >> n);
  print_form(w, t, negative ? ") - #)" : ")", e, (most_of(w->p) + 1) >> n);
}

static void print_quotient(const work *w, ambit__text *t, const ambit__expr *e)
{
  uint32_t multiplier;
  int shift;

  find_reciprocal(range_of(w->p, e->a).high, e->b->value.integer, &multiplier, &shift);
  print_form(w, t, e->op == EXPR_DIV ? "ambit_quotient(A, " : "ambit_remainder(A, ", e, 0);
  ambit__print(t, "0x%" PRIx32 "u, %d", multiplier, shift);
  if (e->op == EXPR_MOD) ambit__print(t, ", %du", (int)e->b->value.integer);
  ambit__print(t, ")");
}

/* "(((ambit_u32)i1 & 3u) * 0x01010101u + 0x03020100u & 0x03030303u)": along x, of adjacent cells;
 * those of a pair of bytes are two apart. */
static void print_place(const work *w, ambit__text *t, const ambit__expr *e)
{
  const ambit__expr *from = e->a->a;
  const uint32_t mask = (uint32_t)e->b->value.integer;
  const uint32_t next = all(w, mask) & (has_quads(w->p)    ? 0x03020100u
                                        : has_shorts(w->p) ? 0x00010000u
                                                           : 0x00020000u);
  const bool along = from->op == EXPR_INDEX && from->index == w->p->x && next;

  ambit__print(t, along ? "((((ambit_u32)" : "(((ambit_u32)");
  ambit__emit_expr(w->s, t, from);
  ambit__print(t, " & 0x%" PRIx32 "u) * 0x%" PRIx32 "u", mask, all(w, 1));
  if (along) ambit__print(t, " + 0x%08" PRIx32 "u) & 0x%08" PRIx32 "u", next, all(w, mask));
  ambit__print(t, ")");
}

/* A conversion, which changes nothing unless values wrap: to unsigned char, as all fit in 16 bits.
 * 2^15 is a multiple of 2^8. */
static void print_cast(const work *w, ambit__text *t, const ambit__expr *e)
{
  print_form(w, t,
             is_kept(w->p, e)         ? "A"
             : is_natural(w->p, e->a) ? "(A & 0x00ff00ffu)"
                                      : "(A + 0x80008000u & 0x00ff00ffu)",
             e, 0);
}

/* "ambit_choose(c, a, b)" or "ambit_lesser(a, b)". If numbers may be negative, all but shorts are
 * 2^15 (of quads 2^7) more on the way. */
static void print_choice(const work *w, ambit__text *t, const ambit__expr *e)
{
  const bool natural = has_shorts(w->p) || (is_natural(w->p, e->b) && is_natural(w->p, e->c));

  if (!natural) ambit__print(t, "(");
  if (is_extreme(e))
    print_form(w, t, ambit__expr_is_least(e) ? "ambit_lesser!(" : "ambit_greater!(", e, 0);
  else
    print_form(w, t, has_quads(w->p) ? "ambit_choose_four(X, " : "ambit_choose(X, ", e, 0);
  print_form(w, t, natural ? "B, C)" : "B + @, C + @) - @)", e, 0);
}

/* Whether two numbers, none of which is negative, are equal or not, by a minimum: 1 or 0. */
static bool print_difference(const work *w, ambit__text *t, const ambit__expr *e)
{
  const bool equal = e->op == EXPR_EQ;

  if (!w->p->minima || has_shorts(w->p) || (!equal && e->op != EXPR_NE)) return false;
  if (!is_natural(w->p, e->a) || !is_natural(w->p, e->b)) return false;
  print_form(w, t,
             equal ? "(0x00010001u - ambit_lesser((A ^ B), 0x00010001u))"
                   : "ambit_lesser((A ^ B), 0x00010001u)",
             e, 0);
  return true;
}

/* How two shorts compare, by a minimum: 1 or 0. */
static bool print_short_test(const work *w, ambit__text *t, const ambit__expr *e)
{
  const bool swapped = e->op == EXPR_GT || e->op == EXPR_LE;
  const bool order = e->op >= EXPR_LT && e->op <= EXPR_GE, differs = e->op == EXPR_NE;
  const bool inverse = e->op == EXPR_LE || e->op == EXPR_GE || e->op == EXPR_EQ;
  const ambit__expr both = {.a = swapped ? e->b : e->a, .b = swapped ? e->a : e->b};

  if (!has_shorts(w->p) || !(order || differs || e->op == EXPR_EQ)) return false;
  if (inverse) ambit__print(t, "(0x00010001u - ");
  print_form(w, t,
             order ? "ambit_any_short(ambit_lesser_shorts(A, B) ^ B)" : "ambit_any_short(A ^ B)",
             &both, 0);
  if (inverse) ambit__print(t, ")");
  return true;
}

/* The one value of a field that an expression is a function of: the first one, if `same` is NULL,
 * else NULL if there are others. */
static const ambit__expr *only_read(const ambit__expr *e, const ambit__expr *same)
{
  if (!e || e->op == EXPR_CONST) return same;
  if (e->op == EXPR_READ) return !same || ambit__expr_is_same(e, same) ? e : NULL;
  if (!e->a) return NULL;
  same = only_read(e->a, same);
  if (same && e->b) same = only_read(e->b, same);
  return same && e->c ? only_read(e->c, same) : same;
}

/* A function of one value whose cells are in two words of memory: it is computed for both words, as
 * cells beside these use them, too, and then the halves or bytes are joined. */
static bool print_joined(const work *w, ambit__text *t, const ambit__expr *e,
                         void (*print)(const work *, ambit__text *, const ambit__expr *))
{
  const ambit__expr *read =
      w->p->places && !w->word && operations(e) > (e->op == EXPR_AND) ? only_read(e, NULL) : NULL;
  const int bytes = bits_of(w->p) / 8, shift = read ? read->offset[w->p->x] * bytes & 3 : 0;
  work part = *w;

  if (!shift) return false;
  ambit__print(t, "ambit_joined(");
  for (int i = 0; i < 2; i++) {
    part.word = &i;
    print(&part, t, e);
    ambit__print(t, ", ");
  }
  ambit__print(t, "%d)", shift);
  return true;
}

/* A subscript, cut off at the ends of a table. */
static void print_subscript(const work *w, ambit__text *t, const ambit__expr *e, int64_t last)
{
  const ambit__range r = range_of(w->p, e);
  const ambit__expr at = {.a = e};
  const bool natural = r.low >= 0, within = natural && r.high <= last;

  print_form(w, t,
             within            ? "A"
             : has_quads(w->p) ? "ambit_choose_four(ambit_below(#, A), #, A)"
             : natural         ? "ambit_lesser!(A, #)"
                               : "ambit_between_shorts(A, #)",
             &at, last);
}

/* "ambit_look_up_four(n, 0x02010101u, ...)", with the bytes of a table. */
static void print_look_up(const work *w, ambit__text *t, const ambit__expr *e)
{
  const ambit__table *table = &w->p->rule->tables[e->index];
  const int64_t wide = table->size[1], n = table->size[0] * wide;
  uint32_t words[SMALL_TABLE / 4] = {0};

  for (int64_t i = 0; i < n; i++)
    words[i / 4] |= (uint32_t)ambit__table_at(table, i / wide, i % wide).integer << i % 4 * 8;
  ambit__print(t, "ambit_look_up%s(", has_quads(w->p) ? "_four" : "");
  print_subscript(w, t, e->a, last_of(w->p, e, 0));
  if (wide > 1) ambit__print(t, " * %du + ", (int)wide);
  if (wide > 1) print_subscript(w, t, e->b, last_of(w->p, e, 1));
  for (int i = 0; i < SMALL_TABLE / 4; i++)
    ambit__print(t, ", 0x%08" PRIx32 "u", words[i]);
  ambit__print(t, ")");
}

/* An expression as a pair. */
static void print_word(const work *w, ambit__text *t, const ambit__expr *e)
{
  if (is_of_place(w->p, e)) {
    print_place(w, t, e);
    return;
  }
  if (print_joined(w, t, e, print_word) || print_difference(w, t, e) || print_short_test(w, t, e))
    return;
  switch (e->op) {
  case EXPR_CONST: print_form(w, t, "#", e, e->value.integer); break;
  case EXPR_LOCAL: ambit__print(t, "q%d", w->p->variable[e->index]); break;
  case EXPR_VALUE:
  case EXPR_READ: w->read(w->s, t, e, w->word); break;
  case EXPR_TABLE: print_look_up(w, t, e); break;
  case EXPR_NEG: print_form(w, t, "(0u - A)", e, 0); break;
  case EXPR_CAST: print_cast(w, t, e); break;
  case EXPR_ADD: print_form(w, t, "(A + B)", e, 0); break;
  case EXPR_SUB: print_form(w, t, "(A - B)", e, 0); break;
  case EXPR_AND: print_form(w, t, "(A & B)", e, 0); break;
  case EXPR_OR: print_form(w, t, "(A | B)", e, 0); break;
  case EXPR_XOR: print_form(w, t, "(A ^ B)", e, 0); break;
  case EXPR_MUL: print_product(w, t, e); break;
  case EXPR_SHL:
  case EXPR_SHR: print_shift(w, t, e); break;
  case EXPR_DIV:
  case EXPR_MOD: print_quotient(w, t, e); break;
  case EXPR_CALL: print_form(w, t, "ambit_magnitude(A)", e, 0); break;
  case EXPR_COND:
    if (!is_truth(e)) {
      print_choice(w, t, e);
      break;
    } /* fallthrough */
  default:
    print_form(w, t, "((X & @) >> ", &(ambit__expr){.a = e}, 0);
    ambit__print(t, "%d)", bits_of(w->p) - 1);
    break;
  }
}

/* (a - b + 2^15), or with b first or one less: bit 15 says how a and b compare; 7 of quads. Values
 * that are no numbers to calculate with have functions. */
static void print_order(const work *w, ambit__text *t, const ambit__expr *a, const ambit__expr *b,
                        bool or_equal)
{
  const ambit__expr both = {.a = a, .b = b};

  if (b && !is_near(w->p, a, b))
    print_form(w, t, or_equal ? "~ambit_below!(A, B)" : "ambit_below!(B, A)", &both, 0);
  else
    print_form(w, t, b ? "(A - B + #)" : "(A + #)", &both, most_of(w->p) + or_equal);
}

/* Whether two numbers, or a number and 0, are equal or not: one comparison, where the other one
 * always holds, or two. */
static void print_equality(const work *w, ambit__text *t, const ambit__expr *a,
                           const ambit__expr *b, bool equal)
{
  const ambit__expr nought = {.op = EXPR_CONST, .type = a->type}, *other = b ? b : &nought;
  const ambit__expr both = {.a = a, .b = b};
  const ambit__range x = range_of(w->p, a), y = range_of(w->p, other);
  const bool below = x.low<y.high, above = x.high> y.low;

  if (is_bare(w->p, a) || (b && is_bare(w->p, b))) {
    if (equal) ambit__print(t, "~");
    print_form(w, t, b ? "ambit_filled!(A ^ B)" : "ambit_filled!(A)", &both, 0);
    return;
  }
  if (b && below && above && x.low >= 0 && y.low >= 0) {
    print_form(w, t, equal ? "(@ - (A ^ B))" : "((A ^ B) + #)", &both, most_of(w->p));
    return;
  }
  if (below && above) ambit__print(t, "(");
  if (below || !above) print_order(w, t, equal ? a : other, equal ? b : a, equal);
  if (below && above) ambit__print(t, equal ? " & " : " | ");
  if (above) print_order(w, t, equal ? other : a, equal ? a : b, equal);
  if (below && above) ambit__print(t, ")");
}

/* Whether an expression is not 0: the first bit of each place, beside bits of no meaning. */
static void print_truth(const work *w, ambit__text *t, const ambit__expr *e)
{
  if (print_joined(w, t, e, print_truth)) return;
  if (e->op == EXPR_COND && is_truth(e)) {
    print_form(w, t, "ambit_select(X, Y, Z)", e, 0);
    return;
  }
  switch (e->op) {
  case EXPR_LAND: print_form(w, t, "(X & Y)", e, 0); break;
  case EXPR_LOR: print_form(w, t, "(X | Y)", e, 0); break;
  case EXPR_NOT: print_form(w, t, "~X", e, 0); break;
  case EXPR_GE: print_order(w, t, e->a, e->b, true); break;
  case EXPR_GT: print_order(w, t, e->a, e->b, false); break;
  case EXPR_LE: print_order(w, t, e->b, e->a, true); break;
  case EXPR_LT: print_order(w, t, e->b, e->a, false); break;
  case EXPR_EQ: print_equality(w, t, e->a, e->b, true); break;
  case EXPR_NE: print_equality(w, t, e->a, e->b, false); break;
  default: print_equality(w, t, e, NULL, false); break;
  }
}

/* ---- square roots ---- */

const ambit__pairs_root *ambit__pairs_find_root(const ambit__pairs *p, const ambit__expr *e)
{
  for (int i = 0; i < p->nroots; i++)
    if (p->roots[i].value == e) return &p->roots[i];
  return NULL;
}

bool ambit__pairs_is_sum(const ambit__expr *e)
{
  return e->type == AMBIT_I32 && (e->op == EXPR_ADD || e->op == EXPR_SUB || e->op == EXPR_MUL);
}

/* Whether an integer and all it is computed from are exact in float. */
static bool is_exact(const ambit__pairs *p, const ambit__expr *e)
{
  const bool is_sum = ambit__pairs_is_sum(e) && !ambit__is_dot(p->dots, e);
  const ambit__range r = range_of(p, e);
  const int64_t most = is_sum ? MOST_REAL : MOST_SQUARE;

  return r.low >= -most && r.high <= most && (!is_sum || (is_exact(p, e->a) && is_exact(p, e->b)));
}

static void note_root(ambit__pairs *p, const ambit__expr *e, bool last)
{
  ambit__pairs_root r = {.value = e};

  if (p->nroots == AMBIT__PAIRS || !ambit__root_of(p->range, e, &r.root) ||
      range_of(p, r.root.n).high > MOST_SQUARE)
    return;
  r.real = is_exact(p, r.root.n);
  r.last = last && r.root.cut && r.root.most == UINT8_MAX;
  p->roots[p->nroots++] = r;
}

/* ---- variables ---- */

int ambit__pairs_find(const ambit__pairs *p, const ambit__expr *e)
{
  for (int i = 0; i < p->n; i++)
    if (p->values[i] == e) return i;
  return -1;
}

/* A new variable for an expression; -1: there are too many, or it has one, for other values of the
 * locals: then it has none from now on. */
static int add(const work *w, const ambit__expr *e)
{
  const int old = ambit__pairs_find(w->p, e);

  if (old >= 0) w->p->values[old] = NULL;
  if (old >= 0 || w->p->n == AMBIT__PAIRS) return -1;
  if (w->w) {
    ambit__line_begin(w->w);
    ambit__print(&w->w->text, "const unsigned q%d = ", w->p->n);
    print_word(w, &w->w->text, e);
    ambit__line_end(w->w, ";");
  }
  w->p->values[w->p->n] = e;
  w->p->negative[w->p->n] = !is_natural(w->p, e);
  return w->p->n++;
}

/* Variables for the largest parts of an expression. With `any`, for as few operations as there may
 * be; `last`: it is a final result. Returns that of the whole expression, or -1. */
static int find(const work *w, const ambit__expr *e, bool any, bool last)
{
  int nodes = 0;

  if (ambit__is_dot(w->p->dots, e)) return -1;
  if (is_pair(w->p, e, &nodes)) return any || operations(e) >= FEWEST ? add(w, e) : -1;
  note_root(w->p, e, last);
  if (e->a) find(w, e->a, false, false);
  if (e->b) find(w, e->b, false, false);
  if (e->c) find(w, e->c, false, false);
  return -1;
}

/* A list of statements. What is set under a condition has no variable. */
static void walk(const work *w, const ambit__stmt *list, bool always)
{
  for (const ambit__stmt *s = list; s; s = s->next) {
    const bool is_local = s->kind == STMT_LOCAL || s->kind == STMT_SET_LOCAL;
    ambit__range range = {0, 0};
    int variable = -1;

    if (s->value) range = range_of(w->p, s->value);
    if (s->value)
      variable = find(w, s->value, always && s->kind != STMT_IF,
                      always && s->kind == STMT_SET_OUT && !s->next);
    if (is_local && (s->value || s->kind == STMT_LOCAL)) {
      w->p->variable[s->index] = always ? variable : -1;
      w->p->range[s->index] =
          always && s->value ? range : ambit__range_of_type(w->p->rule->locals[s->index].type);
    }
    walk(w, s->body, false);
    walk(w, s->other, false);
  }
}

/* Finds the variables of a rule, and writes them if there is a writer. */
static bool begin(const work *w, const ambit__rule *rule)
{
  const size_t n = (size_t)rule->nlocals + 1;
  ambit__pairs *p = w->p;

  *p = (ambit__pairs){.rule = rule,
                      .dots = p->dots,
                      .places = p->places,
                      .x = p->x,
                      .minima = p->minima,
                      .variable = malloc(n * sizeof *p->variable),
                      .range = malloc(n * sizeof *p->range)};
  if (!p->variable || !p->range) return false;
  for (int i = 0; i < rule->nlocals; i++) {
    p->variable[i] = -1;
    p->range[i] = ambit__range_of_type(rule->locals[i].type);
  }
  walk(w, rule->body, true);
  return true;
}

bool ambit__pairs_begin(ambit__pairs *p, const ambit__rule *rule)
{
  const work job = {.p = p};

  return begin(&job, rule);
}

bool ambit__pairs_emit(ambit__pairs *p, const ambit__scope *s, ambit__writer *w,
                       ambit__pairs_read *read)
{
  const work job = {p, s, w, read, NULL};

  ambit__pairs_end(p);
  return begin(&job, s->rule);
}

void ambit__pairs_end(ambit__pairs *p)
{
  free(p->variable);
  free(p->range);
  p->variable = NULL;
  p->range = NULL;
}

/* Whether some statement of a list sets a component. */
static bool sets(const ambit__stmt *list, int param, int component)
{
  for (const ambit__stmt *s = list; s; s = s->next)
    if ((s->kind == STMT_SET_OUT && s->index == param && s->component == component) ||
        sets(s->body, param, component) || sets(s->other, param, component))
      return true;
  return false;
}

int ambit__pairs_result(const ambit__pairs *p, int param, int component)
{
  const ambit__expr *last = NULL;

  for (const ambit__stmt *s = p->rule->body; s; s = s->next)
    if (s->kind == STMT_SET_OUT && s->index == param && s->component == component)
      last = s->value;
    else if (sets(s->body, param, component) || sets(s->other, param, component))
      last = NULL;
  return last ? ambit__pairs_find(p, last) : -1;
}
