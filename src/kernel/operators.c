/* SPDX-License-Identifier: BSD-3-Clause */
/* operators.c - binary operators: spelling, precedence, exchange of operands. */
#include "kernel/ast.h"

static const ambit__operator operators[] = {
    {TOKEN_LOR, TOKEN_END, EXPR_LOR, "||", 1},     {TOKEN_LAND, TOKEN_END, EXPR_LAND, "&&", 2},
    {TOKEN_OR, TOKEN_OR_SET, EXPR_OR, "|", 3},     {TOKEN_XOR, TOKEN_XOR_SET, EXPR_XOR, "^", 4},
    {TOKEN_AND, TOKEN_AND_SET, EXPR_AND, "&", 5},  {TOKEN_EQ, TOKEN_END, EXPR_EQ, "==", 6},
    {TOKEN_NE, TOKEN_END, EXPR_NE, "!=", 6},       {TOKEN_LT, TOKEN_END, EXPR_LT, "<", 7},
    {TOKEN_LE, TOKEN_END, EXPR_LE, "<=", 7},       {TOKEN_GT, TOKEN_END, EXPR_GT, ">", 7},
    {TOKEN_GE, TOKEN_END, EXPR_GE, ">=", 7},       {TOKEN_SHL, TOKEN_SHL_SET, EXPR_SHL, "<<", 8},
    {TOKEN_SHR, TOKEN_SHR_SET, EXPR_SHR, ">>", 8}, {TOKEN_ADD, TOKEN_ADD_SET, EXPR_ADD, "+", 9},
    {TOKEN_SUB, TOKEN_SUB_SET, EXPR_SUB, "-", 9},  {TOKEN_MUL, TOKEN_MUL_SET, EXPR_MUL, "*", 10},
    {TOKEN_DIV, TOKEN_DIV_SET, EXPR_DIV, "/", 10}, {TOKEN_MOD, TOKEN_MOD_SET, EXPR_MOD, "%", 10},
};

enum { COUNT = sizeof operators / sizeof *operators };

const ambit__operator *ambit__operator_of(ambit__op op)
{
  for (int i = 0; i < COUNT; i++)
    if (operators[i].op == op) return &operators[i];
  return NULL;
}

const ambit__operator *ambit__operator_sign(ambit__token_kind sign)
{
  for (int i = 0; i < COUNT; i++)
    if (operators[i].sign == sign) return &operators[i];
  return NULL;
}

const ambit__operator *ambit__operator_set(ambit__token_kind set)
{
  for (int i = 0; i < COUNT; i++)
    if (operators[i].set == set && set != TOKEN_END) return &operators[i];
  return NULL;
}

ambit__op ambit__op_mirrored(ambit__op op)
{
  switch (op) {
  case EXPR_LT: return EXPR_GT;
  case EXPR_LE: return EXPR_GE;
  case EXPR_GT: return EXPR_LT;
  case EXPR_GE: return EXPR_LE;
  default: return op;
  }
}
