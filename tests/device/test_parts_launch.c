/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches on parts of a grid: cut at random, exchanged, and launched box by box in two queues, and
 * compared with one store of the reference device. All values are small integers, so that sums are
 * exact in any order and results equal to the last bit. Random cases print the number that
 * reproduces them. */
#include "device/parts.h"

#include "base/clock.h"

enum { CASES = 10, MOST_BOXES = 5, SHIFTS = 2 };

extern const ambit__backend ambit__backend_ref;

typedef struct problem {
  const char *text; /* parameters u, v, and reductions */
  ambit_order order;
  int ndims;
  int64_t most[AMBIT_MAX_DIMS]; /* most cells */
} problem;

static const problem problems[] = {
    {"void a(const float *u, float *v, sum float *r, max float *s)"
     "{ *v = u[-1] - 2 * *u + u[2] + index(0) % 3; *r = *v; *s = u[2]; }",
     AMBIT_SOA,
     1,
     {70000}},
    {"void b(const double *u, double *v) { *v = u[-1][0] + 2 * u[0][1] - u[1][-2] + 0.5 * u[1][1]; "
     "}",
     AMBIT_SOA,
     2,
     {40, 150}},
    {"void c(const unsigned char *u, unsigned char *v, sum long *r, min unsigned char *s)"
     "{ *v = (u[-1][-1] + u[-1][0] + u[-1][1] + u[0][-1] + u[0][1] + u[1][0] + index(1)) % 7; *r = "
     "*v;"
     "  *s = *v + 1; }",
     AMBIT_SOA,
     2,
     {33, 70}},
    {"void d(const int *u[2], int *v[2], min int *r) { *v[0] = u[1][0][0][-1] - u[0][1][0][0];"
     "  *v[1] = u[0][0][-2][0] + extent(1); *r = *v[0]; }",
     AMBIT_SOA,
     3,
     {7, 9, 40}},
    {"void e(const float *u[3], float *v[3], max double *r) { for (int c = 0; c < 3; c++) *v[c] ="
     "  u[c][-1][0][0] + u[(c + 1) % 3][0][1][0] - u[c][0][0][2] + step(); *r = *v[1] - index(2); "
     "}",
     AMBIT_AOS,
     3,
     {8, 7, 19}},
    {"void f(const short *u, short *v, sum int *r) { *v = u[0][0][0][-1] + u[1][0][0][0] - "
     "u[0][-1][0][0]; *r = *v; }",
     AMBIT_SOA,
     4,
     {4, 5, 3, 9}},
    {"void g(const long *u, long *v) { *v = u[0][0][-1] + u[0][0][1] + u[0][-1][0] + u[0][1][0] +"
     "  u[-1][0][0] + u[1][0][0]; }",
     AMBIT_SOA,
     3,
     {12, 30, 70}},
    {"void h(const float *u, float *v) { *v = 0.5f * u[0][-1] + 0.25f * u[0][1] + u[1][0] - "
     "u[-1][0]; }",
     AMBIT_SOA,
     2,
     {260, 300}},
};

/* ---- a grid in parts, and the whole grid ---- */

typedef struct part {
  twin u, v; /* after the start, only the stores on the device are used */
  ambit__box given, reach;
} part;

typedef struct world {
  const problem *p;
  const ambit__rule *rule;
  ambit__function *fn, *ref_fn;
  ambit__queue *queues[2];
  ambit__event *event; /* NULL: the device has none */
  ambit__buffer *values[AMBIT_MAX_PARAMS];
  /* of one case */
  ambit__box grid;
  ambit__boundaries b;
  int n;
  part parts[MOST_PARTS];
  ambit__store u, v; /* of the reference device */
  ambit__buffer *ref_values[AMBIT_MAX_PARAMS];
} world;

static ambit__device *ref;
static ambit__queue *ref_queue;

static int64_t min64(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static bool reduces(const world *w)
{
  return w->rule->nparams > 2;
}

/* The boxes `given` and `reach` of a part along one axis: the cells it must be given, and all that
 * its cells read. */
static void find_boxes(const world *w, part *p, int d)
{
  const ambit__box *own = &p->u.here.layout.own;
  const ambit__param *u = &w->rule->params[0];
  const int64_t n = w->grid.hi[d], lo = own->lo[d] - u->low[d], hi = own->hi[d] + u->high[d];
  const bool wraps = w->b.kind[d][0] == AMBIT_PERIODIC;
  const bool is_cut = own->lo[d] > 0 || own->hi[d] < n;

  p->given.lo[d] = wraps && is_cut ? lo : wraps ? 0 : max64(lo, 0);
  p->given.hi[d] = wraps && is_cut ? hi : wraps ? n : min64(hi, n);
  for (int64_t i = lo; !wraps && i < hi; i++) {
    int64_t from = ambit__boundary_map(w->b.kind[d][i >= n], n, i);

    if (w->b.kind[d][i >= n] == AMBIT_CONSTANT && (i < 0 || i >= n)) continue;
    p->given.lo[d] = min64(p->given.lo[d], from);
    p->given.hi[d] = max64(p->given.hi[d], from + 1);
  }
  p->reach.lo[d] = min64(lo, p->given.lo[d]);
  p->reach.hi[d] = max64(hi, p->given.hi[d]);
}

static void make_part(world *w, part *p, const ambit__box *own)
{
  ambit__layout l = {.type = w->rule->params[0].type,
                     .components = w->rule->params[0].components,
                     .order = w->p->order,
                     .own = *own};

  p->u.here.layout = l;
  p->given = p->reach = *own;
  for (int d = 0; !ambit__box_is_empty(own) && d < own->ndims; d++)
    find_boxes(w, p, d);
  for (int d = 0; d < own->ndims; d++) {
    l.margin_lo[d] = own->lo[d] - p->reach.lo[d] + draw(2);
    l.margin_hi[d] = p->reach.hi[d] - own->hi[d] + draw(2);
  }
  p->u = new_twin(l);
  p->v = new_twin(l);
}

static void draw_world(world *w)
{
  static const ambit_boundary kinds[] = {AMBIT_CONSTANT, AMBIT_REFLECT, AMBIT_SYMMETRIC,
                                         AMBIT_CLAMP};
  const int ndims = w->p->ndims;
  ambit__box own[MOST_PARTS];
  int64_t extents[AMBIT_MAX_DIMS];

  for (int d = 0; d < ndims; d++) {
    bool wraps = draw(2);

    extents[d] = 1 + draw(draw(4) ? w->p->most[d] : 3);
    for (int side = 0; side < 2; side++) {
      w->b.kind[d][side] = wraps ? AMBIT_PERIODIC : kinds[draw(4)];
      w->b.value[d][side] = (double)draw(5);
    }
  }
  w->grid = ambit__box_of_extents(ndims, extents);
  w->n = 1 + (int)draw(MOST_PARTS);
  draw_cuts(&w->grid, w->n, own);
  for (int i = 0; i < w->n; i++)
    make_part(w, &w->parts[i], &own[i]);
}

/* Sets the values of u, in the whole store and in all parts. */
static void set_values(world *w)
{
  const ambit__layout *l = &w->u.layout;
  const size_t size = ambit_type_size(l->type), bytes = ambit__layout_box_bytes(l, &l->own);
  unsigned char *dense = malloc(bytes);

  for (size_t i = 0; i < bytes; i += size)
    ambit__value_store(dense + i, l->type, ambit__value_of((double)draw(8), l->type));
  CHECK_EQ(AMBIT_OK, ambit__host_do(ref_queue, write, &w->u, &l->own, dense));
  for (int i = 0; i < w->n; i++) {
    const ambit__box *own = &w->parts[i].u.there.layout.own;

    CHECK_EQ(AMBIT_OK, ambit__host_do(ref_queue, read, dense, &w->u, own));
    CHECK_EQ(AMBIT_OK, ambit__do(queue, write, &w->parts[i].u.there, own, dense));
  }
  free(dense);
}

static void make_whole(world *w)
{
  ambit__store *const stores[2] = {&w->u, &w->v};

  for (int i = 0; i < 2; i++) {
    ambit__layout l = {.type = w->rule->params[0].type,
                       .components = w->rule->params[0].components,
                       .order = w->p->order,
                       .own = w->grid};

    CHECK(ambit__layout_make(&l));
    stores[i]->layout = l;
    CHECK_EQ(AMBIT_OK, ambit__host_alloc(ref, l.bytes, &l, &stores[i]->buffer));
  }
}

static void free_case(world *w)
{
  for (int i = 0; i < w->n; i++) {
    free_twin(&w->parts[i].u);
    free_twin(&w->parts[i].v);
  }
  ambit__host_release(ref, w->u.buffer);
  ambit__host_release(ref, w->v.buffer);
}

/* ---- exchange ---- */

/* By a copy on the device, or by a message. */
static void transfer(part *to, part *from, const ambit__box *box, const int64_t *shift)
{
  ambit__box there = *box;
  ambit__message *m = NULL;

  if (draw(2)) {
    CHECK_EQ(AMBIT_OK, ambit__do(queue, copy, &to->u.there, &from->u.there, box, shift));
    return;
  }
  for (int d = 0; d < box->ndims; d++) {
    there.lo[d] += shift[d];
    there.hi[d] += shift[d];
  }
  CHECK_EQ(AMBIT_OK, ambit__ask(device, message_open,
                                ambit__layout_box_bytes(&from->u.there.layout, box), &m));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, pack, m, 0, &from->u.there, box));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, unpack, &to->u.there, &there, m, 0));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, wait, NULL));
  ambit__ask(device, message_close, m);
}

/* Copies the cells that a part needs from another one, at a distance of `times` grids along each
 * axis. */
static void fetch(const world *w, part *to, part *from, const int *times)
{
  ambit__box box = from->u.there.layout.own;
  int64_t shift[AMBIT_MAX_DIMS];
  bool moves = false;

  for (int d = 0; d < box.ndims; d++) {
    shift[d] = times[d] * w->grid.hi[d];
    moves |= times[d] != 0;
    box.lo[d] += shift[d];
    box.hi[d] += shift[d];
  }
  box = ambit__box_intersect(&box, &to->given);
  if ((to == from && !moves) || ambit__box_is_empty(&box)) return;
  for (int d = 0; d < box.ndims; d++) {
    box.lo[d] -= shift[d];
    box.hi[d] -= shift[d];
  }
  transfer(to, from, &box, shift);
}

static bool next_times(const world *w, int *times)
{
  for (int d = 0; d < w->grid.ndims; d++) {
    if (w->b.kind[d][0] == AMBIT_PERIODIC && ++times[d] <= SHIFTS) return true;
    times[d] = w->b.kind[d][0] == AMBIT_PERIODIC ? -SHIFTS : 0;
  }
  return false;
}

static void exchange(world *w)
{
  for (int i = 0; i < w->n; i++)
    for (int j = 0; j < w->n; j++) {
      int times[AMBIT_MAX_DIMS] = {0};

      if (ambit__box_is_empty(&w->parts[i].u.there.layout.own)) continue;
      for (int d = 0; d < w->grid.ndims; d++)
        times[d] = w->b.kind[d][0] == AMBIT_PERIODIC ? -SHIFTS : 0;
      do {
        fetch(w, &w->parts[i], &w->parts[j], times);
      } while (next_times(w, times));
    }
  for (int i = 0; i < w->n; i++) {
    part *p = &w->parts[i];

    CHECK_EQ(AMBIT_OK,
             ambit__do(queue, ghosts, &p->u.there, &w->b, w->grid.hi, &p->given, &p->reach));
  }
}

/* ---- launches ---- */

/* All work now in the queue `after` completes before later work in q. */
static void order(world *w, ambit__queue *q, ambit__queue *after)
{
  if (!w->event || q == after) return;
  CHECK_EQ(AMBIT_OK, ambit__do(after, mark, w->event));
  CHECK_EQ(AMBIT_OK, ambit__do(q, await, w->event));
}

static void launch_box(world *w, ambit__queue *q, part *p, const ambit__box *box, int64_t step,
                       bool more)
{
  ambit__argument args[AMBIT_MAX_PARAMS] = {{.store = &p->u.there, .boundaries = &w->b},
                                            {.store = &p->v.there, .boundaries = &w->b}};
  ambit__launch l = {.box = *box,
                     .extents = w->grid.hi,
                     .nargs = w->rule->nparams,
                     .args = args,
                     .step = step,
                     .more = more};

  for (int i = 2; i < w->rule->nparams; i++)
    args[i].value = w->values[i];
  CHECK_EQ(AMBIT_OK, ambit__do(q, launch, w->fn, &l));
}

/* All parts, each in boxes that may run at the same time, except for the scalars they share. */
static void launch_parts(world *w, int64_t step)
{
  ambit__queue *before = w->queues[0];
  bool more = false;

  order(w, w->queues[1], w->queues[0]);
  for (int i = 0; i < w->n; i++) {
    ambit__box boxes[MOST_BOXES];
    int n = 1 + (int)draw(MOST_BOXES);

    draw_cuts(&w->parts[i].u.there.layout.own, n, boxes);
    for (int k = 0; k < n; k++) {
      ambit__queue *q = w->queues[draw(2)];

      if (reduces(w)) order(w, q, before);
      launch_box(w, q, &w->parts[i], &boxes[k], step, more);
      more = true;
      before = q;
    }
  }
  order(w, w->queues[0], w->queues[1]);
}

static void launch_whole(world *w, int64_t step)
{
  ambit__argument args[AMBIT_MAX_PARAMS] = {{.store = &w->u, .boundaries = &w->b},
                                            {.store = &w->v, .boundaries = &w->b}};
  const ambit__launch l = {
      .box = w->grid, .extents = w->grid.hi, .nargs = w->rule->nparams, .args = args, .step = step};

  for (int i = 2; i < w->rule->nparams; i++)
    args[i].value = w->ref_values[i];
  CHECK_EQ(AMBIT_OK, ambit__do(ref_queue, launch, w->ref_fn, &l));
}

/* ---- comparison ---- */

/* Copies a whole buffer from the device to the memory of the twin. */
static void bring_here(twin *t)
{
  CHECK_EQ(AMBIT_OK, ambit__do(queue, get, ambit__host_base(t->here.buffer), t->there.buffer,
                               t->here.layout.bytes));
}

/* Copies the reference's values to the twin's own cells; all other bytes must be as before the
 * launch. */
static void check_part(world *w, part *p, const char *what)
{
  const ambit__layout *l = &p->v.here.layout;
  unsigned char *dense = malloc(ambit__layout_box_bytes(l, &l->own) + 1);

  CHECK_EQ(AMBIT_OK, ambit__host_do(ref_queue, read, dense, &w->v, &l->own));
  CHECK_EQ(AMBIT_OK, ambit__host_do(ref_queue, write, &p->v.here, &l->own, dense));
  CHECK_MSG(is_the_same(&p->v), "%s: %s", backend->name, what);
  free(dense);
}

static void check_scalars(world *w, const char *what)
{
  for (int i = 2; i < w->rule->nparams; i++) {
    const size_t size = ambit_type_size(w->rule->params[i].type);
    unsigned char got[8];

    CHECK_EQ(AMBIT_OK, ambit__do(queue, get, got, w->values[i], size));
    CHECK_MSG(!memcmp(got, ambit__host_base(w->ref_values[i]), size), "%s: scalar %d of %s",
              backend->name, i - 2, what);
  }
}

static void swap(world *w)
{
  ambit__buffer *u = w->u.buffer;

  w->u.buffer = w->v.buffer;
  w->v.buffer = u;
  for (int i = 0; i < w->n; i++) {
    twin t = w->parts[i].u;

    w->parts[i].u = w->parts[i].v;
    w->parts[i].v = t;
  }
}

static void run_case(world *w, uint64_t seed)
{
  char what[64];

  state = seed * 0x9e3779b97f4a7c15u;
  draw_world(w);
  make_whole(w);
  set_values(w);
  for (int64_t step = 0; step < 2; step++) {
    snprintf(what, sizeof what, "%s, case %d, step %d", w->rule->name, (int)seed, (int)step);
    for (int i = 0; i < w->n; i++)
      bring_here(&w->parts[i].v);
    exchange(w);
    launch_parts(w, step);
    launch_whole(w, step);
    for (int i = 0; i < w->n; i++)
      check_part(w, &w->parts[i], what);
    check_scalars(w, what);
    swap(w);
  }
  free_case(w);
}

static void build(world *w, ambit__rule *rule)
{
  const bool contiguous = w->p->order == AMBIT_SOA || rule->params[0].components == 1;
  ambit__binding bind[AMBIT_MAX_PARAMS] = {{.is_field = true, .contiguous = contiguous},
                                           {.is_field = true, .contiguous = contiguous}};
  ambit__group g = {.rule = rule, .bind = bind, .depth = 1, .ndims = w->p->ndims, .strict = true};

  memcpy(g.cells, w->p->most, sizeof g.cells);
  w->rule = rule;
  CHECK_EQ(AMBIT_OK, ambit__ask(device, build, &g, &w->fn));
  CHECK_EQ(AMBIT_OK, ambit__ask(ref, build, &g, &w->ref_fn));
  for (int i = 2; i < rule->nparams; i++) {
    CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, sizeof(ambit__scalar_bytes), NULL, &w->values[i]));
    CHECK_EQ(AMBIT_OK,
             ambit__host_alloc(ref, sizeof(ambit__scalar_bytes), NULL, &w->ref_values[i]));
  }
}

static void discard(world *w)
{
  for (int i = 2; i < w->rule->nparams; i++) {
    ambit__ask(device, release, w->values[i]);
    ambit__host_release(ref, w->ref_values[i]);
  }
  ambit__ask(device, discard, w->fn);
  ambit__ask(ref, discard, w->ref_fn);
}

static void run_problem(const problem *p)
{
  world w = {.p = p};
  ambit__rule *rule = NULL;

  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "test", p->text, &rule));
  w.queues[0] = queue;
  CHECK_EQ(AMBIT_OK, ambit__ask(device, queue_open, false, &w.queues[1]));
  if (ambit__can(backend, mark))
    CHECK_EQ(AMBIT_OK, ambit__ask(device, event_open, false, &w.event));
  build(&w, rule);
  for (uint64_t seed = 1; seed <= CASES; seed++)
    if (test_takes((int)seed, 8)) run_case(&w, seed);
  discard(&w);
  if (w.event) ambit__ask(device, event_close, w.event);
  ambit__ask(w.queues[1]->device, queue_close, w.queues[1]);
  ambit__rule_free(rule);
}

static void run_problems(void)
{
  CHECK_EQ(AMBIT_OK, ambit__backend_ref.open(&errors, &settings, 0, &ref));
  CHECK_EQ(AMBIT_OK, ambit__ask(ref, queue_open, false, &ref_queue));
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    run_problem(&problems[i]);
  ambit__ask(ref_queue->device, queue_close, ref_queue);
  ambit__backend_ref.close(ref);
}

static void parts_in_any_number_of_boxes_equal_the_whole(void)
{
  on_each_device(run_problems);
}

static void parts_without_a_compiler_equal_the_whole(void)
{
  settings.cc = "none";
  open_device("cpu", false);
  run_problems();
  close_device();
  settings.cc = NULL;
}

/* ---- reductions in two queues ---- */

/* Launches of one function that are not ordered, each with its own scalar. */
static void reduce_at_once(void)
{
  enum { ROUNDS = 20 };
  const int64_t extents[2] = {200, 300};
  const ambit__binding bind[2] = {{.is_field = true, .contiguous = true}, {0}};
  ambit__group g = {.bind = bind, .depth = 1, .ndims = 2, .cells = {200, 300}};
  ambit__layout l = {.type = AMBIT_I32, .components = 1, .own = ambit__box_of_extents(2, extents)};
  ambit__buffer *values[2];
  ambit__queue *queues[2] = {queue, NULL};
  ambit__function *fn = NULL;
  ambit__rule *rule = NULL;
  twin u = new_twin(l);

  CHECK_EQ(AMBIT_OK,
           ambit__rule_parse(&errors, "test",
                             "void r(const int *u, sum long *r) { *r = index(0) + 1; }", &rule));
  g.rule = rule;
  CHECK_EQ(AMBIT_OK, ambit__ask(device, build, &g, &fn));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, queue_open, false, &queues[1]));
  for (int i = 0; i < 2; i++)
    CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, 8, NULL, &values[i]));
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < 2; i++) {
      const ambit__argument args[2] = {{.store = &u.there}, {.value = values[i]}};
      ambit__launch launch = {
          .box = l.own, .extents = extents, .nargs = 2, .args = args, .more = round > 0};

      launch.box.lo[0] = 100 * i; /* rows 0 to 200, or 100 to 200 */
      CHECK_EQ(AMBIT_OK, ambit__do(queues[i], launch, fn, &launch));
    }
  for (int i = 0; i < 2; i++) {
    int64_t got = 0;

    CHECK_EQ(AMBIT_OK, ambit__do(queues[i], get, &got, values[i], 8));
    CHECK_EQ(ROUNDS * 300 * (i ? 15050 : 20100), got);
    ambit__ask(device, release, values[i]);
  }
  ambit__ask(queues[1]->device, queue_close, queues[1]);
  ambit__ask(device, discard, fn);
  ambit__rule_free(rule);
  free_twin(&u);
}

static void queues_that_reduce_at_once_do_not_disturb_each_other(void)
{
  on_each_device(reduce_at_once);
}

/* ---- polling ---- */

static int polls;
static double last_poll, least_gap;

static void poll(void *user)
{
  const double now = ambit__clock();

  CHECK(user == &polls);
  if (polls++ && now - last_poll < least_gap) least_gap = now - last_poll;
  last_poll = now;
}

static void cores_poll_while_they_compute_but_not_all_the_time(void)
{
  const int64_t extents[2] = {3000, 3000};
  const ambit__binding bind[2] = {{.is_field = true, .contiguous = true},
                                  {.is_field = true, .contiguous = true}};
  ambit__group g = {.bind = bind, .depth = 1, .ndims = 2, .cells = {3000, 3000}};
  ambit__layout l = {.type = AMBIT_F32, .components = 1, .own = ambit__box_of_extents(2, extents)};
  ambit__function *fn = NULL;
  ambit__rule *rule = NULL;
  ambit__store u, v;
  const ambit__argument args[2] = {{.store = &u}, {.store = &v}};
  const ambit__launch launch = {.box = l.own, .extents = extents, .nargs = 2, .args = args};

  open_device("cpu", false);
  CHECK(ambit__layout_make(&l));
  u.layout = v.layout = l;
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, l.bytes, &l, &u.buffer));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, l.bytes, &l, &v.buffer));
  CHECK_EQ(AMBIT_OK, ambit__rule_parse(&errors, "test",
                                       "void p(const float *u, float *v) { *v = *u; }", &rule));
  g.rule = rule;
  CHECK_EQ(AMBIT_OK, ambit__ask(device, build, &g, &fn));
  CHECK_EQ(AMBIT_OK, ambit__do(queue, launch, fn, &launch));
  CHECK_EQ(0, polls);
  queue->poll = poll;
  queue->poll_user = &polls;
  least_gap = 1;
  for (int i = 0; i < 5; i++)
    CHECK_EQ(AMBIT_OK, ambit__do(queue, launch, fn, &launch));
  CHECK_MSG(polls >= 5, "%d", polls);
  CHECK_MSG(least_gap >= 40e-6, "%g", least_gap);
  ambit__ask(device, discard, fn);
  ambit__rule_free(rule);
  ambit__ask(device, release, u.buffer);
  ambit__ask(device, release, v.buffer);
  close_device();
}

int main(int argc, char **argv)
{
  static const test_case tests[] = {
      {"parts_in_any_number_of_boxes_equal_the_whole",
       parts_in_any_number_of_boxes_equal_the_whole},
      {"parts_without_a_compiler_equal_the_whole", parts_without_a_compiler_equal_the_whole},
      {"queues_that_reduce_at_once_do_not_disturb_each_other",
       queues_that_reduce_at_once_do_not_disturb_each_other},
      {"cores_poll_while_they_compute_but_not_all_the_time",
       cores_poll_while_they_compute_but_not_all_the_time},
      {0}};

  return test_main(argc, argv, tests);
}
