/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c - kernels from text, files, weights and the catalogue. */
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 16 << 20 }; /* bytes of a kernel file */

/* Takes the rule, unless it is borrowed. */
static ambit_kernel *make(ambit *a, ambit__rule *rule, bool borrowed)
{
  ambit_kernel *k = ambit__new(&a->errors, 1, sizeof *k);

  if (!k) {
    if (!borrowed) ambit__rule_free(rule);
    return NULL;
  }
  k->context = a;
  k->rule = rule;
  k->borrowed = borrowed;
  ambit__list_add(&a->kernels, &k->link, k);
  if (!ambit__kernel_list_offsets(k)) return k;
  ambit_kernel_destroy(k);
  return NULL;
}

ambit_kernel *ambit__kernel_adopt(ambit *a, ambit__rule *rule)
{
  return make(a, rule, false);
}

ambit_kernel *ambit__kernel_borrow(ambit *a, const ambit_kernel *k)
{
  return ambit__failed(a) ? NULL : make(a, k->rule, true);
}

void ambit__kernel_free(ambit_kernel *k)
{
  if (!k) return;
  ambit__list_remove(&k->link);
  if (!k->borrowed) ambit__rule_free(k->rule);
  free(k->offsets);
  free(k);
}

/* ---- tables and normals ---- */

int ambit__kernel_tables(const ambit_kernel *k)
{
  int n = 0;

  for (int i = 0; i < k->rule->ntables; i++)
    n += !k->rule->tables[i].values;
  return n;
}

static ambit_status check_table(const ambit_kernel *k, const ambit__table *t, const ambit_arg *arg)
{
  const int64_t rows = t->naxes == 2 ? t->size[0] : 1;
  const int64_t columns = t->naxes == 2 ? t->size[1] : t->size[0];

  AMBIT_CHECK(arg->kind == AMBIT_ARG_TABLE, &k->context->errors, AMBIT_EINVAL,
              "kernel %s: parameter '%s' is a table; give ambit_table(values, type, %" PRId64
              ", %" PRId64 ")",
              k->rule->name, t->label, rows, columns);
  AMBIT_CHECK(arg->table && ambit_type_size(arg->type), &k->context->errors, AMBIT_EINVAL,
              "kernel %s: the table for '%s' has no values or no valid type", k->rule->name,
              t->label);
  AMBIT_CHECK(arg->rows == rows && arg->columns == columns, &k->context->errors, AMBIT_EINVAL,
              "kernel %s: the table '%s' has %" PRId64 " x %" PRId64
              " values, but %d x %d were given",
              k->rule->name, t->label, rows, columns, arg->rows, arg->columns);
  return AMBIT_OK;
}

static ambit_status set_tables(ambit__rule *rule, ambit__errors *errors, const ambit_arg *args)
{
  for (int i = 0; i < rule->ntables; i++) {
    const ambit_arg *arg = &args[rule->tables[i].position];

    AMBIT_TRY(ambit__table_set(errors, rule, i, arg->table, arg->type));
  }
  return AMBIT_OK;
}

bool ambit__kernel_needs_normal(const ambit_kernel *k)
{
  return k->rule->uses_normal && !k->rule->has_normal;
}

static void set_normal(ambit__rule *rule, const int *normal)
{
  rule->has_normal = true;
  memcpy(rule->normal, normal, sizeof rule->normal);
}

ambit_status ambit__kernel_bind(const ambit_kernel *k, const ambit_arg *args, const int *normal,
                                ambit_arg *others, ambit_kernel **bound)
{
  ambit__rule *rule;
  ambit_status s;

  for (int i = 0, tables = 0; i < k->rule->nparams + k->rule->ntables; i++)
    if (tables < k->rule->ntables && k->rule->tables[tables].position == i)
      AMBIT_TRY(check_table(k, &k->rule->tables[tables++], &args[i]));
    else
      others[i - tables] = args[i];
  AMBIT_TRY(ambit__rule_copy(&k->context->errors, k->rule, &rule));
  s = set_tables(rule, &k->context->errors, args);
  if (s) {
    ambit__rule_free(rule);
    return s;
  }
  if (rule->uses_normal) set_normal(rule, normal);
  *bound = make(k->context, rule, false);
  return *bound ? AMBIT_OK : k->context->errors.status;
}

static ambit_kernel *create(ambit *a, const char *file, const char *text, const ambit_type *real)
{
  ambit__rule *rule = NULL;
  ambit_kernel *k;

  if (real ? ambit__rule_parse_real(&a->errors, file, text, *real, &rule)
           : ambit__rule_parse(&a->errors, file, text, &rule))
    return NULL;
  k = make(a, rule, false);
  if (!k) return NULL;
  if (rule->mixes_double)
    ambit__log(&a->settings, 1,
               "kernel %s computes in double though its fields are float: a literal such as 0.25 "
               "is a double, "
               "0.25f a float",
               rule->name);
  return k;
}

static ambit_kernel *create_from_text(ambit *a, const char *text, const ambit_type *real)
{
  if (ambit__failed(a)) return NULL;
  if (!text) {
    ambit__raise(&a->errors, AMBIT_EINVAL, "the text of a kernel is NULL");
    return NULL;
  }
  return create(a, "kernel", text, real);
}

ambit_kernel *ambit_kernel_create(ambit *a, const char *text)
{
  return create_from_text(a, text, NULL);
}

ambit_kernel *ambit_kernel_create_real(ambit *a, const char *text, ambit_type real)
{
  return create_from_text(a, text, &real);
}

static ambit_kernel *create_from_file(ambit *a, const char *path, const ambit_type *real)
{
  ambit_kernel *k;
  char *text;

  if (ambit__failed(a)) return NULL;
  if (!path) {
    ambit__raise(&a->errors, AMBIT_EINVAL, "the path of a kernel file is NULL");
    return NULL;
  }
  if (ambit__file_read_text(&a->errors, path, MOST_TEXT, &text)) return NULL;
  k = create(a, path, text, real);
  free(text);
  return k;
}

ambit_kernel *ambit_kernel_load(ambit *a, const char *path)
{
  return create_from_file(a, path, NULL);
}

ambit_kernel *ambit_kernel_load_real(ambit *a, const char *path, ambit_type real)
{
  return create_from_file(a, path, &real);
}

ambit_kernel *ambit_kernel_from_weights(ambit *a, const char *name, ambit_type type,
                                        const ambit_weights *weights)
{
  ambit_kernel *k;
  char *text;

  if (ambit__failed(a) || ambit__weights_text(&a->errors, name, type, weights, &text)) return NULL;
  k = create(a, "weights", text, NULL);
  free(text);
  return k;
}

ambit_kernel *ambit_kernel_from_catalogue(ambit *a, const char *name, ambit_type type)
{
  ambit_weights weights;
  ambit_kernel *k;

  if (ambit__failed(a)) return NULL;
  if (!name) {
    ambit__raise(&a->errors, AMBIT_EINVAL, "the name of a catalogue stencil is NULL");
    return NULL;
  }
  if (ambit__catalogue_find(&a->errors, name, &weights)) return NULL;
  k = ambit_kernel_from_weights(a, name, type, &weights);
  free((void *)weights.weights);
  return k;
}

void ambit_kernel_destroy(ambit_kernel *k)
{
  if (!k || ambit__object_check_unused(k->context, k, "kernel", ambit_kernel_name(k))) return;
  ambit__object_gone(k->context, k);
  ambit__kernel_free(k);
}

const char *ambit_kernel_name(const ambit_kernel *k)
{
  return k ? k->rule->name : "";
}
