/* scalar.c - single values that kernels read and reductions write. */
#include "base/memory.h"
#include "runtime/runtime.h"

#include <math.h>
#include <stdlib.h>

ambit_scalar *ambit_scalar_create(ambit *a, const char *name, ambit_type type)
{
  ambit_scalar *s;

  if (ambit__failed(a)) return NULL;
  if (!name || !*name || !ambit_type_size(type)) {
    ambit__raise(&a->errors, AMBIT_EINVAL, "a scalar needs a name and a type, not '%s' and %d",
                 name ? name : "NULL", (int)type);
    return NULL;
  }
  if (ambit__context_device(a)) return NULL;
  s = ambit__new(&a->errors, 1, sizeof *s);
  if (!s) return NULL;
  s->context = a;
  s->type = type;
  s->name = ambit__strdup(&a->errors, name);
  ambit__list_add(&a->scalars, &s->link, s);
  if (!s->name || a->device->backend->alloc(a->device, sizeof(double), NULL, &s->value)) {
    ambit_scalar_destroy(s);
    return NULL;
  }
  return s;
}

void ambit_scalar_destroy(ambit_scalar *s)
{
  if (!s) return;
  ambit__programs_forget(s->context, s);
  if (s->value) s->context->device->backend->release(s->context->device, s->value);
  ambit__list_remove(&s->link);
  free(s->name);
  free(s);
}

ambit_status ambit_scalar_set(ambit_scalar *s, double value)
{
  unsigned char bytes[sizeof(double)] = {0};

  if (!s || ambit__failed(s->context)) return s ? s->context->errors.status : AMBIT_EINVAL;
  ambit__value_store(bytes, s->type, ambit__value_of(value, s->type));
  return s->context->device->backend->put(s->context->queue, s->value, bytes, sizeof bytes);
}

double ambit_scalar_get(ambit_scalar *s)
{
  unsigned char bytes[sizeof(double)];

  if (!s || ambit__failed(s->context)) return NAN;
  if (s->context->device->backend->get(s->context->queue, bytes, s->value, sizeof bytes))
    return NAN;
  return ambit__value_number(ambit__value_load(bytes, s->type), s->type);
}
