/* SPDX-License-Identifier: BSD-3-Clause */
/* listing.c - the schedule of an iteration: a line per operation of a process. */
#include "runtime/exchange/exchange.h"
#include "runtime/explain/explain.h"
#include "runtime/program/cycle.h"

#include <inttypes.h>

enum { BOX_CHARS = 256 };

const char *ambit__cells_name(ambit__cells cells)
{
  static const char *const names[] = {"all cells", "inner cells", "border cells"};

  return names[cells];
}

/* The fields of an exchange; of a field with several slices, how many of its components. */
static void print_fields(ambit__text *t, const ambit__exchange *x)
{
  for (int i = 0, n; i < x->nslices; i += n) {
    const ambit_field *f = x->slices[i]->field;
    int components = 0;

    for (n = 0; i + n < x->nslices && x->slices[i + n]->field == f; n++)
      components += x->slices[i + n]->count;
    ambit__print(t, "%s%s", i ? ", " : "", f->name);
    if (components < f->components)
      ambit__print(t, " (%d of %d components)", components, f->components);
  }
}

/* "part 0 to 1 (16 bytes), ...": the messages of one direction. */
static void print_mails(ambit__text *t, const ambit_grid *g, const ambit__exchange *x,
                        bool incoming)
{
  size_t bytes = 0;
  int n = 0;

  for (int i = 0; i < x->nchannels; i++) {
    const ambit__channel *m = &x->channels[i];

    if (m->incoming != incoming) continue;
    if (n < AMBIT__SHOWN_BOXES)
      ambit__print(t, "%s part %d %s %d (%zu bytes)", n ? "," : "", g->first + m->part,
                   incoming ? "from" : "to", m->other, m->bytes);
    bytes += m->bytes;
    n++;
  }
  if (n > AMBIT__SHOWN_BOXES)
    ambit__print(t, " and %d more, %zu bytes in all", n - AMBIT__SHOWN_BOXES, bytes);
}

static int near_copies(const ambit_program *p, const ambit__exchange *x)
{
  const ambit_grid *g = p->grid;
  int n = 0;

  for (int i = 0; i < x->nslices; i++) {
    const ambit__halo *h = &x->slices[i]->halo;

    for (size_t k = 0; k < h->count; k++)
      n += g->mine[h->transfers[k].from] &&
           ambit__parts_near(g, h->transfers[k].from, h->transfers[k].to);
  }
  return n;
}

static void print_begin(ambit__text *t, const ambit_program *p, const ambit__exchange *x)
{
  const int copies = near_copies(p, x);

  ambit__print(t, "begin   ");
  print_fields(t, x);
  ambit__print(t, ":%s", x->nchannels || copies ? "" : " no messages");
  print_mails(t, p->grid, x, false);
  if (copies)
    ambit__print(t, "%s %d cop%s between parts on one device", x->nchannels ? ";" : "", copies,
                 copies == 1 ? "y" : "ies");
  ambit__print(t, "\n");
}

static void print_finish(ambit__text *t, const ambit_program *p, const ambit__exchange *x)
{
  ambit__print(t, "finish  ");
  print_fields(t, x);
  if (x->nchannels) ambit__print(t, ":");
  print_mails(t, p->grid, x, true);
  ambit__print(t, "%s\n",
               x->nchannels ? "; and ghost cells that wait for them" : ": the other ghost cells");
}

static void print_pieces(ambit__text *t, const ambit_program *p, const ambit__operation *op)
{
  int64_t cells = 0;
  char box[BOX_CHARS];

  ambit__print(t, "%s:%s", ambit__cells_name(op->cells), op->npieces ? "" : " none");
  for (int i = 0; i < op->npieces; i++) {
    const ambit__piece *piece = &op->pieces[i];
    const bool again = i && op->pieces[i - 1].part == piece->part;

    cells += ambit__grid_count(p->grid, &piece->box);
    if (i >= AMBIT__SHOWN_BOXES) continue;
    ambit__box_print(&piece->box, box, sizeof box);
    if (!again) ambit__print(t, "%s part %d", i ? "," : "", p->grid->first + piece->part);
    ambit__print(t, " %s", box);
  }
  if (op->npieces > AMBIT__SHOWN_BOXES)
    ambit__print(t, " and %d more, %" PRId64 " cells in all", op->npieces - AMBIT__SHOWN_BOXES,
                 cells);
  ambit__print(t, "\n");
}

static void print_launch(ambit__text *t, const ambit_program *p, const ambit__operation *op)
{
  ambit__print(t, "launch  %s, ", p->steps[op->step].kernel->rule->name);
  print_pieces(t, p, op);
}

static void print_fused(ambit__text *t, const ambit_program *p, const ambit__operation *op)
{
  const ambit__fused *f = p->cycle ? p->cycle->fused : NULL;

  if (!f) return; /* only a cycle's schedule has fused launches */
  ambit__print(t, "fused   %d stage%s in one launch %s", f->plan.flow.nstages,
               f->plan.flow.nstages == 1 ? "" : "s",
               f->functions[p->grid->placement.engine[0]]->plan);
  if (p->grid->nparts == 1) {
    ambit__print(t, "\n");
    return;
  }
  ambit__print(t, ", ");
  print_pieces(t, p, op);
}

/* The names of a step's arguments of one kind. */
static void print_names(ambit__text *t, const ambit__step *s, bool fields)
{
  int n = 0;

  for (int i = 0; i < s->n; i++) {
    if (!fields && s->kernel->rule->params[i].kind != PARAM_REDUCE) continue;
    ambit__print(t, "%s%s", n++ ? ", " : "",
                 fields ? s->args[i].field->name : s->args[i].scalar->name);
  }
  ambit__print(t, "\n");
}

static void print_wave(ambit__text *t, const ambit__wavefront *w)
{
  char text[96];

  ambit__wavefront_print(w, text, sizeof text);
  ambit__print(t, "wave    %d stages in one pass over the cells %s\n", w->wave.n, text);
}

static void print_call(ambit__text *t, const ambit_program *p, const ambit__subrun *call)
{
  ambit__print(t, "call    program %d, ", ambit__explain_number(p->grid->context, call->program));
  if (call->scalar)
    ambit__print(t, "until %s: at most %" PRId64 " iterations\n", call->scalar->name, call->most);
  else
    ambit__print(t, "%" PRId64 " iteration%s\n", call->most, call->most == 1 ? "" : "s");
}

static void print_operation(ambit__text *t, const ambit_program *p, const ambit__operation *op)
{
  switch (op->kind) {
  case OP_BEGIN: print_begin(t, p, op->exchange); break;
  case OP_EDGES:
    ambit__print(t, "edges   ");
    print_fields(t, op->exchange);
    ambit__print(t, ": ghost cells that are copies of own cells\n");
    break;
  case OP_FINISH: print_finish(t, p, op->exchange); break;
  case OP_GHOSTS: ambit__print(t, "ghosts  around all cells of the next step\n"); break;
  case OP_LAUNCH: print_launch(t, p, op); break;
  case OP_KEEP: ambit__print(t, "ahead   the steps on scalars, of all iterations\n"); break;
  case OP_RECALL: break; /* not shown */
  case OP_WAVE:
    if (p->cycle) print_wave(t, p->cycle->wavefront);
    break;
  case OP_FUSED: print_fused(t, p, op); break;
  case OP_TRADE: ambit__print(t, "trade   fields trade buffers\n"); break;
  case OP_ALLREDUCE_BEGIN:
  case OP_ALLREDUCE_END:
    ambit__print(t, "%-8s", op->kind == OP_ALLREDUCE_BEGIN ? "reduce" : "reduced");
    print_names(t, &p->steps[op->step], false);
    break;
  case OP_ROTATE:
    ambit__print(t, "rotate  ");
    print_names(t, &p->steps[op->step], true);
    break;
  case OP_CALL: print_call(t, p, &p->steps[op->step].call); break;
  }
}

/* Whether an operation of a schedule is shown: not the single steps on scalars before a wave, nor
 * the rotations after one with all cells. */
static bool is_shown(const ambit_program *p, const ambit__schedule *list, size_t i)
{
  const ambit__operation *op = &list->ops[i];
  const bool waves = p->cycle && list == &p->cycle->schedule && p->cycle->wavefront;

  for (size_t k = 0; waves && k < i; k++)
    if (list->ops[k].kind == OP_WAVE && list->ops[k].cells == CELLS_ALL) return false;
  if (op->kind == OP_KEEP) return op->order < 0;
  if (op->kind == OP_LAUNCH) return !waves || p->applies[op->step].role != ROLE_AHEAD;
  return op->kind != OP_RECALL;
}

static void print_schedule(ambit__text *t, const ambit_program *p, const ambit__schedule *list)
{
  const ambit *a = p->grid->context;

  const int n = list->iterations;

  if (n > 1)
    ambit__print(t, "schedule of %d iterations", n);
  else
    ambit__print(t, "schedule of an iteration");
  if (a->net->size > 1) ambit__print(t, " of process %d", a->net->rank);
  if (p->grid->nparts > 1) ambit__print(t, ", overlap %s", a->settings.overlap);
  ambit__print(t, "\n");
  for (size_t i = 0, shown = 0; i < list->n; i++) {
    if (!is_shown(p, list, i)) continue;
    ambit__print(t, "  %2zu  ", ++shown);
    if (list->ops[i].every > 1)
      ambit__print(t, "in each %" PRId64 "th iteration: ", list->ops[i].every);
    print_operation(t, p, &list->ops[i]);
  }
}

void ambit__explain_schedule(const ambit_program *p, ambit__text *t)
{
  const int depth = p->grid->context->settings.depth;

  if (p->cycle) print_schedule(t, p, &p->cycle->schedule);
  if (depth > 1 && !p->cycle)
    ambit__print(t, "depth %d is not used: %s\n", depth, ambit__cycle_refusal(p));
  if (depth == 0 && !p->cycle && p->grid->nparts == 1 && p->grid->placement.n)
    ambit__print(t, "iterations run one by one: %s\n", ambit__cycle_refusal(p));
  print_schedule(t, p, &p->schedule);
}
