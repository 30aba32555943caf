/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.c - reductions by a function of the user. The function is kept as the trees of its body,
 * apart from those of the kernel: it has two parameters and locals, and no cell. */
#include "kernel/ast.h"

#include <string.h>

ambit__value ambit__folder_call(const ambit__folder *f, ambit__value a, ambit__value b)
{
  ambit__value locals[AMBIT_MAX_FOLDER] = {a, b};
  const ambit__evaluator v = {.locals = locals};

  ambit__value value;

  ambit__evaluate_all(&v, f->body);
  value = ambit__evaluate(&v, f->value);
  if (ambit__type_is_real(f->type)) value.real += 0.0; /* -0.0 becomes 0.0 */
  return value;
}

bool ambit__folder_same(const ambit__folder *a, const ambit__folder *b)
{
  ambit__text t[2] = {{0}, {0}};
  bool same;

  if (a == b) return true;
  ambit__folder_print(a, "f", &t[0]);
  ambit__folder_print(b, "f", &t[1]);
  ambit__literal_print(&t[0], a->identity, a->type);
  ambit__literal_print(&t[1], b->identity, b->type);
  same = !t[0].failed && !t[1].failed && !strcmp(t[0].chars, t[1].chars);
  ambit__text_free(&t[0]);
  ambit__text_free(&t[1]);
  return same;
}
