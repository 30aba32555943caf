/* SPDX-License-Identifier: BSD-3-Clause */
/* explain_order.c - prints the schedule of an iteration: a line per operation of a process.
 */
#include "explain.h"

#include "runtime/exchange/exchange.h"
#include "runtime/program/cycle.h"

#include <inttypes.h>
#include <stdio.h>

enum { BOX_CHARS = 256 };

const char *tool_cells_name(ambit__cells cells)
{
  static const char *const names[] = {"all cells", "inner cells", "border cells"};

  return names[cells];
}

/* The fields of an exchange; of a field with several slices, how many of its components. */
static void print_fields(const ambit__exchange *x)
{
  for (int i = 0, n; i < x->nslices; i += n) {
    const ambit_field *f = x->slices[i]->field;
    int components = 0;

    for (n = 0; i + n < x->nslices && x->slices[i + n]->field == f; n++)
      components += x->slices[i + n]->count;
    printf("%s%s", i ? ", " : "", f->name);
    if (components < f->components) printf(" (%d of %d components)", components, f->components);
  }
}

/* "part 0 to 1 (16 bytes), ...": the messages of one direction. */
static void print_mails(const ambit_grid *g, const ambit__exchange *x, bool incoming)
{
  size_t bytes = 0;
  int n = 0;

  for (int i = 0; i < x->nchannels; i++) {
    const ambit__channel *m = &x->channels[i];

    if (m->incoming != incoming) continue;
    if (n < TOOL_MOST_BOXES)
      printf("%s part %d %s %d (%zu bytes)", n ? "," : "", g->first + m->part,
             incoming ? "from" : "to", m->other, m->bytes);
    bytes += m->bytes;
    n++;
  }
  if (n > TOOL_MOST_BOXES) printf(" and %d more, %zu bytes in all", n - TOOL_MOST_BOXES, bytes);
}

static int near_copies(const ambit_program *p, const ambit__exchange *x)
{
  const ambit_grid *g = p->grid;
  int n = 0;

  for (int i = 0; i < x->nslices; i++) {
    const ambit__halo *h = &x->slices[i]->halo;

    for (size_t k = 0; k < h->count; k++)
      n += g->mine[h->transfers[k].from] &&
           tool_parts_near(g, h->transfers[k].from, h->transfers[k].to);
  }
  return n;
}

static void print_begin(const ambit_program *p, const ambit__exchange *x)
{
  const int copies = near_copies(p, x);

  printf("begin   ");
  print_fields(x);
  printf(":%s", x->nchannels || copies ? "" : " no messages");
  print_mails(p->grid, x, false);
  if (copies)
    printf("%s %d cop%s between parts on one device", x->nchannels ? ";" : "", copies,
           copies == 1 ? "y" : "ies");
  printf("\n");
}

static void print_finish(const ambit_program *p, const ambit__exchange *x)
{
  printf("finish  ");
  print_fields(x);
  if (x->nchannels) printf(":");
  print_mails(p->grid, x, true);
  printf("%s\n", x->nchannels ? "; and ghost cells that wait for them" : ": the other ghost cells");
}

static void print_pieces(const ambit_program *p, const ambit__operation *op)
{
  int64_t cells = 0;
  char box[BOX_CHARS];

  printf("%s:%s", tool_cells_name(op->cells), op->npieces ? "" : " none");
  for (int i = 0; i < op->npieces; i++) {
    const ambit__piece *piece = &op->pieces[i];
    const bool again = i && op->pieces[i - 1].part == piece->part;

    cells += ambit__grid_count(p->grid, &piece->box);
    if (i >= TOOL_MOST_BOXES) continue;
    ambit__box_print(&piece->box, box, sizeof box);
    if (!again) printf("%s part %d", i ? "," : "", p->grid->first + piece->part);
    printf(" %s", box);
  }
  if (op->npieces > TOOL_MOST_BOXES)
    printf(" and %d more, %" PRId64 " cells in all", op->npieces - TOOL_MOST_BOXES, cells);
  printf("\n");
}

static void print_launch(const ambit_program *p, const ambit__operation *op)
{
  printf("launch  %s, ", p->steps[op->step].kernel->rule->name);
  print_pieces(p, op);
}

static void print_fused(const ambit_program *p, const ambit__operation *op)
{
  const ambit__fused *f = p->cycle ? p->cycle->fused : NULL;

  if (!f) return; /* only a cycle's schedule has fused launches */
  printf("fused   %d stage%s in one launch %s", f->plan.pipe.nstages,
         f->plan.pipe.nstages == 1 ? "" : "s", f->functions[p->grid->placement.engine[0]]->plan);
  if (p->grid->nparts == 1) {
    printf("\n");
    return;
  }
  printf(", ");
  print_pieces(p, op);
}

/* The names of a step's arguments of one kind. */
static void print_names(const ambit__step *s, bool fields)
{
  int n = 0;

  for (int i = 0; i < s->n; i++) {
    if (!fields && s->kernel->rule->params[i].kind != PARAM_REDUCE) continue;
    printf("%s%s", n++ ? ", " : "", fields ? s->args[i].field->name : s->args[i].scalar->name);
  }
  printf("\n");
}

static void print_wave(const ambit__wavefront *w)
{
  char text[96];

  ambit__wavefront_print(w, text, sizeof text);
  printf("wave    %d stages in one pass over the cells %s\n", w->wave.n, text);
}

static void print_operation(const ambit_program *p, const ambit__operation *op)
{
  switch (op->kind) {
  case OP_BEGIN: print_begin(p, op->exchange); break;
  case OP_EDGES:
    printf("edges   ");
    print_fields(op->exchange);
    printf(": ghost cells that are copies of own cells\n");
    break;
  case OP_FINISH: print_finish(p, op->exchange); break;
  case OP_GHOSTS: printf("ghosts  around all cells of the next step\n"); break;
  case OP_LAUNCH: print_launch(p, op); break;
  case OP_WAVE:
    if (p->cycle) print_wave(p->cycle->wavefront);
    break;
  case OP_FUSED: print_fused(p, op); break;
  case OP_TRADE: printf("trade   fields trade buffers\n"); break;
  case OP_ALLREDUCE_BEGIN:
  case OP_ALLREDUCE_END:
    printf("%-8s", op->kind == OP_ALLREDUCE_BEGIN ? "reduce" : "reduced");
    print_names(&p->steps[op->step], false);
    break;
  case OP_ROTATE:
    printf("rotate  ");
    print_names(&p->steps[op->step], true);
    break;
  case OP_CALL: printf("call    another program\n"); break;
  }
}

static void print_schedule(const ambit_program *p, const ambit__schedule *list)
{
  const ambit *a = p->grid->context;

  const int n = list->iterations;

  if (n > 1)
    printf("schedule of %d iterations", n);
  else
    printf("schedule of an iteration");
  if (a->net->size > 1) printf(" of process %d", a->net->rank);
  if (p->grid->nparts > 1) printf(", overlap %s", a->settings.overlap);
  printf("\n");
  for (size_t i = 0; i < list->n; i++) {
    if (i && list->ops[0].kind == OP_WAVE) break; /* the rotations of its iterations */
    printf("  %2zu  ", i + 1);
    print_operation(p, &list->ops[i]);
  }
}

void tool_print_schedule(const ambit_program *p)
{
  const int depth = p->grid->context->settings.depth;

  if (p->cycle) print_schedule(p, &p->cycle->schedule);
  if (depth > 1 && !p->cycle) printf("depth %d is not used: %s\n", depth, ambit__cycle_refusal(p));
  if (depth == 0 && !p->cycle && p->grid->nparts == 1 && p->grid->placement.n)
    printf("iterations run one by one: %s\n", ambit__cycle_refusal(p));
  print_schedule(p, &p->schedule);
}
