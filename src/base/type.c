/* SPDX-License-Identifier: BSD-3-Clause */
/* type.c - sizes and names of value types; the version. */
#include "ambit.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

const char *ambit_version(void)
{
  return TEXT(AMBIT_VERSION_MAJOR) "." TEXT(AMBIT_VERSION_MINOR) "." TEXT(AMBIT_VERSION_PATCH);
}

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
