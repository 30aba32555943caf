/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c - the description of a context, to tell programs apart; and its counts and flags.
 *
 * Objects are numbered in the order of their creation, which is the same in every run of a program.
 * Forms of programs that Ambit makes for itself do not count.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/program/faces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 2 }; /* of the state */

/* ---- numbers of programs ---- */

/* The next program of the user after `p`; NULL: the first, or none. */
static ambit_program *next_program(const ambit *a, const ambit_program *p)
{
  const ambit__link *g = p ? &p->grid->link : a->grids.next;
  const ambit__link *l = p ? p->link.next : g->owner ? ((ambit_grid *)g->owner)->programs.next : g;

  while (g->owner) {
    for (; l->owner; l = l->next)
      if (!((ambit_program *)l->owner)->lean_of) return l->owner;
    g = g->next;
    if (g->owner) l = ((ambit_grid *)g->owner)->programs.next;
  }
  return NULL;
}

int64_t ambit__program_number(const ambit_program *p)
{
  int64_t n = 0;

  for (const ambit_program *q = next_program(p->grid->context, NULL); q && q != p;
       q = next_program(p->grid->context, q))
    n++;
  return n;
}

/* NULL: none has it. */
static ambit_program *program_by_number(const ambit *a, int64_t number)
{
  ambit_program *p = next_program(a, NULL);

  for (; p && number > 0; number--)
    p = next_program(a, p);
  return p;
}

/* ---- the description ---- */

static void describe_grid(const ambit_grid *g, int number, ambit__text *t)
{
  ambit__print(t, "grid %d has ", number);
  for (int d = 0; d < g->box.ndims; d++)
    ambit__print(t, "%s%" PRId64, d ? "x" : "", g->box.hi[d]);
  ambit__print(t, "%s cells\n", g->active ? " sparse" : "");
  for (const ambit__link *l = g->fields.next; l->owner; l = l->next) {
    const ambit_field *f = l->owner;

    if (f->is_activity) continue;
    ambit__print(t, "grid %d has a %s '%s' of type %s", number, f->base ? "view" : "field", f->name,
                 ambit_type_name(f->type));
    if (f->components > 1) ambit__print(t, "[%d]", f->components);
    for (int d = 0; f->dropped && d < g->box.ndims; d++)
      if (!(f->dropped >> d & 1)) ambit__print(t, " on axis %d", d);
    ambit__print(t, "\n");
  }
}

/* A hash of the kernel's text and of all digits of the numbers. */
static bool hash_step(const ambit__step *s, char hex[AMBIT__HASH_CHARS])
{
  char *text = s->kind == STEP_APPLY ? ambit__rule_print(s->kernel->rule) : NULL;
  ambit__hash h;

  ambit__hash_init(&h);
  for (int i = 0; i < s->n; i++)
    ambit__hash_bytes(&h, &s->args[i].number, sizeof s->args[i].number);
  ambit__hash_bytes(&h, s->shift, sizeof s->shift);
  if (text) ambit__hash_text(&h, text);
  if (s->chore) ambit__chore_hash(s->chore, &h);
  free(text);
  ambit__hash_hex(&h, hex);
  return text || s->kind != STEP_APPLY;
}

static void describe_program(const ambit_program *p, int number, ambit__text *t)
{
  char hex[AMBIT__HASH_CHARS];

  for (size_t i = 0; i < p->nwritten; i++) {
    const ambit__step s = ambit__program_written(p, i);

    ambit__print(t, "in program %d ", number);
    ambit__step_describe(&s, (int)i, t);
    t->failed |= !hash_step(&s, hex);
    ambit__print(t, " #%.8s\n", hex);
  }
}

static void hash_list(ambit__hash *h, const ambit__link *list)
{
  for (const ambit__link *l = list->next; l->owner; l = l->next)
    ambit__hash_bytes(h, &l->owner, sizeof l->owner);
}

void ambit__state_shape(const ambit *a, char shape[AMBIT__HASH_CHARS])
{
  ambit__hash h;

  ambit__hash_init(&h);
  hash_list(&h, &a->grids);
  hash_list(&h, &a->scalars);
  hash_list(&h, &a->records);
  for (const ambit__link *l = a->grids.next; l->owner; l = l->next)
    hash_list(&h, &((ambit_grid *)l->owner)->fields);
  for (const ambit_program *p = next_program(a, NULL); p; p = next_program(a, p)) {
    ambit__hash_bytes(&h, &p, sizeof p);
    ambit__hash_bytes(&h, &p->nwritten, sizeof p->nwritten);
  }
  ambit__hash_hex(&h, shape);
}

ambit_status ambit__state_describe(ambit *a, char **text)
{
  const ambit__checkpoint *c = a->checkpoint;
  ambit__text t = {0};
  int n = 1;

  for (const ambit__link *l = a->grids.next; l->owner; l = l->next)
    describe_grid(l->owner, n++, &t);
  for (const ambit__link *l = a->scalars.next; l->owner; l = l->next) {
    const ambit_scalar *s = l->owner;

    ambit__print(&t, "there is a scalar '%s' of type %s\n", s->name, ambit_type_name(s->type));
  }
  for (const ambit__link *l = a->records.next; l->owner; l = l->next)
    ambit__print(&t, "there is a record '%s'\n", ((const ambit_record *)l->owner)->name);
  for (size_t i = 0; i < c->nvalues; i++)
    ambit__print(&t, "there is a value '%s' of %zu bytes\n", c->values[i].name, c->values[i].bytes);
  n = 1;
  for (const ambit_program *p = next_program(a, NULL); p; p = next_program(a, p))
    describe_program(p, n++, &t);
  *text = ambit__text_finish(&t);
  AMBIT_CHECK(*text, &a->errors, AMBIT_ENOMEM, "out of memory for the description of a checkpoint");
  return AMBIT_OK;
}

static int line_length(const char *text)
{
  return (int)strcspn(text, "\n");
}

ambit_status ambit__state_compare(ambit *a, const char *path, const char *there, const char *here)
{
  while (*there && *here) {
    const int n = line_length(there), m = line_length(here);

    if (n != m || memcmp(there, here, (size_t)n)) break;
    there += n + (there[n] == '\n');
    here += m + (here[m] == '\n');
  }
  if (!*there && !*here) return AMBIT_OK;
  return ambit__raise(&a->errors, AMBIT_EPROGRAM,
                      "%s is the checkpoint of another program: there, %.*s; here, %.*s. To begin "
                      "anew, use another file or --ambit-resume=no; to take all fields and scalars "
                      "that fit, use --ambit-resume=any",
                      path, *there ? line_length(there) : 12, *there ? there : "nothing else",
                      *here ? line_length(here) : 12, *here ? here : "nothing else");
}

/* ---- progress of programs ---- */

static void put_progress(const ambit_program *p, ambit__tape *t)
{
  ambit__tape_put_number(t, ambit__program_number(p));
  ambit__tape_put_number(t, p->iteration);
  ambit__tape_put_number(t, p->converged);
}

void ambit__progress_put(const ambit_program *p, ambit__tape *t)
{
  int64_t n = 0;

  for (const ambit_program *q = next_program(p->grid->context, NULL); q;
       q = next_program(p->grid->context, q))
    n += q == p || ambit__program_reaches(p, q);
  ambit__tape_put_number(t, n);
  for (const ambit_program *q = next_program(p->grid->context, NULL); q;
       q = next_program(p->grid->context, q))
    if (q == p || ambit__program_reaches(p, q)) put_progress(q, t);
}

void ambit__progress_get(const ambit *a, ambit__tape *t)
{
  for (int64_t n = ambit__tape_get_number(t); n > 0 && !t->failed; n--) {
    ambit_program *p = program_by_number(a, ambit__tape_get_number(t));
    const int64_t iteration = ambit__tape_get_number(t), converged = ambit__tape_get_number(t);

    if (!p) continue;
    p->iteration = iteration;
    p->converged = converged != 0;
  }
}

/* ---- the state ---- */

static void put_standing(const ambit__checkpoint *c, ambit__tape *t)
{
  ambit__tape_put_number(t, ambit__program_number(c->program));
  ambit__tape_put_number(t, c->standing.done);
  ambit__tape_put_number(t, c->standing.ended);
  ambit__tape_put_number(t, c->standing.unchecked);
  ambit__tape_put_number(t, c->standing.found);
}

static void put_field(const ambit_field *f, ambit__tape *t)
{
  ambit__tape_put_number(t, f->given | f->news << 1 | f->started << 2);
  ambit__tape_put(t, &f->boundaries, sizeof f->boundaries);
  ambit__tape_put_number(t, f->special ? f->components : 0);
  if (f->special) ambit__tape_put(t, f->special, (size_t)f->components * sizeof *f->special);
}

/* All its rows are in host memory. */
static void put_record(const ambit_record *r, ambit__tape *t)
{
  ambit__tape_put_number(t, r->columns);
  ambit__tape_put_number(t, ambit__record_place(r));
  ambit__tape_put_number(t, r->kept);
  ambit__tape_put(t, r->values, (size_t)(r->kept * r->columns) * sizeof *r->values);
}

static void put_stretches(const ambit_record *r, ambit__tape *t)
{
  ambit__tape_put_number(t, r->nstretches);
  ambit__tape_put(t, r->stretches, (size_t)r->nstretches * sizeof *r->stretches);
}

void ambit__state_put(ambit *a, ambit__tape *t)
{
  int64_t n = 0;

  ambit__tape_put_number(t, VERSION);
  ambit__tape_put_number(t, a->journal.is_full);
  put_standing(a->checkpoint, t);
  for (const ambit_program *p = next_program(a, NULL); p; p = next_program(a, p))
    n++;
  ambit__tape_put_number(t, n);
  for (const ambit_program *p = next_program(a, NULL); p; p = next_program(a, p))
    put_progress(p, t);
  ambit__tape_put_number(t, sizeof(ambit__boundaries));
  for (const ambit__link *g = a->grids.next; g->owner; g = g->next)
    for (const ambit__link *l = ((ambit_grid *)g->owner)->fields.next; l->owner; l = l->next)
      if (!((ambit_field *)l->owner)->is_activity) put_field(l->owner, t);
  for (const ambit__link *l = a->records.next; l->owner; l = l->next)
    put_record(l->owner, t);
  for (const ambit__link *l = a->records.next; l->owner; l = l->next)
    put_stretches(l->owner, t);
}

static bool are_same(const ambit_field *f, const ambit__boundaries *all,
                     const ambit__boundaries *special)
{
  bool same = ambit__boundaries_equal(&f->boundaries, all) && !f->special == !special;

  for (int c = 0; same && special && c < f->components; c++)
    same = ambit__boundaries_equal(&f->special[c], &special[c]);
  return same;
}

/* Boundaries may have been set in callbacks, which are not called again. */
static ambit_status get_boundaries(ambit_field *f, ambit__tape *t)
{
  ambit__boundaries all, *special = NULL;
  int64_t n;

  ambit__tape_get(t, &all, sizeof all);
  n = ambit__tape_get_number(t);
  if (n == f->components && f->components > 0 && !t->failed) {
    AMBIT_NEW(ambit__field_errors(f), special, (size_t)n);
    ambit__tape_get(t, special, (size_t)n * sizeof *special);
  }
  if (t->failed || are_same(f, &all, special)) {
    free(special);
    return AMBIT_OK;
  }
  free(f->special);
  f->special = special;
  f->boundaries = all;
  ambit__grid_changed(f->grid);
  return AMBIT_OK;
}

static ambit_status get_field(ambit_field *f, ambit__tape *t)
{
  const int64_t flags = ambit__tape_get_number(t);

  f->given = flags & 1;
  f->news = flags >> 1 & 1;
  f->started = flags >> 2 & 1;
  return get_boundaries(f, t);
}

static ambit_status get_fields(ambit *a, ambit__tape *t)
{
  for (const ambit__link *g = a->grids.next; g->owner; g = g->next)
    for (const ambit__link *l = ((ambit_grid *)g->owner)->fields.next; l->owner; l = l->next)
      if (!((ambit_field *)l->owner)->is_activity) AMBIT_TRY(get_field(l->owner, t));
  return AMBIT_OK;
}

static ambit_status get_record(ambit_record *r, ambit__tape *t)
{
  const int64_t columns = ambit__tape_get_number(t), place = ambit__tape_get_number(t);
  const int64_t rows = ambit__tape_get_number(t), most = (int64_t)((t->n - t->at) / sizeof(double));
  double *values;
  ambit_status s;

  t->failed |= columns < 0 || rows < 0 || (columns && rows > most / columns);
  if (t->failed) return AMBIT_OK;
  AMBIT_NEW(&r->context->errors, values, (size_t)(rows * columns) + 1);
  ambit__tape_get(t, values, (size_t)(rows * columns) * sizeof *values);
  s = columns ? ambit__record_set(r, rows, columns, values, place) : AMBIT_OK;
  free(values);
  return s;
}

static ambit_status get_stretches(ambit_record *r, ambit__tape *t)
{
  ambit__stretch s;

  for (int64_t n = ambit__tape_get_number(t); n > 0 && !t->failed; n--) {
    ambit__tape_get(t, &s, sizeof s);
    AMBIT_TRY(ambit__record_stretch(r, s));
  }
  return AMBIT_OK;
}

/* Files of versions without records, or without the iterations of rows, end before them. */
static ambit_status get_records(ambit *a, ambit__tape *t)
{
  for (const ambit__link *l = a->records.next; l->owner && t->at < t->n; l = l->next)
    AMBIT_TRY(get_record(l->owner, t));
  for (const ambit__link *l = a->records.next; l->owner && t->at < t->n; l = l->next)
    AMBIT_TRY(get_stretches(l->owner, t));
  return AMBIT_OK;
}

static void get_standing(const ambit *a, ambit__tape *t, ambit_program **program,
                         ambit__standing *at)
{
  *program = program_by_number(a, ambit__tape_get_number(t));
  at->done = ambit__tape_get_number(t);
  at->ended = ambit__tape_get_number(t) != 0;
  at->unchecked = ambit__tape_get_number(t);
  at->found = (int)ambit__tape_get_number(t);
}

ambit_status ambit__state_get(ambit *a, ambit__tape *t, ambit_program **program,
                              ambit__standing *at)
{
  ambit__checkpoint *c = a->checkpoint;
  int64_t version = ambit__tape_get_number(t);

  AMBIT_CHECK(version == VERSION, &a->errors, AMBIT_EUNSUPPORTED,
              "%s was written by another version of Ambit (format %" PRId64 ", not %d)", c->from,
              version, VERSION);
  ambit__tape_get_number(t); /* whether the journal is full */
  get_standing(a, t, program, at);
  ambit__progress_get(a, t);
  if (ambit__tape_get_number(t) == sizeof(ambit__boundaries) && !c->takes_any) {
    AMBIT_TRY(get_fields(a, t));
    AMBIT_TRY(get_records(a, t));
  }
  AMBIT_CHECK(!t->failed && *program, &a->errors, AMBIT_EIO, "the state in %s is incomplete",
              c->from);
  return AMBIT_OK;
}
