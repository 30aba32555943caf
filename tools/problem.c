/* SPDX-License-Identifier: BSD-3-Clause */
/* problem.c - from the command line to a kernel and its grid.
 */
#include "problem.h"

#include "base/spell.h"

#include "base/file.h"
#include "base/text.h"
#include "kernel/weights_file.h"
#include "runtime/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TEXT = 16 << 20 }; /* bytes of a weights file */

static int take_device(ambit *a, const char *name)
{
  return ambit_option_set(a, "devices", name) ? TOOL_USAGE : TOOL_OK;
}

int tool_problem_option(ambit *a, const tool_args *args, int id, const char *value, tool_problem *p)
{
  switch (id) {
  case OPT_SIZE: return tool_read_size(args, value, &p->size);
  case OPT_TYPE: p->is_typed = true; return tool_read_type(args, value, &p->type);
  case OPT_BOUNDARY: return tool_read_boundaries(args, value, &p->boundaries);
  case OPT_SET:
    if (p->nsettings == AMBIT_MAX_PARAMS)
      return tool_wrong(
          args, "--set is given more than %d times, the maximum number of parameters of a kernel",
          AMBIT_MAX_PARAMS);
    return tool_read_setting(args, value, &p->settings[p->nsettings++]);
  case OPT_DEVICE: return take_device(a, value);
  case OPT_STRICT: return ambit_option_set(a, "strict", "1") ? TOOL_USAGE : TOOL_OK;
  case OPT_THREADS: return ambit_option_set(a, "threads", value) ? TOOL_USAGE : TOOL_OK;
  default: return TOOL_USAGE;
  }
}

int tool_problem_word(const tool_args *args, const char *word, tool_problem *p)
{
  if (p->what) return tool_wrong(args, "two stencils, '%s' and '%s'; give one", p->what, word);
  p->what = word;
  return TOOL_OK;
}

/* ---- the kernel ---- */

/* A kernel name from a path: "forms/fast-5.weights" gives fast_5. */
static void name_of_file(const char *path, char name[64])
{
  const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
  size_t n = 0;

  for (; n < 63 && from[n] && from[n] != '.'; n++) {
    char c = from[n];
    bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

    name[n] = '_';
    if (fits) name[n] = c;
  }
  name[n] = '\0';
  if (!n) strcpy(name, "weights");
}

static ambit_kernel *load_weights(ambit *a, const char *path, ambit_type type)
{
  ambit_kernel *kernel = NULL;
  ambit_weights weights;
  char name[64], *text;

  if (ambit__file_read_text(&a->errors, path, MOST_TEXT, &text)) return NULL;
  if (!ambit__weights_parse(&a->errors, path, text, &weights)) {
    name_of_file(path, name);
    kernel = ambit_kernel_create_weighted(a, name, type, &weights);
    free((void *)weights.weights);
  }
  free(text);
  return kernel;
}

bool tool_is_kernel_file(const char *what)
{
  return ambit__ends_in(what, ".c");
}

static ambit_kernel *load(ambit *a, const char *what, ambit_type type)
{
  char file[TOOL_NAME_CHARS];
  ambit_kernel *k;

  if (tool_is_kernel_file(what))
    return (ambit__type_is_real(type) && ambit_define_real(a, type)) ? NULL
                                                                     : ambit_kernel_load(a, what);
  if (strpbrk(what, "./")) return load_weights(a, what, type);
  if ((k = ambit_kernel_create_named(a, what, type))) return k;
  snprintf(file, sizeof file, "%s.c", what);
  if (!access(file, R_OK))
    fprintf(tool_notes, "the kernel file %s is meant by its whole name\n", file);
  return NULL;
}

/* Sets the type of a kernel file's fields; it must match --type, if given. */
static int take_type(const tool_args *args, tool_problem *p)
{
  for (int i = 0; i < p->nparams; i++) {
    const ambit_param_info *q = &p->params[i];

    if (q->kind != AMBIT_PARAM_FIELD) continue;
    if (p->is_typed && q->type != p->type)
      return tool_wrong(args, "--type is %s, but '%s' of kernel %s in %s is %s; leave --type out",
                        ambit_type_name(p->type), q->name, ambit_kernel_name(p->kernel), p->what,
                        ambit_type_name(q->type));
    p->type = q->type;
    return TOOL_OK;
  }
  return tool_wrong(args, "kernel %s in %s has no field to run on", ambit_kernel_name(p->kernel),
                    p->what);
}

/* ---- size and boundaries ---- */

static void default_size(tool_size *size, int ndims)
{
  static const int64_t cells[AMBIT_MAX_DIMS] = {1048576, 1024, 128, 32, 16, 10};

  size->ndims = ndims;
  for (int d = 0; d < ndims; d++)
    size->extents[d] = cells[ndims - 1];
}

static int check_size(const tool_args *args, tool_problem *p)
{
  char text[TOOL_SIZE_CHARS];

  if (!p->size.ndims) default_size(&p->size, p->ndims ? p->ndims : 2);
  if (!p->ndims || p->ndims == p->size.ndims) return TOOL_OK;
  tool_print_size(&p->size, text);
  return tool_wrong(args, "%s has %d dimension%s, but the size %s has %d", p->what, p->ndims,
                    p->ndims == 1 ? "" : "s", text, p->size.ndims);
}

static int check_boundaries(const tool_args *args, tool_problem *p)
{
  tool_boundaries *b = &p->boundaries;

  if (!b->n) *b = (tool_boundaries){.n = 1, .kind = {{AMBIT_FIXED, AMBIT_FIXED}}};
  if (b->n != 1 && b->n != p->size.ndims)
    return tool_wrong(args,
                      "there are %d boundaries for %d ax%s; give one for all, or one per axis",
                      b->n, p->size.ndims, p->size.ndims == 1 ? "is" : "es");
  for (; b->n < p->size.ndims; b->n++) {
    memcpy(b->kind[b->n], b->kind[0], sizeof b->kind[0]);
    memcpy(b->value[b->n], b->value[0], sizeof b->value[0]);
  }
  return TOOL_OK;
}

int tool_problem_load(ambit *a, const tool_args *args, tool_problem *p)
{
  if (!p->what)
    return tool_wrong(args, "the stencil is missing; give a name of the catalogue (star2d1, "
                            "box3d1, 2d4), a kernel file (heat.c) or a weights file");
  if (!p->is_typed) p->type = AMBIT_F32;
  p->kernel = load(a, p->what, p->type);
  if (!p->kernel) return TOOL_FAILED;
  p->rule = p->kernel->rule;
  p->ndims = ambit_kernel_ndims(p->kernel);
  p->nparams = ambit_kernel_params(p->kernel);
  if (p->rule->uses_normal)
    return tool_wrong(args, "kernel %s uses normal(): only a program can apply it to faces",
                      ambit_kernel_name(p->kernel));
  for (int i = 0; i < p->nparams; i++) {
    p->params[i] = *ambit_kernel_param(p->kernel, i);
    if (p->params[i].kind == AMBIT_PARAM_TABLE)
      return tool_wrong(args, "'%s' of kernel %s is a table, which only a program can give",
                        p->params[i].name, ambit_kernel_name(p->kernel));
    if (p->params[i].kind == AMBIT_PARAM_REDUCTION && p->params[i].components > 1)
      return tool_wrong(args,
                        "'%s' of kernel %s takes a field on fewer axes: only a program has one",
                        p->params[i].name, ambit_kernel_name(p->kernel));
  }
  return tool_is_kernel_file(p->what) ? take_type(args, p) : TOOL_OK;
}

int tool_problem_mask(ambit *a, const tool_args *args, const char *path, tool_problem *p)
{
  if (p->size.ndims) return tool_wrong(args, "--mask has the size of the grid: leave out --size");
  p->sparse = ambit_grid_load_sparse(a, path);
  if (!p->sparse) return TOOL_FAILED;
  p->size.ndims = p->sparse->box.ndims;
  memcpy(p->size.extents, p->sparse->box.hi, sizeof p->size.extents);
  return TOOL_OK;
}

int tool_problem_shape(const tool_args *args, tool_problem *p)
{
  return check_size(args, p) ? TOOL_USAGE : check_boundaries(args, p);
}

void tool_problem_region(const tool_problem *p, int64_t *lo, int64_t *hi)
{
  for (int d = 0; d < p->size.ndims; d++) {
    lo[d] = 0;
    hi[d] = p->size.extents[d];
    for (int i = 0; i < p->nparams; i++) {
      const ambit_param_info *q = &p->params[i];
      const int64_t end = p->size.extents[d] - q->high[d];

      if (q->kind != AMBIT_PARAM_FIELD) continue;
      if (p->boundaries.kind[d][0] == AMBIT_FIXED && lo[d] < q->low[d]) lo[d] = q->low[d];
      if (p->boundaries.kind[d][1] == AMBIT_FIXED && hi[d] > end) hi[d] = end;
    }
    if (hi[d] < lo[d]) hi[d] = lo[d];
  }
}

/* ---- parameters ---- */

static int count_fields(const tool_problem *p)
{
  int n = 0;

  for (int i = 0; i < p->nparams; i++)
    n += p->params[i].kind == AMBIT_PARAM_FIELD;
  return n;
}

static bool find_fields(tool_problem *p)
{
  p->in = p->out = -1;
  for (int i = 0; i < p->nparams; i++)
    if (p->params[i].kind == AMBIT_PARAM_FIELD) *(p->params[i].is_written ? &p->out : &p->in) = i;
  if (count_fields(p) == 1) p->in = p->out = p->in < 0 ? p->out : p->in;
  return count_fields(p) <= 2 && p->in >= 0 && p->out >= 0;
}

static bool can_trade(const tool_problem *p)
{
  const ambit_param_info *in = &p->params[p->in], *out = &p->params[p->out];

  return in->type == out->type && in->components == out->components;
}

static int bind_fields(const tool_args *args, tool_problem *p)
{
  if (!find_fields(p))
    return tool_wrong(
        args,
        "kernel %s has %d fields. The tool runs kernels with one field that is read and one that "
        "is written, or with a single field; others need a C program (ambit.h)",
        ambit_kernel_name(p->kernel), count_fields(p));
  if (!can_trade(p))
    return tool_wrong(args,
                      "kernel %s: '%s' and '%s' are swapped after every iteration, so they must "
                      "have the same type and the same number of components",
                      ambit_kernel_name(p->kernel), p->params[p->in].name, p->params[p->out].name);
  return TOOL_OK;
}

const tool_setting *tool_find_setting(const tool_problem *p, const char *name)
{
  for (int i = p->nsettings; i-- > 0;)
    if (!strcmp(p->settings[i].name, name)) return &p->settings[i];
  return NULL;
}

/* The notation for values of parameters in a command: an option, or a word of the problem line. */
static const char *how_to_set(const tool_args *args)
{
  for (const tool_option *o = args->options; o && o->name; o++)
    if (o->id == OPT_SET) return "--set ";
  return "";
}

/* Checks that every plain parameter has a value. */
static int check_missing(const tool_args *args, const tool_problem *p)
{
  ambit__text missing = {0};
  int n = 0;

  for (int i = 0; i < p->nparams; i++) {
    const ambit_param_info *q = &p->params[i];

    if (q->kind != AMBIT_PARAM_VALUE || tool_find_setting(p, q->name)) continue;
    ambit__print(&missing, " %s%s=...", how_to_set(args), q->name);
    n++;
  }
  if (n)
    tool_wrong(args, "kernel %s has %d parameter%s without a value; add%s",
               ambit_kernel_name(p->kernel), n, n == 1 ? "" : "s",
               missing.chars ? missing.chars : "");
  ambit__text_free(&missing);
  return n ? TOOL_USAGE : TOOL_OK;
}

/* The parameter of a kind that has a name. -1: there is none, and a message says so. */
static int find_param(const tool_args *args, const tool_problem *p, ambit_param_kind kind,
                      const char *what, const char *advice, const char *name)
{
  ambit__guess guess = ambit__guess_start(name);

  for (int i = 0; i < p->nparams; i++) {
    if (p->params[i].kind != kind) continue;
    if (!strcmp(p->params[i].name, name)) return i;
    ambit__guess_offer(&guess, p->params[i].name);
  }
  tool_wrong(args, "kernel %s has no %s '%s'%s%s%s", ambit_kernel_name(p->kernel), what, name,
             guess.best ? "; did you mean '" : "", guess.best ? guess.best : advice,
             guess.best ? "'?" : "");
  return -1;
}

int tool_problem_reduction(const tool_args *args, const tool_problem *p, const char *name)
{
  return find_param(args, p, AMBIT_PARAM_REDUCTION, "reduction",
                    "; one is a parameter such as max float *change", name);
}

/* Checks that every value belongs to a plain parameter. */
static int check_surplus(const tool_args *args, const tool_problem *p)
{
  for (int i = 0; i < p->nsettings; i++)
    if (find_param(args, p, AMBIT_PARAM_VALUE, "plain parameter", "", p->settings[i].name) < 0)
      return TOOL_USAGE;
  return TOOL_OK;
}

int tool_problem_bind(const tool_args *args, tool_problem *p)
{
  if (bind_fields(args, p) || check_surplus(args, p)) return TOOL_USAGE;
  return check_missing(args, p);
}

bool tool_problem_try_bind(tool_problem *p)
{
  if (!find_fields(p) || !can_trade(p)) return false;
  for (int i = 0; i < p->nparams; i++) {
    const ambit_param_info *q = &p->params[i];
    unsigned axes;

    if (q->is_written && q->reads_neighbours && !ambit__rule_colour(p->rule, i, &axes))
      return false;
    if (q->kind != AMBIT_PARAM_VALUE || tool_find_setting(p, q->name)) continue;
    snprintf(p->settings[p->nsettings].name, sizeof p->settings[0].name, "%s", q->name);
    p->settings[p->nsettings++].value = 1;
  }
  return true;
}
