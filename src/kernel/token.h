/* SPDX-License-Identifier: BSD-3-Clause */
/* token.h - the tokens of the kernel language.
 *
 * Names are interned: one ambit__name per spelling, so names compare as pointers, and a name points
 * to its symbol in the current scope.
 */
#ifndef AMBIT_KERNEL_TOKEN_H
#define AMBIT_KERNEL_TOKEN_H

#include "kernel/diag.h"

/* Operators and punctuation: name, spelling. A longer spelling comes before its prefixes. */
/* clang-format off */
#define AMBIT_SIGN_MAP(X) \
  X(SHL_SET, "<<=") X(SHR_SET, ">>=") X(ELLIPSIS, "...") X(INC, "++") X(DEC, "--") \
  X(ADD_SET, "+=") X(SUB_SET, "-=") X(MUL_SET, "*=") X(DIV_SET, "/=") X(MOD_SET, "%=") \
  X(AND_SET, "&=") X(OR_SET, "|=") X(XOR_SET, "^=") X(SHL, "<<") X(SHR, ">>") X(LE, "<=") \
  X(GE, ">=") X(EQ, "==") X(NE, "!=") X(LAND, "&&") X(LOR, "||") X(ARROW, "->") \
  X(LPAREN, "(") X(RPAREN, ")") X(LBRACKET, "[") X(RBRACKET, "]") X(LBRACE, "{") \
  X(RBRACE, "}") X(SEMI, ";") X(COMMA, ",") X(QUESTION, "?") X(COLON, ":") X(DOT, ".") \
  X(SET, "=") X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(MOD, "%") X(AND, "&") \
  X(OR, "|") X(XOR, "^") X(LT, "<") X(GT, ">") X(NOT, "!") X(COMPL, "~")
/* clang-format on */

/* Reserved words: all of C's, so that a kernel remains valid C. */
/* clang-format off */
#define AMBIT_WORD_MAP(X) \
  X(void) X(const) X(float) X(double) X(int) X(char) X(short) X(long) X(signed) X(unsigned) \
  X(if) X(else) X(for) X(while) X(do) X(goto) X(switch) X(case) X(default) X(break) \
  X(continue) X(return) X(sizeof) X(struct) X(union) X(enum) X(typedef) X(static) X(extern) \
  X(auto) X(register) X(volatile) X(restrict) X(inline) X(_Bool) X(_Complex) X(_Imaginary) \
  X(_Alignas) X(_Alignof) X(_Atomic) X(_Generic) X(_Noreturn) X(_Static_assert) \
  X(_Thread_local)
/* clang-format on */

typedef enum ambit__token_kind {
  TOKEN_END,
  TOKEN_NAME,
  TOKEN_NUMBER,
#define X(name, spelling) TOKEN_##name,
  AMBIT_SIGN_MAP(X)
#undef X
#define X(word) TOKEN_word_##word,
      AMBIT_WORD_MAP(X)
#undef X
          TOKEN_word_half, /* the name half, unless the text declares a variable of this name */
  TOKEN_word_bfloat        /* the same */
} ambit__token_kind;

typedef struct ambit__name {
  const char *text;             /* NUL-terminated */
  size_t length;                /* bytes */
  ambit__token_kind word;       /* TOKEN_NAME, or the reserved word */
  struct ambit__symbol *symbol; /* its symbol in the current scope; NULL: undeclared */
  bool is_taken;                /* some local or parameter of the rule has this name */
  bool is_reported;             /* already reported as unknown */
  bool is_own;                  /* of the language, but declared by the text itself */
  int suffix;                   /* last number appended to make a unique name */
  struct ambit__name *next;     /* next with the same hash */
  struct ambit__name *older;    /* list of all names, newest first */
} ambit__name;

typedef struct ambit__token {
  ambit__token_kind kind;
  ambit__place place;
  ambit__name *name;  /* TOKEN_NAME and reserved words */
  ambit_type type;    /* TOKEN_NUMBER */
  ambit__value value; /* TOKEN_NUMBER */
} ambit__token;

const char *ambit__token_text(ambit__token_kind kind); /* "a name", "'<='", "'while'" */

/* literal.c. Returns the mistake in a literal, as text to follow "the number '...' "; NULL:
 * valid. */
const char *ambit__literal_parse(const char *text, size_t length, ambit_type *type,
                                 ambit__value *value);
/* Prints the shortest literal (or constant expression) with exactly this value. */
void ambit__literal_print(ambit__text *out, ambit__value value, ambit_type type);

#endif
