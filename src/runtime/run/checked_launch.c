/* SPDX-License-Identifier: BSD-3-Clause */
/* checked_launch.c - checked launches: the option `nan`, and access checks.
 *
 * A launch has a fault record (device/faults.h), which is armed before it and read after it;
 * reading waits for the launch. Faults are kept until the end of the iteration, because steps are
 * split into pieces and other processes wait for messages. Then the first fault, by step and cell,
 * becomes an error (fault_message.c). With `nan`, unset memory holds a distinct NaN (poison), so
 * that its use is detected.
 *
 * Registered functions cannot be instrumented: their results are searched for NaN after the launch.
 */
#include "runtime/run/checked_launch.h"
#include "base/log.h"
#include "base/memory.h"
#include "device/faults.h"
#include "nest/checked.h"
#include "runtime/run/access.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first fault of this iteration. */
typedef struct fault {
  bool any;
  int step, part; /* the part is of this process */
  int64_t words[AMBIT_FAULT_WORDS + AMBIT_MAX_PARAMS * AMBIT__LIMIT_WORDS]; /* the record */
} fault;

struct ambit__checker {
  /* By part of this process, the record of its current launch; on a sparse grid, with the cells of
   * its positions. NULL: not used yet. */
  ambit__buffer **records;
  bool told; /* the log names a kernel that cannot be instrumented */
  fault first;
};

static ambit *context(const ambit_program *p)
{
  return p->grid->context;
}

/* ---- faults ---- */

/* Whether a record of a step precedes the first fault. Cells of a sweep are in its order; that of a
 * total is INT64_MAX. */
static bool is_first(const fault *first, int step, int sweep, const int64_t *words)
{
  const int64_t *a = words + AMBIT_FAULT_CELL, *b = first->words + AMBIT_FAULT_CELL;
  const int axis = ambit__sweep_axis(sweep);

  if (!first->any || step != first->step) return !first->any || step < first->step;
  if (sweep && a[axis] != b[axis] && a[0] < INT64_MAX && b[0] < INT64_MAX)
    return (a[axis] < b[axis]) == (sweep > 0);
  for (int d = 0; d < AMBIT_FAULT_AXES; d++)
    if (a[d] != b[d]) return a[d] < b[d];
  return false;
}

static void keep(ambit_program *p, int step, int part, const int64_t *words, int nargs)
{
  fault *first = &p->checker->first;

  if (!words[AMBIT_FAULT_KIND] || !is_first(first, step, p->steps[step].sweep, words)) return;
  *first = (fault){.any = true, .step = step, .part = part};
  memcpy(first->words, words, ambit__faults_bytes(nargs));
}

/* Finds reductions with the result NaN, after all cells. */
static ambit_status find_totals(ambit_program *p)
{
  for (size_t k = 0; k < p->nsteps; k++) {
    const ambit__step *s = &p->steps[k];

    for (int i = 0; s->kind == STEP_APPLY && i < s->n; i++) {
      const ambit__param *q = &s->kernel->rule->params[i];
      int64_t words[AMBIT_FAULT_WORDS] = {
          [AMBIT_FAULT_KIND] = AMBIT__FAULT_TOTAL, [AMBIT_FAULT_ACCESS] = i};
      unsigned char value[sizeof(double)];

      if (q->kind != PARAM_REDUCE || !ambit__type_is_real(q->type)) continue;
      AMBIT_TRY(ambit__scalar_take(s->args[i].scalar, 0, value));
      if (!isnan(ambit__value_load(value, q->type).real)) continue;
      words[AMBIT_FAULT_CELL] = INT64_MAX;
      keep(p, (int)k, 0, words, 0);
    }
  }
  return AMBIT_OK;
}

static void raise_first(ambit_program *p)
{
  const fault *f = &p->checker->first;
  char *message = ambit__fault_message(p, f->step, f->part, f->words);

  ambit__raise(&context(p)->errors, AMBIT_EPROGRAM, "%s",
               message ? message : "a check failed; not enough memory to report which");
  free(message);
}

ambit_status ambit__checked_end(ambit_program *p)
{
  ambit *a = context(p);

  if (!p->checker) return AMBIT_OK;
  if (a->settings.nan) AMBIT_TRY(find_totals(p));
  if (p->checker->first.any) raise_first(p);
  p->checker->first.any = false;
  return a->errors.status;
}

/* ---- functions that cannot be instrumented ---- */

/* Finds the first NaN in the values of a piece of a box. */
static void search_piece(const ambit__layout *l, const ambit__box *piece, const bool *searched,
                         int first_write, const unsigned char *values, int64_t *words)
{
  const size_t size = ambit_type_size(l->type);
  int64_t n = ambit__box_volume(piece);

  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < l->components; c++, values += size) {
      int64_t rest = i;

      if (!searched[c] || !isnan(ambit__value_load(values, l->type).real)) continue;
      words[AMBIT_FAULT_KIND] = AMBIT_FAULT_NAN;
      words[AMBIT_FAULT_ACCESS] = first_write + c;
      for (int d = piece->ndims - 1; d >= 0; rest /= piece->hi[d] - piece->lo[d], d--)
        words[AMBIT_FAULT_CELL + d] = piece->lo[d] + rest % (piece->hi[d] - piece->lo[d]);
      return;
    }
}

/* Searches the results of a launch in one field. */
static ambit_status search_field(ambit_field *f, int part, const ambit__rule *rule, int param,
                                 const ambit__box *box, int64_t *words)
{
  ambit__engine *e = ambit__engine_of(f->grid, part);
  const int64_t most = ambit__field_piece_cells(f);
  unsigned char *values = ambit__field_piece_new(f);
  ambit_status s = values ? AMBIT_OK : AMBIT_ENOMEM;
  ambit__box piece;

  ambit__box_first_piece(box, most, &piece);
  if (!s) do {
      s = ambit__do(e->queue, read, values, &f->stores[part], &piece);
      if (!s)
        search_piece(&f->stores[part].layout, &piece, rule->params[param].writes,
                     ambit__checked_write(rule, param, 0), values, words);
    } while (!s && !words[AMBIT_FAULT_KIND] && ambit__box_next_piece(box, most, &piece));
  free(values);
  return s;
}

/* Components that a cell may keep are not searched: old and new values cannot be told apart. */
static bool writes_all(const ambit__param *q)
{
  for (int c = 0; c < q->components; c++)
    if (q->keeps[c]) return false;
  return q->is_written;
}

static ambit_status search_results(const ambit__step *s, int part, const ambit__box *box,
                                   int64_t *words)
{
  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];

    if (q->kind == PARAM_FIELD && s->args[i].field && ambit__type_is_real(q->type) &&
        writes_all(q) && !words[AMBIT_FAULT_KIND] && !ambit__box_is_empty(box))
      AMBIT_TRY(search_field(s->args[i].field, part, s->kernel->rule, i, box, words));
  }
  return AMBIT_OK;
}

/* ---- launches ---- */

static ambit_status make_record(ambit_program *p, int part, ambit__buffer **record)
{
  const ambit__engine *e = ambit__engine_of(p->grid, part);
  const size_t bytes = ambit__faults_bytes(AMBIT_MAX_PARAMS) + ambit__access_bytes(p, part);
  unsigned char *words = ambit__new(&context(p)->errors, bytes, 1);
  ambit_status s = words ? AMBIT_OK : AMBIT_ENOMEM;

  if (!s) s = ambit__hold_buffer(p, p->grid->placement.engine[part], bytes, record);
  if (!s) {
    ambit__access_places(p, part, words + ambit__faults_bytes(AMBIT_MAX_PARAMS));
    s = ambit__do(e->queue, put, *record, words, bytes);
  }
  free(words);
  return s;
}

/* The record of a part, made on first use. */
static ambit_status take_record(ambit_program *p, int part, ambit__buffer **buffer)
{
  if (!p->checker) {
    AMBIT_HOLD(p, p->checker, 1);
    AMBIT_HOLD(p, p->checker->records, (size_t)p->grid->placement.n);
  }
  if (!p->checker->records[part]) AMBIT_TRY(make_record(p, part, &p->checker->records[part]));
  *buffer = p->checker->records[part];
  return AMBIT_OK;
}

static void tell_unchecked(ambit_program *p, const ambit__rule *rule)
{
  if (p->checker->told) return;
  p->checker->told = true;
  ambit__log(&context(p)->settings, 0,
             "kernel %s is a registered function, which cannot be instrumented: only the boxes of "
             "its launches and its results can be checked",
             rule->name);
}

/* Launches a function that cannot be instrumented, if its accesses are valid. */
static ambit_status launch_unchecked(ambit_program *p, int step, int part, const ambit__launch *l,
                                     int64_t *words)
{
  const ambit__step *s = &p->steps[step];
  const ambit__engine *e = ambit__engine_of(p->grid, part);
  const ambit__apply *apply = &p->applies[step];

  ambit__access_foresee_step(p, step, l, words);
  if (words[AMBIT_FAULT_KIND]) return AMBIT_OK;
  AMBIT_TRY(ambit__do(e->queue, launch, apply->functions[p->grid->placement.engine[part]], l));
  return apply->checks & AMBIT__CHECK_NAN ? search_results(s, part, &l->box, words) : AMBIT_OK;
}

static ambit_status launch_checked(const ambit__engine *e, ambit__function *fn,
                                   const ambit__launch *l, int64_t *words)
{
  const size_t bytes = ambit__faults_bytes(l->nargs);

  AMBIT_TRY(ambit__do(e->queue, put, l->faults, words, bytes));
  AMBIT_TRY(ambit__do(e->queue, launch, fn, l));
  return ambit__do(e->queue, get, words, l->faults, bytes);
}

ambit_status ambit__checked_launch(ambit_program *p, int step, int part, ambit__launch *l)
{
  ambit *a = context(p);
  const int engine = p->grid->placement.engine[part];
  ambit__function *fn = p->applies[step].functions[engine];
  ambit__argument args[AMBIT_MAX_PARAMS];
  int64_t words[AMBIT_FAULT_WORDS + AMBIT_MAX_PARAMS * AMBIT__LIMIT_WORDS];

  AMBIT_TRY(take_record(p, part, &l->faults));
  memcpy(args, l->args, (size_t)l->nargs * sizeof *args);
  ambit__access_bound(p, step, part, args);
  l->args = args;
  ambit__faults_arm(l, words);
  if (!fn->checked) tell_unchecked(p, p->steps[step].kernel->rule);
  if (fn->checked)
    AMBIT_TRY(launch_checked(&a->engines[engine], fn, l, words));
  else
    AMBIT_TRY(launch_unchecked(p, step, part, l, words));
  keep(p, step, part, words, l->nargs);
  return AMBIT_OK;
}
