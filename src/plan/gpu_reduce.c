/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_reduce.c - reductions on GPUs.
 *
 * Each thread folds its cells. Each block folds its threads as a tree in shared memory and stores
 * one value in device memory; one block then folds those values. The cells of a thread and the
 * order of folding depend only on the launch, so a sum is the same in every run.
 *
 * Strict sums are exact (docs/design/0008) and do not depend on the order. Each thread has windows
 * in registers, each block a long accumulator in shared memory, and all blocks add to one
 * accumulator in device memory.
 */
#include "plan/gpu.h"

static const ambit__param *param(const ambit__gpucode_job *j, int i)
{
  return &j->rule->params[i];
}

static bool is_real_sum(const ambit__param *p)
{
  return p->reduce == REDUCE_SUM && ambit__type_is_real(p->type);
}

bool ambit__gpucode_is_exact(const ambit__group *g, int i)
{
  return !g->for_people && ambit__sums_exactly(g, &g->steps[0].rule->params[i]);
}

static bool is_exact(const ambit__gpucode_job *j, int i)
{
  return ambit__gpucode_is_exact(j->group, i);
}

const char *ambit__gpucode_total_type(const ambit__gpucode_job *j, int i)
{
  if (is_exact(j, i)) return j->integer;
  if (param(j, i)->reduce != REDUCE_SUM) return ambit__gpucode_type(j, i);
  return is_real_sum(param(j, i)) ? "ambit_sum" : j->integer;
}

static void print_identity(const ambit__gpucode_job *j, int i)
{
  const ambit__param *p = param(j, i);

  if (is_real_sum(p))
    ambit__print(j->t, "ambit_sum_zero()");
  else
    ambit__emit_constant(j->dialect, j->t, p->type, ambit__reduce_identity(p));
}

/* ---- strict sums ---- */

static bool any_exact(const ambit__gpucode_job *j)
{
  for (int i = 0; i < j->rule->nparams; i++)
    if (is_exact(j, i)) return true;
  return false;
}

static bool all_exact(const ambit__gpucode_job *j)
{
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__gpucode_is_reduction(j, i) && !is_exact(j, i)) return false;
  return true;
}

/* "for (int k = t; k < AMBIT_LONG_WORDS; k += 256)" */
static void open_words(const ambit__gpucode_job *j, const char *thread, int threads)
{
  ambit__open(j->w, "for (int k = %s; k < AMBIT_LONG_WORDS; k += %d)", thread, threads);
}

/* The accumulators of the block, zeroed by all threads, and memory to join the windows of the
 * threads. */
static void declare_words(const ambit__gpucode_job *j, int threads)
{
  const ambit__dialect *d = j->dialect;
  ambit__text thread = {0};

  if (!any_exact(j)) return;
  for (int i = 0; i < j->rule->nparams; i++)
    if (is_exact(j, i))
      ambit__line(j->w, "%s%s %s_words[AMBIT_LONG_WORDS];", d->shared, j->integer,
                  param(j, i)->name);
  ambit__line(j->w, "%s%s windows[%d], anchor;", d->shared, j->integer, 2 * threads);
  ambit__print(&thread, "%s * %d + %s", d->thread[1], j->plan->threads[0], d->thread[0]);
  open_words(j, thread.failed ? "0" : thread.chars, threads);
  for (int i = 0; i < j->rule->nparams; i++)
    if (is_exact(j, i)) ambit__line(j->w, "ambit_long_clear(%s_words, k);", param(j, i)->name);
  ambit__close(j->w);
  ambit__line(j->w, "%s;", d->barrier);
  j->t->failed |= thread.failed;
  ambit__text_free(&thread);
}

/* The largest power of 2 that is less than the number of threads: half of a tree. */
static int half_of(int threads)
{
  int half = 1;

  while (2 * half < threads)
    half *= 2;
  return half;
}

/* Adds the windows of all threads to the accumulator of the block. Those of threads with the same
 * anchor, which are mostly all of them, are added as a tree first: atomic additions of all threads
 * to the same few words would have to wait for each other. Any of the anchors will do. */
static void join_windows(const ambit__gpucode_job *j, int i, int threads, const char *thread)
{
  const char *name = param(j, i)->name, *barrier = j->dialect->barrier;

  ambit__line(j->w, "if (%s == 0) anchor = 0;", thread);
  ambit__line(j->w, "%s;", barrier);
  ambit__line(j->w, "if (ambit_part_anchor(%s_total)) anchor = ambit_part_anchor(%s_total);", name,
              name);
  ambit__line(j->w, "%s;", barrier);
  ambit__open(j->w, "if (ambit_part_anchor(%s_total) != anchor)", name);
  ambit__line(j->w, "ambit_part_leave(%s_total, %s_words);", name, name);
  ambit__line(j->w, "%s_total = ambit_part_zero();", name);
  ambit__close(j->w);
  ambit__line(j->w, "windows[%s] = ambit_part_high(%s_total);", thread, name);
  ambit__line(j->w, "windows[%d + %s] = ambit_part_low(%s_total);", threads, thread, name);
  ambit__line(j->w, "%s;", barrier);
  ambit__open(j->w, "for (int n = %d; n > 0; n /= 2)", half_of(threads));
  ambit__open(j->w, "if (%s < n && %s + n < %d)", thread, thread, threads);
  ambit__line(j->w, "windows[%s] += windows[%s + n];", thread, thread);
  ambit__line(j->w, "windows[%d + %s] += windows[%d + %s + n];", threads, thread, threads, thread);
  ambit__close(j->w);
  ambit__line(j->w, "%s;", barrier);
  ambit__close(j->w);
  ambit__line(j->w, "if (%s == 0) ambit_part_join(%s_words, anchor, windows[0], windows[%d]);",
              thread, name, threads);
  ambit__line(j->w, "%s;", barrier);
}

static void leave_words(const ambit__gpucode_job *j, int threads, const char *thread)
{
  if (!any_exact(j)) return;
  for (int i = 0; i < j->rule->nparams; i++)
    if (is_exact(j, i)) join_windows(j, i, threads, thread);
  open_words(j, thread, threads);
  for (int i = 0; i < j->rule->nparams; i++)
    if (is_exact(j, i))
      ambit__line(j->w, "ambit_long_leave(%s_mem, %s_words, k);", param(j, i)->name,
                  param(j, i)->name);
  ambit__close(j->w);
}

/* In the fold kernel: adds r_mem, and the accumulator behind the scalar if `more` asks for it, into
 * that accumulator; zeroes r_mem; stores the value in the scalar. */
static void fold_words(const ambit__gpucode_job *j, int i)
{
  const ambit__dialect *d = j->dialect;
  const char *name = param(j, i)->name;

  ambit__line(j->w, "%s%s *%s_behind = (%s%s *)%s_to + 1;", d->global, j->integer, name, d->global,
              j->integer, name);
  open_words(j, "t", AMBIT__GPUCODE_FOLD);
  ambit__line(j->w, "words[k] = %s_mem[k] + (more >> %d & 1 ? %s_behind[k] : 0);", name, i, name);
  ambit__line(j->w, "%s_mem[k] = 0;", name);
  ambit__close(j->w);
  ambit__line(j->w, "%s;", d->barrier);
  ambit__line(j->w, "if (t == 0) ambit_long_carry(words);");
  ambit__line(j->w, "%s;", d->barrier);
  open_words(j, "t", AMBIT__GPUCODE_FOLD);
  ambit__line(j->w, "%s_behind[k] = words[k];", name);
  ambit__close(j->w);
  ambit__line(j->w, "%s;", d->barrier);
  if (param(j, i)->type == AMBIT_F32)
    ambit__line(j->w, "if (t == 0) *(%sambit_u32 *)%s_to = ambit_long_bits_f32(words);", d->global,
                name);
  else
    ambit__line(j->w, "if (t == 0) *(%sambit_u64 *)%s_to = ambit_long_bits_f64(words);", d->global,
                name);
  ambit__line(j->w, "%s;", d->barrier);
}

/* ---- totals ---- */

/* The tree in shared memory and the total of each thread. */
static void declare_trees(const ambit__gpucode_job *j, int threads)
{
  if (all_exact(j)) return;
  ambit__line(j->w, "%s%s tree[%d];", j->dialect->shared, j->integer, threads);
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__gpucode_is_reduction(j, i) || is_exact(j, i)) continue;
    ambit__line_begin(j->w);
    ambit__print(j->t, "%s %s_total = ", ambit__gpucode_total_type(j, i), param(j, i)->name);
    print_identity(j, i);
    ambit__line_end(j->w, ";");
  }
}

void ambit__gpucode_declare_totals(const ambit__gpucode_job *j, int threads)
{
  if (!ambit__gpucode_reduces(j->group)) return;
  declare_trees(j, threads);
  declare_words(j, threads);
  for (int i = 0; i < j->rule->nparams; i++)
    if (is_exact(j, i))
      ambit__line(j->w, "ambit_part %s_total = ambit_part_zero();", param(j, i)->name);
}

/* "r_total = fold(r_total, r_<tail>);" */
static void fold_line(const ambit__gpucode_job *j, int i, bool join, const char *tail)
{
  const char *name = param(j, i)->name;

  ambit__line_begin(j->w);
  ambit__print(j->t, "%s_total = ", name);
  ambit__print_fold_name(j->t, param(j, i), join);
  ambit__print(j->t, "(%s_total, %s_%s)", name, name, tail);
  ambit__line_end(j->w, ";");
}

/* Folds the totals of all threads into r_tree[0]. */
static void emit_tree(const ambit__gpucode_job *j, int i, int threads, const char *thread)
{
  const char *name = param(j, i)->name;

  ambit__line(j->w, "%s%s *%s_tree = (%s%s *)tree;", j->dialect->shared_pointer,
              ambit__gpucode_total_type(j, i), name, j->dialect->shared_pointer,
              ambit__gpucode_total_type(j, i));
  ambit__line(j->w, "%s_tree[%s] = %s_total;", name, thread, name);
  ambit__line(j->w, "%s;", j->dialect->barrier);
  ambit__open(j->w, "for (int n = %d; n > 0; n /= 2)", half_of(threads));
  ambit__line_begin(j->w);
  ambit__print(j->t, "if (%s < n && %s + n < %d) %s_tree[%s] = ", thread, thread, threads, name,
               thread);
  ambit__print_fold_name(j->t, param(j, i), true);
  ambit__print(j->t, "(%s_tree[%s], %s_tree[%s + n])", name, thread, name, thread);
  ambit__line_end(j->w, ";");
  ambit__line(j->w, "%s;", j->dialect->barrier);
  ambit__close(j->w);
}

void ambit__gpucode_leave_totals(const ambit__gpucode_job *j, int threads, const char *thread,
                                 const char *block)
{
  leave_words(j, threads, thread);
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__gpucode_is_reduction(j, i) || is_exact(j, i)) continue;
    emit_tree(j, i, threads, thread);
    ambit__line(j->w, "if (%s == 0) %s_mem[%s] = %s_tree[0];", thread, param(j, i)->name, block,
                param(j, i)->name);
    ambit__line(j->w, "%s;", j->dialect->barrier);
  }
}

/* Stores the total in the scalar, in its type. Adding 0 makes -0 and 0 the same result. */
static void emit_result(const ambit__gpucode_job *j, int i)
{
  const ambit__param *p = param(j, i);
  const char *type = ambit__gpucode_type(j, i);

  if (is_real_sum(p))
    ambit__line(j->w, "if (t == 0) *%s_to = (%s)ambit_sum_value(%s_tree[0]);", p->name, type,
                p->name);
  else if (ambit__type_is_real(p->type))
    ambit__line(j->w, "if (t == 0) *%s_to = %s_tree[0] + (%s)0;", p->name, p->name, type);
  else
    ambit__line(j->w, "if (t == 0) *%s_to = (%s)%s_tree[0];", p->name, type, p->name);
}

/* "if ((more >> 2 & 1) && t == 0)"; in kernels for users, `more` is 0 or 1. */
static void fold_scalars(const ambit__gpucode_job *j)
{
  if (j->group->for_people) ambit__open(j->w, "if (more && t == 0)");
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__gpucode_is_reduction(j, i) || is_exact(j, i)) continue;
    if (!j->group->for_people) ambit__open(j->w, "if ((more >> %d & 1) && t == 0)", i);
    fold_line(j, i, false, "to[0]");
    if (!j->group->for_people) ambit__close(j->w);
  }
  if (j->group->for_people) ambit__close(j->w);
}

static void fold_trees(const ambit__gpucode_job *j)
{
  if (all_exact(j)) return;
  fold_scalars(j);
  ambit__open(j->w, "for (%s k = t; k < count; k += %d)", j->integer, AMBIT__GPUCODE_FOLD);
  for (int i = 0; i < j->rule->nparams; i++)
    if (ambit__gpucode_is_reduction(j, i) && !is_exact(j, i)) fold_line(j, i, true, "mem[k]");
  ambit__close(j->w);
  for (int i = 0; i < j->rule->nparams; i++) {
    if (!ambit__gpucode_is_reduction(j, i) || is_exact(j, i)) continue;
    emit_tree(j, i, AMBIT__GPUCODE_FOLD, "t");
    emit_result(j, i);
    ambit__line(j->w, "%s;", j->dialect->barrier);
  }
}

void ambit__gpucode_emit_fold(const ambit__gpucode_job *j)
{
  const int threads[3] = {AMBIT__GPUCODE_FOLD, 1, 1};
  ambit__gpucode_slot slots[AMBIT__GPUCODE_FOLD_SLOTS];

  if (!ambit__gpucode_reduces(j->group)) return;
  ambit__gpucode_open_kernel(j, AMBIT__GPUCODE_FOLD_TAIL, threads,
                             ambit__gpucode_fold_slots(j->group, slots), slots);
  ambit__gpucode_emit_ended(j);
  declare_trees(j, AMBIT__GPUCODE_FOLD);
  if (any_exact(j))
    ambit__line(j->w, "%s%s words[AMBIT_LONG_WORDS];", j->dialect->shared, j->integer);
  ambit__line(j->w, "const int t = %s;", j->dialect->thread[0]);
  fold_trees(j);
  for (int i = 0; i < j->rule->nparams; i++)
    if (is_exact(j, i)) fold_words(j, i);
  ambit__close(j->w);
}
