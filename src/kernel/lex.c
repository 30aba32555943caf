/* SPDX-License-Identifier: BSD-3-Clause */
/* lex.c - from text to tokens.
 *
 * A `#line N "file"` at the start of the text gives its origin; AMBIT_SOURCE writes one. No other
 * lines with # are allowed: kernels are not preprocessed. Each run of invalid characters is
 * reported once and skipped.
 */
#include "kernel/ast.h"

#include <string.h>

static const struct {
  const char *text;
  ambit__token_kind kind;
} signs[] = {
#define X(name, spelling) {spelling, TOKEN_##name},
    AMBIT_SIGN_MAP(X)
#undef X
};

const char *ambit__token_text(ambit__token_kind kind)
{
  switch (kind) {
  case TOKEN_END: return "the end of the text";
  case TOKEN_NAME: return "a name";
  case TOKEN_NUMBER: return "a number";
#define X(name, spelling)                                                                          \
  case TOKEN_##name: return "'" spelling "'";
    AMBIT_SIGN_MAP(X)
#undef X
#define X(word)                                                                                    \
  case TOKEN_word_##word: return "'" #word "'";
    AMBIT_WORD_MAP(X)
#undef X
  case TOKEN_word_half: return "'half'";
  case TOKEN_word_bfloat: return "'bfloat'";
  }
  return "?";
}

static ambit__place place_at(const ambit__unit *u, int offset, int length)
{
  if (u->in_library) return (ambit__place){0};
  return (ambit__place){u->line, offset - u->line_start + 1, offset, length};
}

static void next_line(ambit__unit *u, int start)
{
  u->line++;
  u->line_start = start;
}

static ambit__token *add(ambit__unit *u, ambit__token_kind kind, int offset, int length)
{
  ambit__token *t;

  u->tokens = ambit__unit_grow(u, &u->arena, u->tokens, u->ntokens, &u->tokens_cap, sizeof *t);
  t = &u->tokens[u->ntokens++];
  *t = (ambit__token){.kind = kind, .place = place_at(u, offset, length)};
  return t;
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* ---- lines with # ---- */

static int end_of_line(const char *text, int at)
{
  return at + (int)strcspn(text + at, "\n");
}

/* The file name in quotes, or NULL; a backslash escapes the next character. */
static const char *file_name(ambit__unit *u, const char *s, int n)
{
  char *name = ambit__unit_new(u, (size_t)n + 1, 1), *p = name;

  if (n < 2 || *s != '"') return NULL;
  for (int i = 1; i < n; i++) {
    if (s[i] == '"') {
      char *kept = ambit__rule_new(u, (size_t)(p - name) + 1, 1);

      return memcpy(kept, name, (size_t)(p - name));
    }
    if (s[i] == '\\' && i + 1 < n) i++;
    *p++ = s[i];
  }
  return NULL;
}

/* Reads `#line N "file"` at `at`; false if there is none. */
static bool read_line_mark(ambit__unit *u, int at, int end)
{
  const char *text = u->text, *file;
  int line = 0, i = at + 1;

  while (i < end && is_blank(text[i]))
    i++;
  if (strncmp(text + i, "line", 4) || !is_blank(text[i + 4])) return false;
  for (i += 4; i < end && is_blank(text[i]); i++)
    ;
  if (!ambit__is_digit(text[i])) return false;
  for (; ambit__is_digit(text[i]) && line < 100 * 1000 * 1000; i++)
    line = 10 * line + (text[i] - '0');
  while (i < end && is_blank(text[i]))
    i++;
  file = file_name(u, text + i, end - i);
  if (!file) return false;
  u->rule->file = u->diag.file = file;
  u->line = line - 1; /* the next line is number `line` */
  return true;
}

static int lex_hash(ambit__unit *u, int at)
{
  int end = end_of_line(u->text, at);

  if (!u->ntokens && u->line_start == 0 && read_line_mark(u, at, end)) return end;
  AMBIT_WRONG(u, place_at(u, at, end - at),
              "a kernel has no lines with #\nkernels are not preprocessed; for a constant, write a "
              "const local: const float k = 0.25f; (a first line #line N \"file\" is allowed)");
  return end;
}

/* ---- tokens ---- */

/* Returns the end of the comment that starts at `at`. */
static int skip_comment(ambit__unit *u, int at)
{
  const char *text = u->text, *end;

  if (text[at + 1] == '/') return end_of_line(text, at);
  end = strstr(text + at + 2, "*/");
  if (!end) {
    AMBIT_WRONG(u, place_at(u, at, 2), "this comment is not closed\nwrite */ at its end");
    return (int)strlen(text);
  }
  for (int i = at; i < end - text; i++)
    if (text[i] == '\n') next_line(u, i + 1);
  return (int)(end - text) + 2;
}

static int lex_name(ambit__unit *u, int at)
{
  const char *text = u->text;
  int end = at;
  ambit__token *t;
  ambit__name *name;

  while (ambit__is_name_char(text[end]))
    end++;
  if (end - at > AMBIT_MAX_NAME)
    AMBIT_WRONG(u, place_at(u, at, end - at), "this name is longer than %d characters",
                AMBIT_MAX_NAME);
  name = ambit__name_of(u, text + at, (size_t)(end - at));
  t = add(u, name->word, at, end - at);
  t->name = name;
  return end;
}

static int lex_number(ambit__unit *u, int at)
{
  const char *text = u->text, *wrong;
  bool hex = text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X');
  int end = at;
  ambit__token *t;

  while (ambit__is_name_char(text[end]) || text[end] == '.' ||
         ((text[end] == '+' || text[end] == '-') && end > at &&
          strchr(hex ? "pP" : "eE", text[end - 1])))
    end++;
  t = add(u, TOKEN_NUMBER, at, end - at);
  wrong = ambit__literal_parse(text + at, (size_t)(end - at), &t->type, &t->value);
  if (wrong)
    AMBIT_WRONG(u, t->place, "the number '%.*s' %s", end - at < 60 ? end - at : 60, text + at,
                wrong);
  return end;
}

static int lex_sign(ambit__unit *u, int at)
{
  const char *text = u->text;

  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    size_t n = strlen(signs[i].text);

    if (strncmp(text + at, signs[i].text, n)) continue;
    add(u, signs[i].kind, at, (int)n);
    return at + (int)n;
  }
  return at;
}

static bool can_start(char c)
{
  return !c || is_blank(c) || c == '\n' || ambit__is_name_char(c) || c == '#' ||
         strchr("()[]{};,?:.=+-*/%&|^<>!~'\"", c);
}

/* Skips invalid characters, or a string. */
static int lex_wrong(ambit__unit *u, int at)
{
  const char *text = u->text;
  int end = at + 1, stop = end_of_line(text, at);

  if (text[at] == '"' || text[at] == '\'') {
    while (end < stop && text[end] != text[at])
      end += text[end] == '\\' && end + 1 < stop ? 2 : 1;
    if (end < stop) end++;
    AMBIT_WRONG(u, place_at(u, at, end - at),
                "a kernel has no strings or characters\nkernels compute numbers only; write a "
                "character as its code");
    return end;
  }
  while (!can_start(text[end]))
    end++;
  AMBIT_WRONG(u, place_at(u, at, end - at), "this is not part of the kernel language");
  return end;
}

/* Lexes the token at `at`, which is not blank; returns its end. */
static int lex_one(ambit__unit *u, int at)
{
  const char *s = u->text + at;
  int end;

  if (*s == '/' && (s[1] == '/' || s[1] == '*')) return skip_comment(u, at);
  if (*s == '#') return lex_hash(u, at);
  if (ambit__is_digit(*s) || (*s == '.' && ambit__is_digit(s[1]))) return lex_number(u, at);
  if (ambit__is_name_char(*s)) return lex_name(u, at);
  end = lex_sign(u, at);
  return end > at ? end : lex_wrong(u, at);
}

static bool is_name(const ambit__unit *u, size_t i, const char *text)
{
  return u->tokens[i].kind == TOKEN_NAME && !strcmp(u->tokens[i].name->text, text);
}

bool ambit__is_declared(const ambit__unit *u, size_t i)
{
  if (i > 1 && u->tokens[i - 1].kind == TOKEN_MUL) i--;
  return i > 0 && u->tokens[i - 1].kind != TOKEN_word_const &&
         ambit__starts_type(&u->tokens[i - 1]);
}

/* half and bfloat are types in texts that declare no variable of this name. */
static void settle_half(ambit__unit *u, const char *name, ambit__token_kind kind)
{
  for (size_t i = 0; i < u->ntokens; i++)
    if (is_name(u, i, name) && ambit__is_declared(u, i)) return;
  for (size_t i = 0; i < u->ntokens; i++)
    if (is_name(u, i, name)) u->tokens[i].kind = kind;
}

/* The type that stands for `real` in token i. Half and bfloat are of fields only, pointers. */
static ambit__token_kind real_kind(const ambit__unit *u, size_t i)
{
  const bool reduces =
      i > 0 && (is_name(u, i - 1, "sum") || is_name(u, i - 1, "min") || is_name(u, i - 1, "max") ||
                u->tokens[i - 1].kind == TOKEN_RPAREN); /* fold(f, x) real *r */

  if (*u->real == AMBIT_F64) return TOKEN_word_double;
  if (*u->real == AMBIT_F32 || reduces || u->tokens[i + 1].kind != TOKEN_MUL)
    return TOKEN_word_float;
  return *u->real == AMBIT_F16 ? TOKEN_word_half : TOKEN_word_bfloat;
}

/* Gives `real` its meaning. In a text that uses it, numbers without a suffix are `real` too, or
 * float if it is half or bfloat. */
static void settle_real(ambit__unit *u)
{
  for (size_t i = 0; u->real && i < u->ntokens; i++) {
    if (!is_name(u, i, "real")) continue;
    u->tokens[i].kind = real_kind(u, i);
    u->is_single = *u->real != AMBIT_F64;
  }
  for (size_t i = 0; u->is_single && i < u->ntokens; i++) {
    ambit__token *t = &u->tokens[i];

    if (t->kind != TOKEN_NUMBER || t->type != AMBIT_F64) continue;
    t->value = ambit__value_cast(t->value, AMBIT_F64, AMBIT_F32);
    t->type = AMBIT_F32;
  }
}

void ambit__lex_text(ambit__unit *u)
{
  const char *text = u->text;
  int at = 0, last = 0, line = 1, start = 0; /* end of the last token */
  size_t before;

  u->line = 1;
  while (text[at]) {
    if (text[at] == '\n') {
      next_line(u, ++at);
      continue;
    }
    if (is_blank(text[at])) {
      at++;
      continue;
    }
    before = u->ntokens;
    at = lex_one(u, at);
    if (u->ntokens > before) last = at, line = u->line, start = u->line_start;
  }
  u->line = line;
  u->line_start = start;
  add(u, TOKEN_END, last, 1);
}

void ambit__lex(ambit__unit *u)
{
  ambit__lex_text(u);
  settle_real(u);
  settle_half(u, "half", TOKEN_word_half);
  settle_half(u, "bfloat", TOKEN_word_bfloat);
}
