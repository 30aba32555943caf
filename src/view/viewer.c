/* SPDX-License-Identifier: BSD-3-Clause */
/* viewer.c - the observer that takes pictures between iterations, and pauses.
 *
 * Process 0 decides, and all processes follow its order: whether to take a picture now, of what,
 * and how many iterations to run then. A look without a picture costs the broadcast of an order,
 * and with one process next to nothing.
 */
#include "view/viewer.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAME_SECONDS (1.0 / 30)
#define HURRY_SECONDS 0.5 /* after a command pictures come at once */
#define AWAY_SECONDS  2.0 /* nobody looks, if no picture was wanted for so long */

typedef struct lookout {
  ambit__observer head; /* first */
  ambit__viewer *viewer;
  const ambit_program *program;
  ambit_field *field; /* of ambit_view: the one to show at first; NULL: any */
  bool is_new;        /* it has not been shown yet */
  int64_t n;          /* iterations to the next look */
} lookout;

/* From process 0 to all. */
typedef struct order {
  bool off;     /* nobody looks any more, and nobody will */
  bool picture; /* take one, of */
  bool waits;   /* then expect another order */
  int rows, columns;
  int64_t n;       /* iterations to run */
  int64_t changes; /* of the viewer */
  ambit__sight sight;
} order;

/* ---- pictures ---- */

ambit__picture ambit__frame_picture(const ambit__frame *f, const ambit__picture_options *style)
{
  ambit__picture p = {.width = f->pixels.columns,
                      .height = f->pixels.rows,
                      .values = f->pixels.values,
                      .averaged = f->pixels.block > 1,
                      .zoom_x = 1,
                      .zoom_y = 1};

  if (f->pixels.lo <= f->pixels.hi) {
    p.lo = f->pixels.lo;
    p.hi = f->pixels.hi;
  }
  ambit__picture_span(&p, style);
  return p;
}

static void print_left(double seconds, char *text, size_t size)
{
  const int64_t s = (int64_t)(seconds + 0.5);

  if (s >= 3600)
    snprintf(text, size, "%" PRId64 ":%02d:%02d left", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
  else
    snprintf(text, size, "%d:%02d left", (int)(s / 60), (int)(s % 60));
}

bool ambit__frame_is_held(const ambit__viewer *v, const ambit__frame *f)
{
  return v->paused && v->held == f->iteration;
}

void ambit__frame_status(const ambit__viewer *v, const ambit__frame *f, char *text, size_t size)
{
  char parts[7][96];
  int n = 0;
  size_t used = 0;

  ambit__sight_print(&v->scene, &f->sight, parts[n++], sizeof *parts);
  if (f->goal)
    snprintf(parts[n++], sizeof *parts, "%" PRId64 " of %" PRId64, f->iteration, f->goal);
  else
    snprintf(parts[n++], sizeof *parts, "iteration %" PRId64, f->iteration);
  if (f->ended || v->paused)
    snprintf(parts[n++], sizeof *parts, "%s",
             f->ended                     ? "ended"
             : ambit__frame_is_held(v, f) ? "paused"
                                          : "pausing");
  if (f->pixels.lo <= f->pixels.hi)
    snprintf(parts[n++], sizeof *parts, "%.4g to %.4g", f->pixels.lo, f->pixels.hi);
  if (f->cells > 0) snprintf(parts[n++], sizeof *parts, "%.3g Gcells/s", f->cells / 1e9);
  if (f->share > 0) snprintf(parts[n++], sizeof *parts, "%.0f %% of copy", 100 * f->share);
  if (f->goal > f->iteration && f->per_second > 0 && !v->paused)
    print_left((double)(f->goal - f->iteration) / f->per_second, parts[n++], sizeof *parts);
  *text = '\0';
  for (int i = 0; i < n; i++) {
    const size_t length = strlen(parts[i]) + (i ? 2 : 0);

    if (used + length >= size) continue; /* a shorter one may fit */
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "  " : "", parts[i]);
  }
}

/* A point of every picture, of every second one, ...: as many as there is room for. */
static void add_point(ambit__viewer *v)
{
  const ambit__frame *f = &v->frame;
  ambit__point *p;

  if (v->npoints && v->history[v->npoints - 1].iteration >= f->iteration) return;
  if (++v->skipped < 1 << v->thinned) return;
  v->skipped = 0;
  if (v->npoints == AMBIT__HISTORY) {
    v->npoints /= 2;
    v->thinned += v->thinned < 20;
    for (int i = 0; i < v->npoints; i++)
      v->history[i] = v->history[2 * i];
  }
  p = &v->history[v->npoints++];
  *p = (ambit__point){.iteration = f->iteration, .lo = f->pixels.lo, .hi = f->pixels.hi};
  memcpy(p->scalars, f->scalars, sizeof p->scalars);
}

static ambit_status read_scalars(const ambit__scene *s, double *values)
{
  unsigned char bytes[sizeof(double)];

  for (int i = 0; i < s->nscalars; i++) {
    const ambit_type type = s->scalars[i]->type;

    AMBIT_TRY(ambit__scalar_take(s->scalars[i], 0, bytes));
    values[i] = ambit__value_number(ambit__value_load(bytes, type), type);
  }
  return AMBIT_OK;
}

static bool is_over(const ambit_program *p)
{
  return p->converged || (p->goal && p->iteration >= p->goal);
}

/* Process 0: makes a picture the latest one. Returns the time that the reader spent on the last. */
static double publish(ambit__viewer *v, const ambit_program *p, const order *o, ambit__frame *new)
{
  const double per = v->pace.per;
  double served;

  pthread_mutex_lock(&v->lock);
  new->number = v->frame.number + 1;
  new->changes = o->changes;
  new->scene = v->scene.number;
  new->iteration = p->iteration;
  new->goal = p->goal;
  new->per_second = per > 0 ? 1 / per : 0;
  new->cells = per > 0 ? v->cells / per : 0;
  new->share = per > 0 && v->bandwidth > 0 ? v->bytes / per / v->bandwidth : -1;
  new->ended = is_over(p);
  new->sight = o->sight;
  if (v->frame.pixels.values != v->lent) free(v->frame.pixels.values);
  v->frame = *new;
  v->wants = false;
  served = v->served;
  v->served = 0;
  add_point(v);
  v->kind->notify(v->reader);
  pthread_mutex_unlock(&v->lock);
  return served;
}

static ambit_status take(ambit__viewer *v, const ambit_program *p, const order *o)
{
  const double start = ambit__clock();
  ambit__frame new = {0};
  double served;

  AMBIT_TRY(ambit__sample(p, &v->scene, &o->sight, o->rows, o->columns, &new.pixels));
  if (v->context->net->rank) return AMBIT_OK;
  if (read_scalars(&v->scene, new.scalars)) {
    free(new.pixels.values);
    return v->context->errors.status;
  }
  served = publish(v, p, o, &new);
  v->pictured = ambit__clock();
  ambit__pace_note_picture(&v->pace, v->pictured - start + (v->on_cores ? served : 0));
  return AMBIT_OK;
}

/* ---- orders ---- */

static bool is_due(const ambit__viewer *v, const ambit_program *p, double now)
{
  const double since = now - v->pictured;

  if (!v->wants || !v->rows || !v->columns) return false;
  if (!v->frame.number || v->changes != v->frame.changes) return true;
  if (v->paused) return v->frame.iteration != p->iteration;
  return since >= 0.9 * ambit__pace_interval(&v->pace) || (is_over(p) && since >= FRAME_SECONDS);
}

/* Process 0, under the lock. */
static order decide(ambit__viewer *v, const ambit_program *p)
{
  const double now = ambit__clock();
  order o = {.off = v->gone || !v->reader, .rows = v->rows, .columns = v->columns};

  if (o.off) return o;
  o.sight = v->sight;
  o.changes = v->changes;
  o.picture = is_due(v, p, now);
  o.waits = v->paused && !v->steps && !is_over(p);
  v->held = o.waits ? p->iteration : v->paused ? v->held : -1;
  if (o.waits) return o;
  if (v->paused) {
    v->steps -= v->steps > 0;
    o.n = 1;
  } else {
    const bool is_watched = v->wants || (v->frame.number && now - v->pictured < AWAY_SECONDS);

    o.n = ambit__pace_next(&v->pace, is_watched, now - v->acted < HURRY_SECONDS);
    o.n = v->pace.n = ambit__program_whole(p, o.n);
  }
  return o;
}

/* Until somebody does something, but at most a tenth of a second: signals must be seen. */
static void rest(ambit__viewer *v)
{
  struct timespec until;

  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 100000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&v->changed, &v->lock, &until);
}

static void note_stretch(ambit__viewer *v, const ambit_program *p)
{
  if (v->left_at > 0)
    ambit__pace_note(&v->pace, p->iteration - v->left_iteration, ambit__clock() - v->left_at);
}

static void close_reader(ambit__viewer *v)
{
  if (v->reader) v->kind->close(v->reader);
  v->reader = NULL;
}

static ambit_status look(ambit__observer *observer, ambit_program *p)
{
  lookout *o = (lookout *)observer;
  ambit__viewer *v = o->viewer;
  ambit__net *net = v->context->net;
  order next = {.off = true};

  if (v->off) return AMBIT_OK;
  if (!net->rank) note_stretch(v, p);
  do {
    if (!net->rank) {
      pthread_mutex_lock(&v->lock);
      if (next.waits && !next.picture) rest(v);
      next = decide(v, p);
      pthread_mutex_unlock(&v->lock);
    }
    if (net->size > 1) AMBIT_TRY(ambit__net_broadcast(net, 0, &next, sizeof next));
    if (next.picture) AMBIT_TRY(take(v, p, &next));
  } while (next.waits);
  o->n = next.off ? INT64_MAX : next.n;
  if (next.off) {
    v->off = true;
    close_reader(v);
  }
  v->left_at = is_over(p) ? 0 : ambit__clock();
  v->left_iteration = p->iteration;
  return AMBIT_OK;
}

static int64_t left(ambit__observer *observer, const ambit_program *p)
{
  const lookout *o = (const lookout *)observer;

  (void)p;
  return o->viewer->off || o->n < 1 ? INT64_MAX : o->n;
}

/* ---- making and ending ---- */

static bool uses(const ambit__observer *observer, const void *object)
{
  const lookout *o = (const lookout *)observer;
  const ambit__scene *s = &o->viewer->scene;

  for (int i = 0; i < s->nfields; i++)
    if (s->fields[i].field == object) return true;
  for (int i = 0; i < s->nscalars; i++)
    if (s->scalars[i] == object) return true;
  return object && o->field == object;
}

static lookout *find(const ambit_program *p)
{
  for (ambit__observer *o = p->observers; o; o = o->next)
    if (o->look == look) return (lookout *)o;
  return NULL;
}

static void end(ambit__observer *observer)
{
  const lookout *o = (const lookout *)observer;

  if (o->viewer->program == o->program) o->viewer->program = NULL;
  free(observer);
}

/* Before the view is closed: a picture of the end, if the last one is older. Collective. */
static void take_last(ambit__viewer *v)
{
  ambit__net *net = v->context->net;
  order o = {.off = true};

  if (v->off || !v->program || !net || v->context->errors.status) return;
  if (!net->rank && v->reader) {
    pthread_mutex_lock(&v->lock);
    o = (order){.sight = v->sight, .changes = v->changes, .rows = v->rows, .columns = v->columns};
    o.picture = o.rows > 0 && o.columns > 0 && v->frame.iteration != v->program->iteration;
    pthread_mutex_unlock(&v->lock);
  }
  if (net->size > 1 && ambit__net_broadcast(net, 0, &o, sizeof o)) return;
  if (o.picture) take(v, v->program, &o);
}

static void close_viewer(ambit *a)
{
  ambit__viewer *v = a->viewer;

  take_last(v);
  close_reader(v);
  for (const ambit__link *l = a->grids.next; l->owner; l = l->next)
    for (const ambit__link *i = ((ambit_grid *)l->owner)->programs.next; i->owner; i = i->next)
      for (ambit__observer **at = &((ambit_program *)i->owner)->observers, *o; (o = *at);) {
        if (o->look != look) {
          at = &o->next;
          continue;
        }
        *at = o->next;
        free(o);
      }
  free(v->frame.pixels.values);
  pthread_cond_destroy(&v->changed);
  pthread_mutex_destroy(&v->lock);
  free(v);
  a->viewer = NULL;
  a->close_viewer = NULL;
}

static ambit_status make_viewer(ambit *a)
{
  ambit__viewer *v = a->viewer;
  ambit__colour_map map;

  if (v) return AMBIT_OK;
  AMBIT_NEW(&a->errors, v, 1);
  pthread_mutex_init(&v->lock, NULL);
  pthread_cond_init(&v->changed, NULL);
  v->context = a;
  v->held = -1;
  a->viewer = v;
  a->close_viewer = close_viewer;
  AMBIT_TRY(ambit__viewing_parse(&a->errors, a->settings.view, &v->viewing));
  v->kind = v->viewing.http ? &ambit__reader_http : &ambit__reader_terminal;
  v->paused = v->viewing.paused;
  v->style = (ambit__picture_options){
      .relief = v->viewing.relief, .lo = v->viewing.lo, .hi = v->viewing.hi};
  if (*v->viewing.colours) {
    AMBIT_CHECK(ambit__colour_find(v->viewing.colours, &map), &a->errors, AMBIT_EOPTION,
                "option view: there are no colours '%s'; use " AMBIT__COLOUR_NAMES,
                v->viewing.colours);
    v->style.map = (int)map + 1;
  }
  return AMBIT_OK;
}

static ambit_status observe(ambit_program *p, ambit_field *field)
{
  ambit *a = p->grid->context;
  lookout *o = find(p);

  AMBIT_TRY(make_viewer(a));
  if (!o) {
    AMBIT_NEW(&a->errors, o, 1);
    *o = (lookout){.head = {.every = 1, .look = look, .left = left, .uses = uses, .end = end},
                   .viewer = a->viewer,
                   .program = p};
    ambit__program_observe(p, &o->head);
  }
  if (field) o->field = field;
  o->is_new = true;
  return AMBIT_OK;
}

/* The sum of the copy bandwidths of all devices of all processes, as they were measured before the
 * run or in an earlier one; 0: some were not. A measurement would cost more than the view. */
static ambit_status find_bandwidth(ambit__viewer *v)
{
  const ambit *a = v->context;
  double known[2] = {0, 0}; /* the sum; devices that were not measured */

  v->on_cores = false;
  for (int i = 0; i < a->nengines; i++) {
    const ambit__machine *m = &a->engines[i].device->machine;

    v->on_cores |= !m->is_gpu;
    known[0] += 1e9 * m->copy;
    known[1] += !m->measured;
  }
  AMBIT_TRY(ambit__net_sum(a->net, known, 2));
  v->bandwidth = known[1] > 0 ? 0 : known[0];
  return AMBIT_OK;
}

/* Tries to open the reader, on process 0. If it cannot be, the run goes on without. */
static void open_reader(ambit__viewer *v)
{
  char why[300] = "out of memory";

  v->tried = true;
  if (v->context->net->rank) return;
  v->reader = v->kind->open(v, why, sizeof why);
  if (!v->reader) ambit__log(&v->context->settings, 0, "the run is not shown: %s", why);
  if (v->reader && !v->viewing.http) v->context->settings.progress = false;
}

/* The scene of the program that starts to run, and the sight in it. */
static ambit_status set_scene(ambit__viewer *v, const ambit_program *p, lookout *o)
{
  ambit__scene scene = {.number = v->scene.number + 1};
  ambit__sight sight = v->sight;
  char why[200];

  ambit__scene_make(p, &scene);
  if (!v->scene.number)
    AMBIT_CHECK(ambit__sight_ask(&scene, &v->viewing, &sight, why, sizeof why), &v->context->errors,
                AMBIT_EOPTION, "option view: %s", why);
  else
    ambit__sight_adapt(&v->scene, &scene, &sight);
  for (int i = 0; o->is_new && i < scene.nfields; i++)
    if (scene.fields[i].field == o->field) {
      sight.field = i;
      sight.component = 0;
    }
  o->is_new = false;
  pthread_mutex_lock(&v->lock);
  v->scene = scene;
  v->sight = sight;
  v->changes++;
  v->cells = v->bytes = 0;
  for (size_t i = 0; i < p->nsteps; i++) {
    v->cells += p->applies[i].cells / (double)p->steps[i].every;
    v->bytes += p->applies[i].bytes / (double)p->steps[i].every;
  }
  pthread_mutex_unlock(&v->lock);
  return AMBIT_OK;
}

/* Whether the scene of the last run still describes the program. */
static bool is_same_scene(const ambit__viewer *v, const ambit_program *p)
{
  const ambit__scene *was = &v->scene;
  ambit__scene now = {0};
  bool same;

  ambit__scene_make(p, &now);
  same = was->number && now.ndims == was->ndims && now.nfields == was->nfields &&
         now.nscalars == was->nscalars;
  for (int d = 0; same && d < now.ndims; d++)
    same = now.extents[d] == was->extents[d];
  for (int i = 0; same && i < now.nfields; i++)
    same = now.fields[i].field == was->fields[i].field;
  for (int i = 0; same && i < now.nscalars; i++)
    same = now.scalars[i] == was->scalars[i];
  return same;
}

ambit_status ambit__view_attach(ambit_program *p)
{
  ambit *a = p->grid->context;
  lookout *o = find(p);
  ambit__viewer *v;

  if (a->dry || (!o && (!*a->settings.view || (a->viewer && a->viewer->off)))) return AMBIT_OK;
  if (!o) {
    ambit__viewing v0;

    AMBIT_TRY(ambit__viewing_parse(&a->errors, a->settings.view, &v0));
    if (!v0.is_on) return AMBIT_OK;
    AMBIT_TRY(observe(p, NULL));
    o = find(p);
  }
  v = a->viewer;
  if (v->off) return AMBIT_OK;
  if (o->is_new || !is_same_scene(v, p)) AMBIT_TRY(set_scene(v, p, o));
  if (!v->scene.nfields) return AMBIT_OK;
  v->program = p;
  v->left_at = 0;
  o->n = 1;
  if (!v->tried || a->net->size == 1) AMBIT_TRY(find_bandwidth(v));
  if (!v->tried) open_reader(v);
  return AMBIT_OK;
}

ambit_status ambit_view(ambit_program *p, ambit_field *field)
{
  ambit *a;

  if (!p || ambit__failed(p->grid->context))
    return p ? p->grid->context->errors.status : AMBIT_EINVAL;
  a = p->grid->context;
  if (field && (field->grid != p->grid || field->base))
    ambit__raise(&a->errors, AMBIT_EINVAL,
                 "field '%s' cannot be shown: it is of another grid than the program, or a view of "
                 "another field",
                 field->name);
  else
    observe(p, field);
  return ambit__meet(a, "shows a program");
}
