/* SPDX-License-Identifier: BSD-3-Clause */
/* type.c - sizes and names of value types. */
#include "ambit.h"

size_t ambit_type_size(ambit_type t)
{
  switch (t) {
#define X(name, value, ctype, text)                                                                \
  case AMBIT_##name: return sizeof(ctype);
    AMBIT_TYPE_MAP(X)
#undef X
  }
  return 0;
}

const char *ambit_type_name(ambit_type t)
{
  switch (t) {
#define X(name, value, ctype, text)                                                                \
  case AMBIT_##name: return text;
    AMBIT_TYPE_MAP(X)
#undef X
  }
  return "unknown";
}
