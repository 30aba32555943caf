/* SPDX-License-Identifier: BSD-3-Clause */
/* type_names.c - names that are not types: where a type must stand, the message says so, lists the
 * types, and suggests the one that was probably meant. */
#include "base/spell.h"
#include "kernel/ast.h"

#include <string.h>

/* Names of other languages and headers, and the type of this one with the same values, or with the
 * next larger range. */
static const struct {
  const char *name, *type;
} aliases[] = {
    {"single", "float"},
    {"float32", "float"},
    {"float32_t", "float"},
    {"f32", "float"},
    {"fp32", "float"},
    {"real32", "float"},
    {"_Float16", "half"},
    {"__fp16", "half"},
    {"float16", "half"},
    {"float16_t", "half"},
    {"f16", "half"},
    {"fp16", "half"},
    {"bfloat16", "bfloat"},
    {"bfloat16_t", "bfloat"},
    {"__bf16", "bfloat"},
    {"bf16", "bfloat"},
    {"real_t", "double"},
    {"float64", "double"},
    {"float64_t", "double"},
    {"f64", "double"},
    {"fp64", "double"},
    {"real64", "double"},
    {"number", "double"},
    {"long double", "double"},
    {"integer", "int"},
    {"int32_t", "int"},
    {"int32", "int"},
    {"i32", "int"},
    {"uint16_t", "unsigned short"},
    {"uint16", "unsigned short"},
    {"ushort", "unsigned short"},
    {"u16", "unsigned short"},
    {"int16_t", "short"},
    {"int16", "short"},
    {"i16", "short"},
    {"int8_t", "short"},
    {"int8", "short"},
    {"i8", "short"},
    {"signed char", "short"},
    {"int64_t", "long"},
    {"int64", "long"},
    {"i64", "long"},
    {"long long", "long"},
    {"unsigned long long", "unsigned long"},
    {"size_t", "unsigned long"},
    {"ptrdiff_t", "long"},
    {"uint32_t", "unsigned"},
    {"uint32", "unsigned"},
    {"u32", "unsigned"},
    {"uint", "unsigned"},
    {"uint64_t", "unsigned long"},
    {"u64", "unsigned long"},
    {"char", "unsigned char"},
    {"uint8_t", "unsigned char"},
    {"uint8", "unsigned char"},
    {"u8", "unsigned char"},
    {"uchar", "unsigned char"},
    {"byte", "unsigned char"},
    {"bool", "unsigned char"},
    {"_Bool", "unsigned char"},
    {"boolean", "unsigned char"},
    {"logical", "unsigned char"},
};

static const char *suggestion(const char *name)
{
  ambit__guess guess;

  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (!strcmp(name, aliases[i].name)) return aliases[i].type;
  guess = ambit__guess_start(name);
#define X(id, value, ctype, text) ambit__guess_offer(&guess, text);
  AMBIT_TYPE_MAP(X)
#undef X
  return guess.best;
}

void ambit__wrong_type(ambit__unit *u, ambit__place place)
{
  char name[41] = "";
  const char *type;

  memcpy(name, u->rule->text + place.offset, (size_t)(place.length < 40 ? place.length : 40));
  if (!strcmp(name, "real")) {
    AMBIT_SYNTAX(
        u, place,
        "the type 'real' has no meaning here\nambit_define_real makes it float, double, half or "
        "bfloat");
    return;
  }
  type = suggestion(name);
  AMBIT_SYNTAX(u, place, "'%s' is not a type of the kernel language\n" AMBIT__TYPES_TEXT "%s%s%s",
               name, type ? "; did you mean '" : "", type ? type : "", type ? "'?" : "");
}

bool ambit__at_wrong_type(const ambit__unit *u, size_t ahead)
{
  ambit__token_kind next;

  if (ambit__peek(u, ahead)->kind != TOKEN_NAME) return false;
  next = ambit__peek(u, ++ahead)->kind;
  if (next == TOKEN_word_const) next = ambit__peek(u, ++ahead)->kind;
  return next == TOKEN_NAME || (next == TOKEN_MUL && ambit__peek(u, ahead + 1)->kind == TOKEN_NAME);
}

bool ambit__at_wrong_cast(const ambit__unit *u)
{
  const bool stars = ambit__peek(u, 2)->kind == TOKEN_MUL;
  const ambit__token_kind behind = ambit__peek(u, 3)->kind;

  if (ambit__peek(u, 1)->kind != TOKEN_NAME) return false;
  if (stars) return behind == TOKEN_RPAREN;
  return ambit__peek(u, 2)->kind == TOKEN_RPAREN &&
         (behind == TOKEN_NAME || behind == TOKEN_NUMBER || behind == TOKEN_LPAREN);
}
