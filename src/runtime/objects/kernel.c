/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c - kernels from text, files, weights and the catalogue. */
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/number.h"
#include "runtime/objects/objects.h"

#include <inttypes.h>
#include <math.h>
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
  if (!ambit__kernel_describe(k)) return k;
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
  free(k->infos);
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
              "kernel %s: parameter '%s' is a table; give ambit_arg_table(values, type, %" PRId64
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

bool ambit__kernel_is_complete(const ambit_kernel *k)
{
  return !ambit__kernel_tables(k) && !ambit__kernel_needs_normal(k) && !k->rule->wants_axes;
}

static ambit_status bind(const ambit_kernel *k, ambit__rule *rule, const ambit_arg *args,
                         ambit_arg *others)
{
  for (int i = 0, tables = 0; i < rule->nparams + rule->ntables; i++)
    if (tables < rule->ntables && rule->tables[tables].position == i)
      AMBIT_TRY(check_table(k, &rule->tables[tables++], &args[i]));
    else
      others[i - tables] = args[i];
  return set_tables(rule, &k->context->errors, args);
}

ambit_status ambit__kernel_bind(const ambit_kernel *k, const ambit_arg *args, const int *normal,
                                int axes, unsigned onto, ambit_arg *others, ambit_kernel **bound)
{
  ambit__rule *rule;
  ambit_status s;

  AMBIT_TRY(ambit__rule_copy(&k->context->errors, k->rule, axes, onto, &rule));
  s = bind(k, rule, args, others);
  if (s) {
    ambit__rule_free(rule);
    return s;
  }
  rule->has_normal |= rule->uses_normal;
  if (rule->uses_normal) memcpy(rule->normal, normal, sizeof rule->normal);
  *bound = make(k->context, rule, false);
  return *bound ? AMBIT_OK : k->context->errors.status;
}

/* Checks the other kernels of a text, so that their mistakes are found at once. */
static ambit_status check_others(ambit *a, const ambit__rule *rule, ambit__reading how)
{
  for (int i = 1; i < rule->nkernels; i++) {
    ambit__rule *other;

    how.name = rule->kernels[i];
    AMBIT_TRY(ambit__rule_read(&a->errors, &how, &other));
    ambit__rule_free(other);
  }
  return AMBIT_OK;
}

static ambit_kernel *create(ambit *a, const char *file, const char *text, const ambit_type *real)
{
  const ambit__reading how = {.file = file,
                              .text = text,
                              .real = real,
                              .axes = -1,
                              .ndefines = (int)a->ndefines,
                              .defines = a->defines};
  ambit__rule *rule = NULL;
  ambit_kernel *k;

  if (ambit__rule_read(&a->errors, &how, &rule)) return NULL;
  if (check_others(a, rule, how)) {
    ambit__rule_free(rule);
    return NULL;
  }
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

ambit_kernel *ambit_kernel_find(const ambit_kernel *k, const char *name)
{
  ambit__text all = {0};
  ambit__rule *rule;
  char *list;

  if (!k || ambit__failed(k->context)) return NULL;
  for (int i = 0; name && i < k->rule->nkernels; i++) {
    ambit__reading how = ambit__rule_reading(k->rule);

    if (strcmp(k->rule->kernels[i], name) != 0) continue;
    how.name = name;
    return ambit__rule_read(&k->context->errors, &how, &rule) ? NULL
                                                              : make(k->context, rule, false);
  }
  for (int i = 0; i < k->rule->nkernels; i++)
    ambit__print(&all, "%s%s", i ? ", " : "", k->rule->kernels[i]);
  list = ambit__text_finish(&all);
  ambit__raise(&k->context->errors, AMBIT_EINVAL,
               "there is no kernel '%s' in %s; its kernels are %s", name ? name : "(null)",
               k->rule->file, list ? list : "");
  free(list);
  return NULL;
}

/* ---- constants of the program ---- */

static bool is_word(const char *name)
{
  static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

  return name && *name && strspn(name, letters) == strlen(name) && !(*name >= '0' && *name <= '9');
}

ambit_status ambit_define(ambit *a, const char *name, ambit_type type, double value)
{
  ambit__define d = {.type = type};
  char text[AMBIT__NUMBER_CHARS];

  if (ambit__failed(a)) return a ? a->errors.status : AMBIT_EINVAL;
  AMBIT_CHECK(is_word(name), &a->errors, AMBIT_EINVAL,
              "'%s' cannot be the name of a constant of kernels; a name is letters, digits and _",
              name ? name : "(null)");
  AMBIT_CHECK(ambit_type_size(type) && !ambit__type_is_half(type), &a->errors, AMBIT_EINVAL,
              "the constant %s has the type %s; give float, double or an integer type", name,
              ambit_type_name(type));
  d.value = ambit__value_of(value, type);
  ambit__number_show(text, value);
  AMBIT_CHECK(ambit__type_is_real(type) ||
                  (fabs(value) <= 0x1p53 && ambit__value_number(d.value, type) == value),
              &a->errors, AMBIT_EINVAL,
              "the constant %s is %s, which is no value of type %s, or beyond 2^53: give it "
              "another type, or write it into the text",
              name, text, ambit_type_name(type));
  AMBIT_TRY(
      ambit__make_room(&a->errors, &a->defines, a->ndefines, &a->defines_cap, sizeof *a->defines));
  d.name = ambit__strdup(&a->errors, name);
  if (!d.name) return AMBIT_ENOMEM;
  a->defines[a->ndefines++] = d;
  return AMBIT_OK;
}

void ambit__defines_free(ambit *a)
{
  for (size_t i = 0; i < a->ndefines; i++)
    free((char *)a->defines[i].name);
  free(a->defines);
}

ambit_status ambit_define_real(ambit *a, ambit_type type)
{
  if (ambit__failed(a)) return a ? a->errors.status : AMBIT_EINVAL;
  AMBIT_CHECK(ambit__type_is_real(type), &a->errors, AMBIT_EINVAL,
              "the type 'real' of kernels cannot be %s; it can be float, double, half or bfloat",
              ambit_type_name(type));
  a->real = type;
  a->has_real = true;
  return AMBIT_OK;
}

static ambit_status check_given(ambit *a, const char *text, const char *what)
{
  AMBIT_CHECK(text, &a->errors, AMBIT_EINVAL, "the %s is NULL", what);
  return AMBIT_OK;
}

ambit_kernel *ambit_kernel_create(ambit *a, const char *text)
{
  if (ambit__failed(a) || check_given(a, text, "text of a kernel")) return NULL;
  return create(a, "kernel", text, a->has_real ? &a->real : NULL);
}

ambit_kernel *ambit_kernel_load(ambit *a, const char *path)
{
  ambit_kernel *k;
  char *text;

  if (ambit__failed(a) || check_given(a, path, "path of a kernel file")) return NULL;
  if (ambit__file_read_text(&a->errors, path, MOST_TEXT, &text)) return NULL;
  k = create(a, path, text, a->has_real ? &a->real : NULL);
  free(text);
  return k;
}

ambit_kernel *ambit_kernel_create_weighted(ambit *a, const char *name, ambit_type type,
                                           const ambit_weights *weights)
{
  ambit_kernel *k;
  char *text;

  if (ambit__failed(a) || ambit__weights_text(&a->errors, name, type, weights, &text)) return NULL;
  k = create(a, "weights", text, NULL);
  free(text);
  return k;
}

ambit_kernel *ambit_kernel_create_named(ambit *a, const char *name, ambit_type type)
{
  ambit_weights weights;
  ambit_kernel *k;

  if (ambit__failed(a) || check_given(a, name, "name of a catalogue stencil")) return NULL;
  if (ambit__catalogue_find(&a->errors, name, &weights)) return NULL;
  k = ambit_kernel_create_weighted(a, name, type, &weights);
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
