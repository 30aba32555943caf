/* SPDX-License-Identifier: BSD-3-Clause */
/* dependencies.c - the dependencies within an iteration of one process, as a graph.
 *
 * Every operation of the schedule becomes nodes: a launch one per box, an exchange one per message,
 * copy, and part whose ghost cells it fills. A node records the cells of the fields it reads and
 * writes. It depends on an earlier node if one of them writes values that the other reads or
 * writes. Nodes are in execution order, so edges only go forward. Transitive edges are omitted.
 */
#include "base/file.h"
#include "base/memory.h"
#include "runtime/exchange/exchange.h"
#include "runtime/explain/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 4000, BOX_CHARS = 256 };

typedef enum kind { SEND, RECEIVE, COPY, GHOSTS, LAUNCH, SHARE, ROTATE, CALL } kind;
static const char *const colours[] = {"#f4a582", "#fddbc7", "#d9f0d3", "#e7d4e8",
                                      "#92c5de", "#ffffb3", "#dddddd", "#ffffff"};
static const char *const names[] = {"send",   "receive", "copy",   "ghosts",
                                    "launch", "reduce",  "rotate", "call"};

/* Cells of a field on a part, or a scalar. */
typedef struct cell_access {
  const void *what; /* the field or the scalar */
  int part;         /* of a scalar: the device; -1: all */
  ambit__box box;   /* ndims 0: all */
  bool writes;
} cell_access;

typedef struct node {
  kind kind;
  char label[AMBIT__LABEL_CHARS];
  cell_access *accesses; /* owned */
  size_t naccesses, cap;
  const ambit__channel *channel; /* SEND and RECEIVE */
  uint64_t *waits;               /* a bit per node it depends on, directly or not; owned */
} node;

typedef struct graph {
  ambit_program *p;
  node *nodes;
  size_t count, cap;
  ambit__edge *edges; /* owned */
  size_t nedges, edge_cap;
  bool failed; /* out of memory */
} graph;

/* ---- nodes ---- */

/* A new node; NULL if out of memory, after which nothing more is added. */
static node *add_node(graph *g, kind what)
{
  node *n = g->failed
                ? NULL
                : ambit__add(&g->p->grid->context->errors, &g->nodes, g->count, &g->cap, sizeof *n);

  if (!n) return g->failed = true, NULL;
  g->count++;
  *n = (node){.kind = what};
  return n;
}

static void add_access(graph *g, node *n, const void *what, int part, const ambit__box *box,
                       bool writes)
{
  cell_access *a =
      ambit__add(&g->p->grid->context->errors, &n->accesses, n->naccesses, &n->cap, sizeof *a);

  g->failed |= !a;
  if (!a) return;
  *a = (cell_access){what, part, box ? *box : (ambit__box){.ndims = 0}, writes};
  n->naccesses++;
}

/* ---- exchanges ---- */

/* Where the cells of a transfer come from. */
static const ambit_field *source_of(const ambit__halo_slice *f)
{
  return f->source ? f->source : f->field;
}

static void add_channel(graph *g, const ambit__exchange *x, const ambit__channel *m)
{
  node *n = add_node(g, m->incoming ? RECEIVE : SEND);

  if (!n) return;
  n->channel = m;
  snprintf(n->label, sizeof n->label, "%s %d %s %d\\n%zu bytes",
           m->incoming ? "finish: receive at part" : "begin: send from part",
           g->p->grid->first + m->part, m->incoming ? "from" : "to", m->other, m->bytes);
  for (int i = 0; i < m->nitems; i++) {
    const ambit__halo_slice *f = x->slices[m->items[2 * i]];
    const ambit__transfer *t = &f->halo.transfers[m->items[2 * i + 1]];
    ambit__box box = m->incoming ? ambit__box_move(&t->box, t->shift) : t->box;

    add_access(g, n, m->incoming ? f->field : source_of(f), m->part, &box, m->incoming);
  }
}

static void add_channels(graph *g, const ambit__exchange *x, bool incoming)
{
  for (int i = 0; i < x->nchannels; i++)
    if (x->channels[i].incoming == incoming) add_channel(g, x, &x->channels[i]);
}

static void add_copy(graph *g, const ambit__halo_slice *f, const ambit__transfer *t)
{
  const ambit_grid *grid = g->p->grid;
  const ambit__box to = ambit__box_move(&t->box, t->shift);
  char box[BOX_CHARS];
  node *n;

  if (!grid->mine[t->from] || !ambit__parts_near(grid, t->from, t->to)) return;
  n = add_node(g, COPY);
  if (!n) return;
  ambit__box_print(&t->box, box, sizeof box);
  snprintf(n->label, sizeof n->label, "begin: copy %s from part %d to %d\\n%s", f->field->name,
           t->from, t->to, box);
  add_access(g, n, source_of(f), t->from - grid->first, &t->box, false);
  add_access(g, n, f->field, t->to - grid->first, &to, true);
}

/* Adds reads of the cells that the ghost cells of a slab beside the box `given` are copies of. */
static void add_sources(graph *g, node *n, const ambit__halo_slice *f, int part,
                        const ambit__box *slab, const ambit__box *given)
{
  ambit__box from = *slab;

  for (int d = 0; d < slab->ndims; d++) {
    const int side = slab->lo[d] >= given->hi[d];
    const ambit_boundary face = f->field->boundaries.kind[d][side];
    ambit__box hull = {.ndims = 1};

    if (slab->hi[d] > given->lo[d] && slab->lo[d] < given->hi[d]) continue;
    if (face == AMBIT_CONSTANT) return;
    for (int64_t i = slab->lo[d]; i < slab->hi[d]; i++) {
      const int64_t at = ambit__boundary_map(face, g->p->grid->box.hi[d], i);
      const ambit__box one = {.ndims = 1, .lo = {at}, .hi = {at + 1}};

      hull = ambit__box_hull(&hull, &one);
    }
    from.lo[d] = hull.lo[0];
    from.hi[d] = hull.hi[0];
  }
  add_access(g, n, f->field, part, &from, false);
}

/* Ghost cells that are copies of own cells. */
static void add_early_ghosts(graph *g, const ambit__halo_slice *f, int part,
                             const ambit__box *early)
{
  const ambit__box *own = &f->field->stores[part].layout.own;
  ambit__box slabs[2 * AMBIT_MAX_DIMS];
  node *n;
  int count;

  if (ambit__box_is_empty(own) || ambit__box_equal(own, early)) return;
  n = add_node(g, GHOSTS);
  if (!n) return;
  snprintf(n->label, sizeof n->label, "edges: ghosts of %s\\npart %d", f->field->name,
           g->p->grid->first + part);
  count = ambit__box_split(early, own, slabs);
  for (int i = 0; i < count; i++) {
    add_access(g, n, f->field, part, &slabs[i], true);
    add_sources(g, n, f, part, &slabs[i], own);
  }
}

/* Ghost cells that depend on messages, beside the slabs of received cells: copies of cells in
 * there, or, if nothing was received there, of any given cells. */
static void add_late_ghosts(graph *g, const ambit__halo_slice *f, int part, const ambit__box *early)
{
  const ambit__reach *r = &f->halo.reaches[g->p->grid->first + part];
  ambit__box slabs[2 * AMBIT_MAX_DIMS], ghosts[2 * AMBIT_MAX_DIMS];
  node *n = NULL;
  int nslabs = ambit__box_is_empty(early) ? 0 : ambit__box_split(&r->reach, early, slabs);

  for (int i = 0; i < nslabs; i++) {
    const ambit__box given = ambit__box_intersect(&slabs[i], &r->given);
    const bool came = !ambit__box_is_empty(&given);
    int count = came ? ambit__box_split(&slabs[i], &given, ghosts) : 1;

    if (!came) ghosts[0] = slabs[i];
    if (!count) continue;
    if (!n) n = add_node(g, GHOSTS);
    if (!n) return;
    snprintf(n->label, sizeof n->label, "finish: ghosts of %s\\npart %d", f->field->name,
             g->p->grid->first + part);
    add_access(g, n, f->field, part, came ? &given : &r->given, false);
    for (int k = 0; k < count; k++)
      add_access(g, n, f->field, part, &ghosts[k], true);
  }
}

static void add_exchange(graph *g, const ambit__operation *op)
{
  const ambit__exchange *x = op->exchange;
  const int nslots = g->p->grid->placement.n;

  if (op->kind == OP_BEGIN) add_channels(g, x, false);
  if (op->kind == OP_FINISH) add_channels(g, x, true);
  for (int i = 0; i < x->nslices; i++) {
    const ambit__halo_slice *f = x->slices[i];

    for (size_t k = 0; op->kind == OP_BEGIN && k < f->halo.count; k++)
      add_copy(g, f, &f->halo.transfers[k]);
    for (int k = 0; k < nslots; k++) {
      const ambit__box *early = ambit__exchange_early(x, i, k);

      if (op->kind == OP_EDGES) add_early_ghosts(g, f, k, early);
      if (op->kind == OP_FINISH) add_late_ghosts(g, f, k, early);
    }
  }
}

/* ---- steps ---- */

/* The cells that a box of cells reads through parameter i of a step. */
static ambit__box reads_of(const ambit_program *p, const ambit__step *s, int i,
                           const ambit__box *box)
{
  const ambit__param *q = &s->kernel->rule->params[i];
  const int x = box->ndims - 1;
  ambit__box read = *box;

  for (int d = 0; d < box->ndims; d++) {
    read.lo[d] -= q->low[d];
    read.hi[d] += q->high[d];
  }
  if (x >= 0 && ambit__field_closes_rows(p, s->args[i].field)) { /* the other end may be read too */
    read.lo[x] = 0;
    read.hi[x] = p->grid->box.hi[x];
  }
  return read;
}

static void add_piece(graph *g, const ambit__operation *op, const ambit__piece *piece)
{
  const ambit__step *s = &g->p->steps[op->step];
  const int engine = g->p->grid->placement.engine[piece->part];
  node *n = add_node(g, LAUNCH);
  char box[BOX_CHARS];

  if (!n) return;
  ambit__box_print(&piece->box, box, sizeof box);
  snprintf(n->label, sizeof n->label, "%s, %s\\npart %d %s", s->kernel->rule->name,
           ambit__cells_name(op->cells), g->p->grid->first + piece->part, box);
  for (int i = 0; i < s->n; i++) {
    const ambit__param *q = &s->kernel->rule->params[i];
    const ambit__box read = reads_of(g->p, s, i, &piece->box);

    if (s->args[i].field && q->nreads)
      add_access(g, n, s->args[i].field, piece->part, &read, false);
    if (s->args[i].field && q->is_written)
      add_access(g, n, s->args[i].field, piece->part, &piece->box, true);
    if (s->args[i].scalar) /* each device has a value of its own, until it is reduced */
      add_access(g, n, s->args[i].scalar, engine, NULL, q->kind == PARAM_REDUCE || q->is_written);
  }
}

/* The scalars that a step reduces into, or the fields that it rotates. */
static void add_names(graph *g, kind what, const char *verb, const ambit__step *s)
{
  node *n = add_node(g, what);
  size_t at;

  if (!n) return;
  at = (size_t)snprintf(n->label, sizeof n->label, "%s", verb);
  for (int i = 0; i < s->n; i++) {
    const ambit_scalar *to = s->args[i].scalar;

    if (what == SHARE && s->kernel->rule->params[i].kind != PARAM_REDUCE) continue;
    if (at < sizeof n->label)
      at += (size_t)snprintf(n->label + at, sizeof n->label - at, " %s",
                             what == SHARE ? to->name : s->args[i].field->name);
    add_access(g, n, what == SHARE ? (const void *)to : s->args[i].field, -1, NULL, true);
  }
}

/* Its steps are drawn with its program. It may use all fields. */
static void add_call(graph *g, const ambit__subrun *call)
{
  node *n = add_node(g, CALL);

  if (!n) return;
  snprintf(n->label, sizeof n->label, "call program %d\\nat most %" PRId64 " iterations",
           ambit__explain_number(g->p->grid->context, call->program), call->most);
}

static void add_operation(graph *g, const ambit__operation *op)
{
  switch (op->kind) {
  case OP_BEGIN:
  case OP_EDGES:
  case OP_FINISH: add_exchange(g, op); break;
  case OP_LAUNCH:
    for (int i = 0; i < op->npieces; i++)
      add_piece(g, op, &op->pieces[i]);
    break;
  case OP_ALLREDUCE_BEGIN: add_names(g, SHARE, "reduce", &g->p->steps[op->step]); break;
  case OP_ALLREDUCE_END: add_names(g, SHARE, "reduced", &g->p->steps[op->step]); break;
  case OP_CALL: add_call(g, &g->p->steps[op->step].call); break;
  case OP_GHOSTS:
  case OP_KEEP:
  case OP_RECALL:
  case OP_WAVE:
  case OP_FUSED:
  case OP_TRADE: break; /* of cycles, which are not drawn */
  case OP_ROTATE: add_names(g, ROTATE, "rotate", &g->p->steps[op->step]); break;
  }
}

/* ---- edges ---- */

static bool meet(const cell_access *a, const cell_access *b)
{
  ambit__box both;

  if (a->what != b->what || (!a->writes && !b->writes)) return false;
  if (a->part != b->part && a->part >= 0 && b->part >= 0) return false;
  if (!a->box.ndims || !b->box.ndims) return true;
  both = ambit__box_intersect(&a->box, &b->box);
  return !ambit__box_is_empty(&both);
}

/* Whether `later` depends on `earlier`. */
static bool must_wait(const node *later, const node *earlier)
{
  if (later->kind == CALL || earlier->kind == CALL) return true;
  if (later->channel && earlier->channel && later->channel->peer == earlier->channel) return true;
  for (size_t i = 0; i < later->naccesses; i++)
    for (size_t k = 0; k < earlier->naccesses; k++)
      if (meet(&later->accesses[i], &earlier->accesses[k])) return true;
  return false;
}

static bool has_bit(const uint64_t *bits, size_t i)
{
  return bits[i / 64] >> i % 64 & 1;
}

static ambit_status add_edge(graph *g, size_t from, size_t to)
{
  AMBIT_TRY(ambit__make_room(&g->p->grid->context->errors, &g->edges, g->nedges, &g->edge_cap,
                             sizeof *g->edges));
  g->edges[g->nedges++] = (ambit__edge){from, to};
  return AMBIT_OK;
}

/* Adds the edges to a node, from the latest predecessor on; dependencies implied by these are
 * skipped. */
static ambit_status find_edges(graph *g, size_t to)
{
  node *n = &g->nodes[to];
  const size_t words = g->count / 64 + 1;

  AMBIT_NEW(&g->p->grid->context->errors, n->waits, words);
  for (size_t from = to; from-- > 0;) {
    if (has_bit(n->waits, from) || !must_wait(n, &g->nodes[from])) continue;
    AMBIT_TRY(add_edge(g, from, to));
    n->waits[from / 64] |= UINT64_C(1) << from % 64;
    for (size_t i = 0; i < words; i++)
      n->waits[i] |= g->nodes[from].waits[i];
  }
  return AMBIT_OK;
}

/* ---- the file ---- */

static void print_title(const graph *g, ambit__text *t)
{
  const ambit *a = g->p->grid->context;

  ambit__print(t, "process %d of %d, %d parts, overlap %s", a->net->rank, a->net->size,
               g->p->grid->nparts, a->settings.overlap);
}

static void print_dot(const graph *g, ambit__text *t)
{
  ambit__print(t, "digraph iteration {\n  label=\"");
  print_title(g, t);
  ambit__print(t, "\";\n");
  ambit__print(t, "  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n");
  for (size_t i = 0; i < g->count; i++)
    ambit__print(t, "  n%zu [class=\"%s\", fillcolor=\"%s\", label=\"%s\"];\n", i,
                 names[g->nodes[i].kind], colours[g->nodes[i].kind], g->nodes[i].label);
  for (size_t i = 0; i < g->nedges; i++)
    ambit__print(t, "  n%zu -> n%zu;\n", g->edges[i].from, g->edges[i].to);
  ambit__print(t, "}\n");
}

static ambit_status print_svg(const graph *g, ambit__text *t)
{
  ambit__errors *errors = &g->p->grid->context->errors;
  ambit__box_of_text *boxes = ambit__new(errors, g->count + 1, sizeof *boxes);
  ambit__text title = {0};
  ambit_status s = AMBIT_ENOMEM;
  char *head;

  print_title(g, &title);
  head = ambit__text_finish(&title);
  for (size_t i = 0; boxes && i < g->count; i++)
    boxes[i] = (ambit__box_of_text){.label = g->nodes[i].label,
                                    .kind = names[g->nodes[i].kind],
                                    .colour = colours[g->nodes[i].kind]};
  if (boxes && head) s = ambit__graph_draw(errors, head, boxes, g->count, g->edges, g->nedges, t);
  free(head);
  free(boxes);
  return s;
}

static ambit_status make_graph(graph *g, const char *path, ambit__text *t)
{
  const size_t length = strlen(path);
  ambit__errors *errors = &g->p->grid->context->errors;

  for (size_t i = 0; i < g->p->schedule.n; i++)
    add_operation(g, &g->p->schedule.ops[i]);
  AMBIT_CHECK(!g->failed, errors, AMBIT_ENOMEM, "out of memory for a graph of %zu nodes", g->count);
  AMBIT_CHECK(
      g->count <= MOST_NODES, errors, AMBIT_EUNSUPPORTED,
      "the graph would have %zu nodes, which is too many to display; use fewer parts per process",
      g->count);
  for (size_t i = 0; i < g->count; i++)
    AMBIT_TRY(find_edges(g, i));
  if (length > 4 && !strcmp(path + length - 4, ".svg")) return print_svg(g, t);
  print_dot(g, t);
  return AMBIT_OK;
}

static ambit_status write_text(ambit__errors *errors, const char *path, const char *text)
{
  ambit__file *file;

  if (!strcmp(path, "-")) {
    printf("%s", text);
    return AMBIT_OK;
  }
  AMBIT_TRY(ambit__file_create(errors, path, &file));
  ambit__file_write(file, text, strlen(text));
  return ambit__file_commit(file);
}

ambit_status ambit__explain_graph(ambit_program *p, const char *path)
{
  ambit__errors *errors = &p->grid->context->errors;
  graph g = {.p = p};
  ambit__text t = {0};
  ambit_status s = make_graph(&g, path, &t);
  char *text = ambit__text_finish(&t);

  if (!s && !text) s = ambit__raise(errors, AMBIT_ENOMEM, "out of memory for the text of a graph");
  if (!s) s = write_text(errors, path, text);
  for (size_t i = 0; i < g.count; i++) {
    free(g.nodes[i].accesses);
    free(g.nodes[i].waits);
  }
  free(g.nodes);
  free(g.edges);
  free(text);
  return s;
}
