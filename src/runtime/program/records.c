/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c - rows of numbers, on devices while programs run and in host memory for users.
 *
 * Each engine has some rows in its memory. Steps store to them, or read from them, without the
 * host. Before iterations that need later rows, these go to host memory, and later ones take their
 * place. An engine sets only the numbers of its own points, and all others are 0, so that the bits
 * of all engines and processes together are the row.
 */
#include "base/memory.h"
#include "runtime/program/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_BYTES = 1 << 20, MOST_BYTES = 64 << 20 }; /* of rows on an engine */

/* ---- places and counts ---- */

int64_t ambit__record_place(const ambit_record *r)
{
  return r->by ? r->by->iteration / r->every + r->shift : r->at;
}

int64_t ambit__record_count(const ambit_record *r)
{
  return r->writes ? ambit__record_place(r) : r->rows;
}

/* The record is used by nobody, at this place. */
static void release(ambit_record *r, int64_t place)
{
  r->rows = ambit__record_count(r);
  r->at = place;
  r->by = NULL;
  r->writes = false;
}

/* ---- the iterations of rows ---- */

/* From this row on, iterations are counted like this. */
ambit_status ambit__record_stretch(ambit_record *r, ambit__stretch s)
{
  ambit__stretch *all = r->stretches, *last;

  while (r->nstretches && all[r->nstretches - 1].first >= s.first)
    r->nstretches--;
  last = r->nstretches ? &all[r->nstretches - 1] : NULL;
  if (last && last->every == s.every && last->shift == s.shift) return AMBIT_OK;
  if (!(r->nstretches & (r->nstretches - 1))) { /* room for 1, 2, 4, ... */
    const size_t room = r->nstretches ? 2 * (size_t)r->nstretches : 1;

    all = realloc(all, room * sizeof *all);
    AMBIT_CHECK(all, &r->context->errors, AMBIT_ENOMEM, "no memory for the rows of record '%s'",
                r->name);
    r->stretches = all;
  }
  all[r->nstretches++] = s;
  return AMBIT_OK;
}

int64_t ambit__record_iteration(const ambit_record *r, int64_t row)
{
  int64_t lo = 0, hi = r->nstretches; /* the last stretch that begins at or before the row */

  while (lo < hi) {
    const int64_t mid = (lo + hi) / 2;

    if (r->stretches[mid].first <= row)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? (row - r->stretches[lo - 1].shift + 1) * r->stretches[lo - 1].every : 0;
}

static void drop_device_rows(ambit_record *r)
{
  for (int e = 0; r->device_rows && e < r->context->nengines; e++) {
    ambit__device *dev = r->context->engines[e].device;

    if (r->device_rows[e]) ambit__ask(dev, release, r->device_rows[e]);
  }
  free(r->device_rows);
  r->device_rows = NULL;
  r->room = 0;
}

/* ---- from devices to the host ---- */

static ambit_status reserve(ambit_record *r, int64_t rows)
{
  double *values;
  int64_t cap = r->cap;

  if (rows <= cap) return AMBIT_OK;
  while (cap < rows)
    cap = cap ? 2 * cap : 64;
  AMBIT_NEW(&r->context->errors, values, (size_t)(cap * r->columns));
  if (r->kept) memcpy(values, r->values, (size_t)(r->kept * r->columns) * sizeof *values);
  free(r->values);
  r->values = values;
  r->cap = cap;
  return AMBIT_OK;
}

static void unite(unsigned char *to, const unsigned char *from, size_t n)
{
  for (size_t i = 0; i < n; i++)
    to[i] |= from[i];
}

static void widen(const void *from, ambit_type type, double *to, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    to[i] = type == AMBIT_F32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

/* Reads the first rows of all engines into `all`; `one` is as large. */
static ambit_status read_device_rows(ambit_record *r, unsigned char *all, unsigned char *one,
                                     size_t n)
{
  for (int e = 0; e < r->context->nengines; e++) {
    const ambit__engine *engine = &r->context->engines[e];

    AMBIT_TRY(ambit__do(engine->queue, get, e ? one : all, r->device_rows[e], n));
    if (e) unite(all, one, n);
  }
  return AMBIT_OK;
}

/* Brings the rows that steps have sampled to the host. They stay on the devices. */
static ambit_status drain(ambit_record *r)
{
  const int64_t rows = ambit__record_count(r), n = rows - r->first;
  const size_t bytes = (size_t)(n > 0 ? n * r->columns : 0) * ambit_type_size(r->type);
  unsigned char *all;
  ambit_status s;

  if (!r->writes || rows <= r->kept || !r->device_rows || n <= 0) return AMBIT_OK;
  AMBIT_TRY(reserve(r, rows));
  all = ambit__new(&r->context->errors, 2 * bytes, 1);
  if (!all) return AMBIT_ENOMEM;
  s = read_device_rows(r, all, all + bytes, bytes);
  if (!s) widen(all, r->type, r->values + r->first * r->columns, n * r->columns);
  free(all);
  AMBIT_TRY(s);
  if (r->complete > r->first) r->complete = r->first;
  r->kept = rows;
  return AMBIT_OK;
}

ambit_status ambit__record_collect(ambit_record *r)
{
  ambit__net *net = r->context->net;
  int64_t first, n;
  unsigned char *all;
  size_t bytes;
  ambit_status s;

  drain(r);
  AMBIT_TRY(ambit__net_agree(net));
  first = r->complete;
  n = r->kept - first;
  if (net->size == 1) r->complete = r->kept;
  if (net->size == 1 || n <= 0) return AMBIT_OK;
  bytes = (size_t)(n * r->columns) * sizeof *r->values;
  all = ambit__new(&r->context->errors, bytes * (size_t)net->size, 1);
  AMBIT_TRY(ambit__net_agree(net));
  s = ambit__net_gather(net, r->values + first * r->columns, bytes, all);
  for (int i = 0; !s && i < net->size; i++)
    unite((unsigned char *)(r->values + first * r->columns), all + bytes * (size_t)i, bytes);
  free(all);
  if (!s) r->complete = r->kept;
  return s;
}

/* ---- from the host to devices ---- */

static void narrow(const double *from, ambit_type type, void *to, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (type == AMBIT_F32)
      ((float *)to)[i] = (float)from[i];
    else
      ((double *)to)[i] = from[i];
}

/* The rows of a series; those beyond its end are 0. */
static ambit_status load_device_rows(ambit_record *r)
{
  const size_t bytes = (size_t)(r->room * r->columns) * ambit_type_size(r->type);
  const int64_t there = r->kept < r->first + r->room ? r->kept - r->first : r->room;
  unsigned char *rows = ambit__new(&r->context->errors, bytes, 1);
  ambit_status s = AMBIT_OK;

  if (!rows) return AMBIT_ENOMEM;
  if (there > 0) narrow(r->values + r->first * r->columns, r->type, rows, there * r->columns);
  for (int e = 0; !s && e < r->context->nengines; e++) {
    const ambit__engine *engine = &r->context->engines[e];

    s = ambit__do(engine->queue, put, r->device_rows[e], rows, bytes);
    if (!s) s = ambit__do(engine->queue, wait, NULL);
  }
  free(rows);
  return s;
}

/* ---- rows on devices ---- */

static int64_t room_for(const ambit_record *r, int64_t rows)
{
  const int64_t bytes = r->columns * (int64_t)ambit_type_size(r->type);
  const int64_t least = LEAST_BYTES / bytes, most = MOST_BYTES / bytes;
  int64_t room = rows > least ? rows : least;

  if (room > most) room = most;
  return room < 1 ? 1 : room;
}

static ambit_status open_device_rows(ambit_record *r, int64_t first, int64_t room)
{
  ambit *a = r->context;

  drop_device_rows(r);
  AMBIT_NEW(&a->errors, r->device_rows, (size_t)a->nengines);
  for (int e = 0; e < a->nengines; e++) {
    ambit__device *dev = a->engines[e].device;

    AMBIT_TRY(ambit__ask(dev, alloc, (size_t)(room * r->columns) * ambit_type_size(r->type), NULL,
                         &r->device_rows[e]));
  }
  r->first = first;
  r->room = room;
  return AMBIT_OK;
}

/* Provides memory for `rows` rows from the place of the record on, or for some of them. */
static ambit_status provide(ambit_record *r, int64_t rows)
{
  const int64_t place = ambit__record_place(r);
  const bool inside = r->device_rows && place >= r->first;

  if (inside && place + rows <= r->first + r->room) return AMBIT_OK;
  if (inside && place < r->first + r->room && rows > room_for(r, rows)) return AMBIT_OK;
  AMBIT_TRY(drain(r));
  AMBIT_TRY(open_device_rows(r, place, room_for(r, rows)));
  return r->writes ? AMBIT_OK : load_device_rows(r);
}

/* The program takes the record, to go on at its place. */
static ambit_status bind(ambit_program *p, ambit_record *r, int64_t every, bool writes)
{
  const int64_t place = ambit__record_place(r);

  if (r->by == p && r->every == every && r->writes == writes) return AMBIT_OK;
  if (r->writes != writes) {
    AMBIT_TRY(ambit__record_collect(r));
    release(r, place);
    drop_device_rows(r);
    if (writes && r->kept > place) r->kept = r->complete = place;
  }
  AMBIT_CHECK(writes || r->rows, &r->context->errors, AMBIT_EPROGRAM,
              "record '%s' is injected and has no rows: write them with ambit_record_write, before "
              "the run",
              r->name);
  if (writes && r->kept < place) { /* it was injected beyond its end */
    AMBIT_TRY(reserve(r, place));
    memset(r->values + r->kept * r->columns, 0,
           (size_t)((place - r->kept) * r->columns) * sizeof *r->values);
    r->kept = r->complete = place;
  }
  r->by = p;
  r->every = every;
  r->shift = place - p->iteration / every;
  r->writes = writes;
  return writes ? ambit__record_stretch(r, (ambit__stretch){place, every, r->shift}) : AMBIT_OK;
}

/* The rows of a step that uses the record. */
static void set_chore(const ambit__step *s)
{
  const ambit_record *r = s->chore->record;

  for (int e = 0; e < r->context->nengines; e++) {
    ambit__chore *t = &s->chore->on[e];

    t->rows = r->device_rows[e];
    t->type = r->type;
    t->columns = r->columns;
    t->room = r->room;
    t->shift = r->shift - r->first;
  }
}

static ambit_status ready_step(ambit_program *p, const ambit__step *s, int64_t *n)
{
  ambit_record *r = s->chore->record;
  const int64_t done = p->iteration / s->every;
  int64_t most;

  for (int e = 0; e < p->grid->context->nengines; e++)
    s->chore->on[e].every = s->every;
  if (!r) return AMBIT_OK;
  AMBIT_TRY(bind(p, r, s->every, s->chore->kind != CHORE_INJECT));
  AMBIT_TRY(provide(r, (p->iteration + *n) / s->every - done));
  most = (done + r->first + r->room - ambit__record_place(r) + 1) * s->every - 1 - p->iteration;
  if (most < *n) *n = most;
  set_chore(s);
  return AMBIT_OK;
}

ambit_status ambit__records_ready(ambit_program *p, int64_t *n)
{
  for (size_t i = 0; i < p->nwritten; i++)
    if (p->written[i].chore) AMBIT_TRY(ready_step(p, &p->written[i], n));
  return AMBIT_OK;
}

void ambit__records_leave(const ambit_program *p)
{
  for (ambit__link *l = p->grid->context->records.next; l->owner; l = l->next) {
    ambit_record *r = l->owner;

    if (r->by != p) continue;
    drain(r);
    release(r, ambit__record_place(r));
  }
}

/* ---- calls ---- */

static bool failed(const ambit_record *r)
{
  return !r || ambit__failed(r->context);
}

static ambit_status status_of(const ambit_record *r)
{
  return r ? r->context->errors.status : AMBIT_EINVAL;
}

ambit_record *ambit_record_create(ambit *a, const char *name)
{
  ambit_record *r;

  if (ambit__failed(a)) return NULL;
  if (!name || !*name) {
    ambit__raise(&a->errors, AMBIT_EINVAL, "a record needs a name");
    return NULL;
  }
  if (ambit__engines_open(a)) return NULL;
  r = ambit__new(&a->errors, 1, sizeof *r);
  if (!r) return NULL;
  r->context = a;
  r->every = 1;
  r->name = ambit__strdup(&a->errors, name);
  ambit__list_add(&a->records, &r->link, r);
  if (r->name) return r;
  ambit_record_destroy(r);
  return NULL;
}

void ambit_record_destroy(ambit_record *r)
{
  if (!r || ambit__object_check_unused(r->context, r, "record", r->name ? r->name : "")) return;
  ambit__object_gone(r->context, r);
  drop_device_rows(r);
  ambit__list_remove(&r->link);
  free(r->values);
  free(r->stretches);
  free(r->name);
  free(r);
}

const char *ambit_record_name(const ambit_record *r)
{
  return r ? r->name : "";
}

int64_t ambit_record_rows(const ambit_record *r)
{
  int64_t rows;

  if (!r || ambit__failed(r->context)) return 0;
  if (!ambit__journal_replay(&r->context->errors, &r->context->journal, ENTRY_RECORD, &rows,
                             sizeof rows)) {
    rows = ambit__record_count(r);
    ambit__journal_record(&r->context->journal, ENTRY_RECORD, &rows, sizeof rows);
  }
  return rows;
}

int64_t ambit_record_columns(const ambit_record *r)
{
  return r ? r->columns : 0;
}

ambit_status ambit__record_set(ambit_record *r, int64_t rows, int64_t columns, const double *values,
                               int64_t place)
{
  drop_device_rows(r);
  release(r, place);
  r->kept = r->complete = r->rows = r->nstretches = 0;
  if (r->columns != columns) r->cap = 0;
  r->columns = columns;
  AMBIT_TRY(reserve(r, rows));
  if (rows) memcpy(r->values, values, (size_t)(rows * columns) * sizeof *values);
  r->kept = r->complete = r->rows = rows;
  return AMBIT_OK;
}

static bool is_used(const ambit_record *r)
{
  const ambit *a = r->context;

  for (const ambit__link *l = a->grids.next; l->owner; l = l->next)
    for (const ambit__link *i = ((ambit_grid *)l->owner)->programs.next; i->owner; i = i->next) {
      const ambit_program *p = i->owner;

      for (size_t k = 0; k < p->nwritten; k++)
        if (p->written[k].chore && p->written[k].chore->record == r) return true;
    }
  return false;
}

ambit_status ambit_record_write(ambit_record *r, int64_t rows, int64_t columns,
                                const double *values)
{
  if (failed(r)) return status_of(r);
  AMBIT_CHECK(rows >= 0 && columns >= 1 && (values || !rows), &r->context->errors, AMBIT_EINVAL,
              "record '%s' cannot have %lld rows and %lld columns: use 0 rows or more, of 1 column "
              "or more, and an array of them",
              r->name, (long long)rows, (long long)columns);
  AMBIT_CHECK(columns == r->columns || !is_used(r), &r->context->errors, AMBIT_EPROGRAM,
              "record '%s' has %lld columns for a step of a program, and cannot have %lld", r->name,
              (long long)r->columns, (long long)columns);
  return ambit__record_set(r, rows, columns, values, 0);
}

ambit_status ambit_record_rewind(ambit_record *r)
{
  if (failed(r)) return status_of(r);
  AMBIT_TRY(ambit__record_collect(r));
  drop_device_rows(r);
  release(r, 0);
  return AMBIT_OK;
}

static ambit_status check_rows(const ambit_record *r, int64_t first, int64_t rows,
                               const void *array)
{
  const int64_t count = ambit__record_count(r);

  AMBIT_CHECK(array || !rows, &r->context->errors, AMBIT_EINVAL,
              "rows of record '%s' cannot be read: the array is NULL", r->name);
  AMBIT_CHECK(first >= 0 && rows >= 0 && first <= count && rows <= count - first,
              &r->context->errors, AMBIT_EINVAL,
              "%lld rows of record '%s' from row %lld on cannot be read: it has %lld",
              (long long)rows, r->name, (long long)first, (long long)count);
  return AMBIT_OK;
}

ambit_status ambit_record_read(ambit_record *r, int64_t first, int64_t rows, double *values)
{
  char doing[96];
  ambit__journal *journal;
  size_t bytes;

  if (!r) return AMBIT_EINVAL;
  journal = &r->context->journal;
  bytes = (size_t)rows * (size_t)r->columns * sizeof *values;
  snprintf(doing, sizeof doing, "reads %" PRId64 " rows from %" PRId64 " of record '%.20s'", rows,
           first, r->name);
  AMBIT_TRY(ambit__meet(r->context, doing));
  if (rows >= 0 && (values || !bytes) &&
      ambit__journal_replay(&r->context->errors, journal, ENTRY_RECORD, values, bytes))
    return r->context->errors.status;
  AMBIT_TRY(ambit__record_collect(r));
  AMBIT_TRY(check_rows(r, first, rows, values));
  if (bytes) memcpy(values, r->values + first * r->columns, bytes);
  ambit__journal_record(journal, ENTRY_RECORD, values, bytes);
  return AMBIT_OK;
}

ambit_status ambit_record_iterations(ambit_record *r, int64_t first, int64_t rows,
                                     int64_t *iterations)
{
  ambit__journal *journal;
  size_t bytes;

  if (failed(r)) return status_of(r);
  journal = &r->context->journal;
  bytes = (size_t)rows * sizeof *iterations;
  if (rows >= 0 && (iterations || !rows) &&
      ambit__journal_replay(&r->context->errors, journal, ENTRY_RECORD, iterations, bytes))
    return r->context->errors.status;
  AMBIT_TRY(check_rows(r, first, rows, iterations));
  for (int64_t i = 0; i < rows; i++)
    iterations[i] = ambit__record_iteration(r, first + i);
  ambit__journal_record(journal, ENTRY_RECORD, iterations, bytes);
  return AMBIT_OK;
}
