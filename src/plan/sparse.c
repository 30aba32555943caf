/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.c - on a GPU, on a sparse grid: a thread computes one active cell at a time.
 *
 * The cells are dealt to the threads (grid/deal.h): a word per 32 cells leads each to a line with
 * its place in memory and the distances to the rows that it reads. Reads along its own row, and
 * along those rows, are at constant distances from there. A block has a share of the cells that
 * are next to each other in the order in which they are dealt, so that it reads most cells of other
 * rows from its cache; a thread has every 256th of them, and loads several before it computes.
 */
#include "grid/deal.h"
#include "plan/gpu.h"

enum {
  THREADS = 256, /* per block */
  MOST_AHEAD = 4,
  FEW_BYTES = 16, /* per cell: a thread that moves no more than this should have many in flight */
  BLOCKS_PER_MULTIPROCESSOR = 32
};

/* ---- choice of a plan ---- */

static bool applies(const ambit__group *g, const ambit__target *t)
{
  return t->kind == TARGET_GPU && g->form && g->nsteps == 1 && g->depth == 1;
}

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  const int64_t cores = t->threads > 1 ? t->threads : 1;
  int threads = THREADS, n = 0;

  while (t->max_threads > 0 && threads > t->max_threads)
    threads /= 2;
  for (int ahead = 1; ahead <= (t->is_cpu ? 1 : MOST_AHEAD) && n < most; ahead *= 2)
    plans[n++] =
        (ambit__plan){.strategy = &ambit__strategy_sparse,
                      .depth = 1,
                      .ahead = ahead,
                      .threads = {threads, 1, 1},
                      .blocks = ambit__gpucode_reduces(g) ? AMBIT__GPUCODE_FEW
                                                          : cores * BLOCKS_PER_MULTIPROCESSOR};
  return n;
}

/* Cells in flight per thread, so that the loads of all threads hide the latency of memory. */
static int ahead_for(const ambit__group *g, const ambit__target *t)
{
  const double bytes = ambit__price_of(g->steps[0].rule).bytes;

  if (t->is_cpu) return 1;
  return bytes <= FEW_BYTES ? 4 : bytes <= 3 * FEW_BYTES ? 2 : 1;
}

static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  return ambit__price_of(g->steps[0].rule).bytes / (p->ahead == ahead_for(g, t) ? 3000 : 2000);
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  ambit__print(t, "(sparse %d ahead %d)", p->threads[0], p->ahead);
}

/* ---- launches ---- */

int64_t ambit__sparse_share(const ambit__plan *p, int64_t cells)
{
  const int64_t turn = (int64_t)p->threads[0] * p->ahead, turns = (cells + turn - 1) / turn;

  return (turns + p->blocks - 1) / p->blocks * turn;
}

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  const int64_t cells = box->hi[0] - box->lo[0], share = ambit__sparse_share(p, cells);

  (void)g;
  *shape = (ambit__shape){.blocks = {(cells + share - 1) / share, 1, 1},
                          .threads = {p->threads[0], 1, 1}};
}

/* ---- code ---- */

/* The line of cell t. */
static void emit_line(const ambit__gpucode_job *j)
{
  const int words = ambit__deal_words(j->group->form->ncolumns, ambit__gpucode_indices(j->group));

  ambit__line(j->w, "const ambit_u64 group = groups[t >> 5];");
  ambit__line(j->w,
              "%sconst ambit_i32 *line = lines + %d * ((ambit_i64)(ambit_u32)group + "
              "ambit_count_bits((ambit_u32)(group >> 32) & (0xffffffffu >> (31 - (t & 31)))));",
              j->dialect->global, words);
}

/* The distances to the rows that are read. */
static void emit_columns(const ambit__gpucode_job *j)
{
  const ambit__chunk_form *form = j->group->form;
  const int last = j->group->ndims - 1;

  for (int k = 0; k < form->ncolumns; k++)
    ambit__line(j->w, "const ambit_i32 k%d = line[%d];", k, 1 + k);
  for (int i = 0; i < j->rule->nparams; i++)
    for (int k = 0; ambit__gpucode_is_field(j, i) && k < form->ncolumns; k++)
      if (form->columns[k].view == form->view[i] && !j->bind[i].contiguous)
        ambit__line(j->w, "const %s %s_k%d = k%d * %s_s%d;", j->integer, j->rule->params[i].name, k,
                    k, j->rule->params[i].name, last);
}

static void emit_indices(const ambit__gpucode_job *j)
{
  const int first = 1 + j->group->form->ncolumns, n = ambit__gpucode_indices(j->group);

  for (int d = 0; d < n; d++)
    ambit__line(j->w,
                "const %s i%d = (ambit_i64)((ambit_u64)(ambit_u32)line[%d] | "
                "(ambit_u64)(ambit_u32)line[%d] << 32)%s;",
                j->integer, d, first + 2 * d, first + 2 * d + 1,
                d == j->group->ndims - 1 ? " + t" : "");
}

static void emit_places(const ambit__gpucode_job *j)
{
  const int last = j->group->ndims - 1;

  ambit__line(j->w, "const %s at = t + line[0];", j->integer);
  for (int i = 0; i < j->rule->nparams; i++) {
    const ambit__param *p = &j->rule->params[i];

    if (!ambit__gpucode_is_field(j, i)) continue;
    ambit__line_begin(j->w);
    ambit__print(j->t, "%s%s%s *%s_at = %s_mem + (%s_o + at", j->dialect->global,
                 p->is_written ? "" : "const ", ambit__gpucode_type(j, i), p->name, p->name,
                 p->name);
    if (!j->bind[i].contiguous) ambit__print(j->t, " * %s_s%d", p->name, last);
    ambit__line_end(j->w, ");");
  }
}

static void emit_cell(const ambit__gpucode_job *j)
{
  const ambit__scope s = ambit__gpucode_scope(j);

  emit_line(j);
  emit_places(j);
  emit_columns(j);
  emit_indices(j);
  ambit__gpucode_declare_outs(j);
  ambit__emit_stmts(&s, j->w, j->rule->body);
  ambit__gpucode_store_outs(j);
  ambit__gpucode_fold_cell(j);
}

static void emit(const ambit__group *g, const ambit__target *t, const ambit__plan *p,
                 ambit__writer *w)
{
  const ambit__gpucode_job j = ambit__gpucode_begin(g, t, p, w);
  ambit__gpucode_slot slots[AMBIT__GPUCODE_SLOTS];

  ambit__gpucode_emit_head(&j);
  ambit__gpucode_open_kernel(&j, "", p->threads, ambit__gpucode_slots(g, slots), slots);
  ambit__gpucode_emit_ended(&j);
  ambit__gpucode_declare_totals(&j, p->threads[0]);
  ambit__gpucode_emit_values(&j);
  ambit__line(w, "const %s first = %s * share;", j.integer, j.dialect->block[0]);
  ambit__line(w,
              "const ambit_i32 end = (ambit_i32)(first + share < cells ? first + share : cells);");
  ambit__line(w, "#pragma unroll %d", p->ahead);
  ambit__open(w, "for (ambit_i32 t = (ambit_i32)first + %s; t < end; t += %d)",
              j.dialect->thread[0], p->threads[0]);
  emit_cell(&j);
  ambit__close(w);
  if (ambit__gpucode_reduces(g)) {
    ambit__line(w, "const int thread = %s;", j.dialect->thread[0]);
    ambit__line(w, "const %s block = %s;", j.integer, j.dialect->block[0]);
    ambit__gpucode_leave_totals(&j, p->threads[0], "thread", "block");
  }
  ambit__close(w);
  ambit__gpucode_emit_fold(&j);
}

const ambit__strategy ambit__strategy_sparse = {
    .name = "sparse",
    .applies = applies,
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
