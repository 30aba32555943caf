/* SPDX-License-Identifier: BSD-3-Clause */
/* scalar.c - single values that kernels read and reductions write. */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <math.h>
#include <stdlib.h>

/* Allocates the value on every engine. */
static ambit_status make_values(ambit *a, ambit__buffer ***values)
{
  AMBIT_NEW(&a->errors, *values, (size_t)a->nengines);
  for (int i = 0; i < a->nengines; i++) {
    ambit__device *dev = a->engines[i].device;

    AMBIT_TRY(ambit__ask(dev, alloc, sizeof(ambit__scalar_bytes), NULL, &(*values)[i]));
  }
  return AMBIT_OK;
}

void ambit__scalar_free(ambit_scalar *s)
{
  if (!s) return;
  for (int i = 0; s->values && i < s->context->nengines; i++) {
    ambit__device *dev = s->context->engines[i].device;

    if (s->values[i]) ambit__ask(dev, release, s->values[i]);
  }
  free(s->values);
  free(s->name);
  free(s);
}

ambit_scalar *ambit__scalar_make(ambit *a, const char *name, ambit_type type)
{
  ambit_scalar *s = ambit__new(&a->errors, 1, sizeof *s);

  if (!s) return NULL;
  s->context = a;
  s->type = type;
  s->name = ambit__strdup(&a->errors, name);
  if (s->name && !make_values(a, &s->values)) return s;
  ambit__scalar_free(s);
  return NULL;
}

ambit_scalar *ambit_scalar_create(ambit *a, const char *name, ambit_type type)
{
  ambit_scalar *s;

  if (ambit__failed(a)) return NULL;
  if (!name || !*name || !ambit_type_size(type)) {
    ambit__raise(&a->errors, AMBIT_EINVAL, "a scalar needs a name and a type, not '%s' and %d",
                 name ? name : "NULL", (int)type);
    return NULL;
  }
  if (ambit__type_is_half(type)) {
    ambit__raise(&a->errors, AMBIT_EINVAL,
                 "the scalar '%s' cannot be %s, which is a type of fields; use AMBIT_F32", name,
                 ambit_type_name(type));
    return NULL;
  }
  if (ambit__engines_open(a)) return NULL;
  s = ambit__scalar_make(a, name, type);
  if (s) ambit__list_add(&a->scalars, &s->link, s);
  return s;
}

void ambit_scalar_destroy(ambit_scalar *s)
{
  if (!s || ambit__object_check_unused(s->context, s, "scalar", s->name ? s->name : "")) return;
  ambit__object_gone(s->context, s);
  ambit__faces_forget(s->context, s);
  ambit__list_remove(&s->link);
  ambit__scalar_free(s);
}

ambit_status ambit_scalar_set(ambit_scalar *s, double value)
{
  unsigned char bytes[sizeof(double)] = {0};

  if (!s || ambit__failed(s->context)) return s ? s->context->errors.status : AMBIT_EINVAL;
  AMBIT_TRY(ambit__value_check(&s->context->errors, value, s->type,
                               ", or use a scalar of type AMBIT_F64", "scalar '%s'", s->name));
  ambit__value_store(bytes, s->type, ambit__value_of(value, s->type));
  return ambit__scalar_put(s, bytes);
}

ambit_status ambit__scalar_put(ambit_scalar *s, const void *bytes)
{
  for (int i = 0; i < s->context->nengines; i++) {
    const ambit__engine *e = &s->context->engines[i];

    AMBIT_TRY(ambit__do(e->queue, put, s->values[i], bytes, sizeof(double)));
  }
  return AMBIT_OK;
}

ambit_status ambit__scalar_take(ambit_scalar *s, int engine, void *bytes)
{
  const ambit__engine *e = &s->context->engines[engine];

  return ambit__do(e->queue, get, bytes, s->values[engine], sizeof(double));
}

ambit_status ambit__scalar_share(ambit_scalar *s)
{
  ambit__scalar_bytes all;

  for (int i = 0; i < s->context->nengines; i++) {
    const ambit__engine *e = &s->context->engines[i];

    AMBIT_TRY(i ? ambit__do(e->queue, put, s->values[i], &all, sizeof all)
                : ambit__do(e->queue, get, &all, s->values[i], sizeof all));
  }
  return AMBIT_OK;
}

double ambit_scalar_get(ambit_scalar *s)
{
  unsigned char bytes[sizeof(double)];

  if (!s || ambit__failed(s->context)) return NAN;
  if (!ambit__journal_replay(&s->context->errors, &s->context->journal, ENTRY_SCALAR, bytes,
                             sizeof bytes)) {
    if (ambit__scalar_take(s, 0, bytes)) return NAN;
    ambit__journal_record(&s->context->journal, ENTRY_SCALAR, bytes, sizeof bytes);
  }
  return ambit__value_number(ambit__value_load(bytes, s->type), s->type);
}
