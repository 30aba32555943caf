/* SPDX-License-Identifier: BSD-3-Clause */
/* tokens.c - the tokens of the parser, and syntax errors.
 *
 * After a syntax error the parser is in panic mode: it reports nothing and accepts only expected
 * tokens, until the statement loop has skipped to the next statement.
 */
#include "kernel/ast.h"

#include <string.h>

const ambit__token *ambit__peek(const ambit__unit *u, size_t ahead)
{
  size_t last = u->ntokens - 1;

  return &u->tokens[ahead < last - u->at ? u->at + ahead : last];
}

const ambit__token *ambit__next(ambit__unit *u)
{
  const ambit__token *t = ambit__peek(u, 0);

  if (t->kind != TOKEN_END) u->at++;
  return t;
}

const ambit__token *ambit__last(const ambit__unit *u)
{
  return &u->tokens[u->at ? u->at - 1 : 0];
}

bool ambit__at(const ambit__unit *u, ambit__token_kind kind)
{
  return ambit__peek(u, 0)->kind == kind;
}

bool ambit__accept(ambit__unit *u, ambit__token_kind kind)
{
  if (!ambit__at(u, kind)) return false;
  ambit__next(u);
  return true;
}

ambit__place ambit__span(ambit__place from, ambit__place to)
{
  from.length = to.offset + to.length - from.offset;
  return from;
}

/* The place right after a token, for something missing. */
static ambit__place after(ambit__place p)
{
  p.column += p.length;
  p.offset += p.length;
  p.length = 1;
  return p;
}

/* A specific message for an unexpected token; NULL if there is none. */
static const char *special(const ambit__token *t)
{
  switch (t->kind) {
  case TOKEN_SET:
    return "an assignment inside an expression\nan assignment is a statement of its own; to "
           "compare, write ==";
  case TOKEN_COMMA:
    return "a comma between two expressions\nkernels have no comma operator; write two statements";
  case TOKEN_INC:
  case TOKEN_DEC:
    return "++ or -- inside an expression\nthey are statements of their own: i++; or i += 1;";
  case TOKEN_DOT:
  case TOKEN_ARROW:
    return "kernels have no structures\na cell with several values is a field of components: float "
           "*f[3], used as *f[0]";
  case TOKEN_LBRACKET:
    return "only names can have subscripts\nwrite u[0][1] for a neighbour and *u for the cell "
           "itself";
  default:
    return ambit__operator_set(t->kind)
               ? "an assignment inside an expression\nan assignment is a statement of its own"
               : NULL;
  }
}

bool ambit__expect(ambit__unit *u, ambit__token_kind kind, const char *where)
{
  const ambit__token *t = ambit__peek(u, 0), *last = ambit__last(u);
  const char *text = u->rule->text + t->place.offset, *note = special(t);
  bool is_missing = t->place.line != last->place.line || t->kind == TOKEN_END;

  if (u->panic) return false;
  if (ambit__accept(u, kind)) return true;
  if (note && (kind == TOKEN_SEMI || kind == TOKEN_RPAREN || kind == TOKEN_RBRACKET))
    AMBIT_SYNTAX(u, t->place, "%s", note);
  else if (t->kind == TOKEN_END)
    AMBIT_SYNTAX(u, t->place, "the text ends where %s is missing %s", ambit__token_text(kind),
                 where);
  else if (is_missing)
    AMBIT_SYNTAX(u, after(last->place), "%s is missing %s", ambit__token_text(kind), where);
  else
    AMBIT_SYNTAX(u, t->place, "%s is missing %s, before '%.*s'", ambit__token_text(kind), where,
                 t->place.length < 40 ? t->place.length : 40, text);
  return false;
}

ambit__name *ambit__expect_name(ambit__unit *u, const char *what)
{
  const ambit__token *t = ambit__peek(u, 0);

  if (t->kind == TOKEN_NAME) return ambit__next(u)->name;
  if (t->name)
    AMBIT_SYNTAX(u, t->place, "'%s' cannot be %s\nit is a reserved word of C; choose another name",
                 t->name->text, what);
  else
    AMBIT_SYNTAX(u, t->place, "%s is missing here", what);
  return NULL;
}

void ambit__nest(ambit__unit *u)
{
  if (++u->depth <= AMBIT_MAX_NESTING) return;
  AMBIT_FATAL(u, ambit__peek(u, 0)->place,
              "brackets, blocks and conditions are nested more than %d deep here\nsplit the "
              "expression or the statement by using locals",
              AMBIT_MAX_NESTING);
}

/* ---- types ---- */

static bool is_type_word(ambit__token_kind k)
{
  switch (k) {
  case TOKEN_word_void:
  case TOKEN_word_const:
  case TOKEN_word_float:
  case TOKEN_word_double:
  case TOKEN_word_int:
  case TOKEN_word_char:
  case TOKEN_word_short:
  case TOKEN_word_long:
  case TOKEN_word_signed:
  case TOKEN_word_unsigned:
  case TOKEN_word_half:
  case TOKEN_word_bfloat:
  case TOKEN_word__Bool: return true;
  default: return false;
  }
}

bool ambit__starts_type(const ambit__token *t)
{
  return is_type_word(t->kind);
}

/* The types by the sorted letters of their words: "il" is long int and int long. */
static const struct {
  const char *letters;
  ambit_type type;
} spellings[] = {
    {"f", AMBIT_F32},  {"d", AMBIT_F64},   {"i", AMBIT_I32},  {"g", AMBIT_I32},
    {"gi", AMBIT_I32}, {"cu", AMBIT_U8},   {"s", AMBIT_I16},  {"is", AMBIT_I16},
    {"gs", AMBIT_I16}, {"gis", AMBIT_I16}, {"l", AMBIT_I64},  {"il", AMBIT_I64},
    {"gl", AMBIT_I64}, {"gil", AMBIT_I64}, {"h", AMBIT_F16},  {"b", AMBIT_BF16},
    {"u", AMBIT_U32},  {"iu", AMBIT_U32},  {"su", AMBIT_U16}, {"isu", AMBIT_U16},
    {"lu", AMBIT_U64}, {"ilu", AMBIT_U64},
};

static char letter(ambit__token_kind k)
{
  switch (k) {
  case TOKEN_word_float: return 'f';
  case TOKEN_word_double: return 'd';
  case TOKEN_word_int: return 'i';
  case TOKEN_word_char: return 'c';
  case TOKEN_word_short: return 's';
  case TOKEN_word_long: return 'l';
  case TOKEN_word_signed: return 'g';
  case TOKEN_word_unsigned: return 'u';
  case TOKEN_word_half: return 'h';
  case TOKEN_word_bfloat: return 'b';
  default: return 'x'; /* void, _Bool: in no spelling */
  }
}

static void insert_sorted(char *letters, size_t most, char c)
{
  size_t n = strlen(letters), i = n;

  if (n == most) return;
  for (; i > 0 && letters[i - 1] > c; i--)
    letters[i] = letters[i - 1];
  letters[i] = c;
}

ambit_type ambit__parse_type(ambit__unit *u, bool *is_const)
{
  ambit__place first = ambit__peek(u, 0)->place, all;
  char letters[8] = "";

  *is_const = false;
  while (is_type_word(ambit__peek(u, 0)->kind)) {
    ambit__token_kind k = ambit__next(u)->kind;

    if (k == TOKEN_word_const)
      *is_const = true;
    else
      insert_sorted(letters, sizeof letters - 1, letter(k));
  }
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    if (!strcmp(letters, spellings[i].letters)) return spellings[i].type;
  all = ambit__span(first, ambit__last(u)->place);
  if (!*letters && ambit__at(u, TOKEN_NAME) && !u->panic)
    all = ambit__next(u)->place; /* const real */
  if (*letters || all.offset != first.offset)
    ambit__wrong_type(u, all);
  else
    AMBIT_SYNTAX(u, all, "the type is missing after const\nwrite const float; " AMBIT__TYPES_TEXT);
  return AMBIT_F32;
}
