/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.c - reductions on GPUs.
 *
 * Each thread folds its cells. Each block folds its threads as a tree in shared memory and stores
 * one value in device memory; one block then folds those values. The cells of a thread and the
 * order of folding depend only on the launch, so a sum is the same in every run.
 *
 * Strict sums are exact (docs/design/0008) and do not depend on the order. Each thread has windows
 * in registers, each block a long accumulator in shared memory, and all blocks add to one
 * accumulator in device memory.
 */
#include "nest/nest.h"

static bool is_real_sum(const ambit__param *p)
{
  return p->reduce == REDUCE_SUM && ambit__type_is_real(p->type);
}

static bool is_exact(const ambit__nest *n, int i)
{
  return ambit__group_is_exact(n->group, i);
}

/* Whether a parameter is a reduction by a tree. */
static bool is_tree(const ambit__nest *n, int i)
{
  return ambit__nest_is_reduction(n, i) && !is_exact(n, i);
}

static bool any(const ambit__nest *n, bool (*is)(const ambit__nest *, int))
{
  for (int i = 0; i < n->rule->nparams; i++)
    if (is(n, i)) return true;
  return false;
}

const char *ambit__total_type(const ambit__group *g, const ambit__dialect *d, int i)
{
  const ambit__param *p = &g->rule->params[i];

  if (ambit__group_is_exact(g, i)) return d->types[AMBIT_I64];
  if (p->reduce != REDUCE_SUM) return d->types[p->type];
  return is_real_sum(p) ? "ambit_sum" : d->types[AMBIT_I64];
}

const char *ambit__total_zero(ambit__nest *n, int i)
{
  const ambit__param *p = ambit__nest_param(n, i);

  return is_real_sum(p) ? "ambit_sum_zero()" : ambit__nest_identity(n, p);
}

/* The largest power of 2 that is less than the number of threads: half of a tree. */
static const char *half_of(ambit__nest *n, int threads)
{
  int half = 1;

  while (2 * half < threads)
    half *= 2;
  return ambit__nest_text(n, "%d", half);
}

/* for (int n = 64; n > 0; n /= 2): the levels of a tree. */
static void open_levels(ambit__nest *n, int threads)
{
  ambit__nest_loop(n, .type = "int", .name = "n", .from = half_of(n, threads), .below = "0",
                   .by = '/', .step = "2");
}

/* for (int k = t; k < AMBIT_LONG_WORDS; k += 256) */
static void open_numbers(ambit__nest *n, const char *type, const char *thread, const char *below,
                         int threads)
{
  ambit__nest_loop(n, .type = type, .name = "k", .from = thread, .below = below,
                   .step = ambit__nest_text(n, "%d", threads));
}

static void open_words(ambit__nest *n, const char *thread, int threads)
{
  open_numbers(n, "int", thread, "AMBIT_LONG_WORDS", threads);
}

/* ---- the start of a kernel ---- */

/* The tree in shared memory and the total of each thread. */
static void let_trees(ambit__nest *n, int threads)
{
  if (!any(n, is_tree)) return;
  ambit__nest_node(n, NODE_ARRAY, .type = n->integer, .name = "tree", .size = {threads},
                   .shared = true);
  for (int i = 0; i < n->rule->nparams; i++)
    if (is_tree(n, i))
      ambit__nest_do(n, "%s %s_total = %s", ambit__total_type(n->group, n->dialect, i),
                     ambit__nest_name(n, i), ambit__total_zero(n, i));
}

/* "t", the number of a thread in its block. */
static const char *thread_of(ambit__nest *n, int wide)
{
  return ambit__nest_text(n, "%s * %d + %s", n->dialect->thread[1], wide, n->dialect->thread[0]);
}

/* The accumulators of the block, zeroed by all threads, and memory to join the windows of the
 * threads. */
static void let_words(ambit__nest *n, int wide, int threads)
{
  const char *shared = n->dialect->shared;

  if (!any(n, is_exact)) return;
  for (int i = 0; i < n->rule->nparams; i++)
    if (is_exact(n, i))
      ambit__nest_do(n, "%s%s %s_words[AMBIT_LONG_WORDS]", shared, n->integer,
                     ambit__nest_name(n, i));
  ambit__nest_do(n, "%s%s windows[%d], anchor", shared, n->integer, 2 * threads);
  open_words(n, thread_of(n, wide), threads);
  for (int i = 0; i < n->rule->nparams; i++)
    if (is_exact(n, i)) ambit__nest_do(n, "ambit_long_clear(%s_words, k)", ambit__nest_name(n, i));
  ambit__nest_close(n);
  ambit__nest_barrier(n);
  for (int i = 0; i < n->rule->nparams; i++)
    if (is_exact(n, i))
      ambit__nest_do(n, "ambit_part %s_total = ambit_part_zero()", ambit__nest_name(n, i));
}

void ambit__nest_let_totals(ambit__nest *n, int wide, int high)
{
  let_trees(n, wide * high);
  let_words(n, wide, wide * high);
}

/* ---- its end ---- */

/* Adds the windows of all threads to the accumulator of the block. Those of threads with the same
 * anchor, which are mostly all of them, are added as a tree first: atomic additions of all threads
 * to the same few words would have to wait for each other. Any of the anchors will do. */
static void join_windows(ambit__nest *n, int i, int threads)
{
  const char *name = ambit__nest_name(n, i);
  const char *anchor = ambit__nest_text(n, "ambit_part_anchor(%s_total)", name);

  ambit__nest_do_if(n, "t == 0", "anchor = 0");
  ambit__nest_barrier(n);
  ambit__nest_do_if(n, anchor, "anchor = %s", anchor);
  ambit__nest_barrier(n);
  ambit__nest_if(n, "%s != anchor", anchor);
  ambit__nest_do(n, "ambit_part_leave(%s_total, %s_words)", name, name);
  ambit__nest_do(n, "%s_total = ambit_part_zero()", name);
  ambit__nest_close(n);
  ambit__nest_do(n, "windows[t] = ambit_part_high(%s_total)", name);
  ambit__nest_do(n, "windows[%d + t] = ambit_part_low(%s_total)", threads, name);
  ambit__nest_barrier(n);
  open_levels(n, threads);
  ambit__nest_if(n, "t < n && t + n < %d", threads);
  ambit__nest_do(n, "windows[t] += windows[t + n]");
  ambit__nest_do(n, "windows[%d + t] += windows[%d + t + n]", threads, threads);
  ambit__nest_close(n);
  ambit__nest_barrier(n);
  ambit__nest_close(n);
  ambit__nest_do_if(n, "t == 0", "ambit_part_join(%s_words, anchor, windows[0], windows[%d])", name,
                    threads);
  ambit__nest_barrier(n);
}

static void leave_words(ambit__nest *n, int threads)
{
  if (!any(n, is_exact)) return;
  for (int i = 0; i < n->rule->nparams; i++)
    if (is_exact(n, i)) join_windows(n, i, threads);
  open_words(n, "t", threads);
  for (int i = 0; i < n->rule->nparams; i++)
    if (is_exact(n, i))
      ambit__nest_do(n, "ambit_long_leave(%s_mem, %s_words, k)", ambit__nest_name(n, i),
                     ambit__nest_name(n, i));
  ambit__nest_close(n);
}

/* "r_total = fold(r_total, r_mem[k])" */
static void fold(ambit__nest *n, int i, const char *to, const char *from, bool joins)
{
  ambit__nest_node(n, NODE_FOLD, .name = ambit__nest_text(n, "%s_%s", ambit__nest_name(n, i), to),
                   .value = ambit__nest_text(n, "%s_%s", ambit__nest_name(n, i), from),
                   .joins = joins, .access = {.param = i});
}

/* Folds the totals of all threads into r_tree[0]. */
static void fold_threads(ambit__nest *n, int i, int threads)
{
  const char *name = ambit__nest_name(n, i), *space = n->dialect->shared_pointer;
  const char *type = ambit__total_type(n->group, n->dialect, i);

  ambit__nest_do(n, "%s%s *%s_tree = (%s%s *)tree", space, type, name, space, type);
  ambit__nest_do(n, "%s_tree[t] = %s_total", name, name);
  ambit__nest_barrier(n);
  open_levels(n, threads);
  ambit__nest_if(n, "t < n && t + n < %d", threads);
  fold(n, i, "tree[t]", "tree[t + n]", true);
  ambit__nest_close(n);
  ambit__nest_barrier(n);
  ambit__nest_close(n);
}

void ambit__nest_leave_totals(ambit__nest *n, int wide, int high)
{
  const ambit__dialect *d = n->dialect;

  if (!ambit__group_reduces(n->group)) return;
  ambit__nest_do(n, "const int t = %s", thread_of(n, wide));
  ambit__nest_do(n, "const %s b = (%s * %s + %s) * %s + %s", n->integer, d->block[2], d->blocks[1],
                 d->block[1], d->blocks[0], d->block[0]);
  leave_words(n, wide * high);
  for (int i = 0; i < n->rule->nparams; i++) {
    if (!is_tree(n, i)) continue;
    fold_threads(n, i, wide * high);
    ambit__nest_do_if(n, "t == 0", "%s_mem[b] = %s_tree[0]", ambit__nest_name(n, i),
                      ambit__nest_name(n, i));
    ambit__nest_barrier(n);
  }
}

/* ---- the second kernel ---- */

/* Adds r_mem, and the accumulator behind the scalar if `more` asks for it, into that accumulator;
 * zeroes r_mem; stores the value in the scalar. */
static void fold_words(ambit__nest *n, int i, int threads)
{
  const char *name = ambit__nest_name(n, i), *global = n->dialect->global;
  const int bits = ambit__nest_param(n, i)->type == AMBIT_F32 ? 32 : 64;

  ambit__nest_do(n, "%s%s *%s_behind = (%s%s *)%s_to + 1", global, n->integer, name, global,
                 n->integer, name);
  open_words(n, "t", threads);
  ambit__nest_do(n, "words[k] = %s_mem[k] + (more >> %d & 1 ? %s_behind[k] : 0)", name, i, name);
  ambit__nest_do(n, "%s_mem[k] = 0", name);
  ambit__nest_close(n);
  ambit__nest_barrier(n);
  ambit__nest_do_if(n, "t == 0", "ambit_long_carry(words)");
  ambit__nest_barrier(n);
  open_words(n, "t", threads);
  ambit__nest_do(n, "%s_behind[k] = words[k]", name);
  ambit__nest_close(n);
  ambit__nest_barrier(n);
  ambit__nest_do_if(n, "t == 0", "*(%sambit_u%d *)%s_to = ambit_long_bits_f%d(words)", global, bits,
                    name, bits);
  ambit__nest_barrier(n);
}

/* The present values of the scalars: `more` has a bit for each, in kernels for users it is 0 or 1.
 */
static void fold_scalars(ambit__nest *n)
{
  const bool people = n->group->for_people;

  if (people) ambit__nest_if(n, "more && t == 0");
  for (int i = 0; i < n->rule->nparams; i++) {
    if (!is_tree(n, i)) continue;
    if (!people) ambit__nest_if(n, "(more >> %d & 1) && t == 0", i);
    fold(n, i, "total", "to[0]", false);
    if (!people) ambit__nest_close(n);
  }
  if (people) ambit__nest_close(n);
}

/* Stores the total in the scalar, in its type. Adding 0 makes -0 and 0 the same result. */
static void store_result(ambit__nest *n, int i)
{
  const ambit__param *p = ambit__nest_param(n, i);

  ambit__nest_do_if(n, "t == 0",
                    is_real_sum(p)                 ? "*%s_to = (%s)ambit_sum_value(%s_tree[0])"
                    : ambit__type_is_real(p->type) ? "*%s_to = (%s)0 + %s_tree[0]"
                                                   : "*%s_to = (%s)%s_tree[0]",
                    p->name, ambit__nest_type(n, i), p->name);
}

static void fold_trees(ambit__nest *n, int threads)
{
  if (!any(n, is_tree)) return;
  fold_scalars(n);
  open_numbers(n, n->integer, "t", "count", threads);
  for (int i = 0; i < n->rule->nparams; i++)
    if (is_tree(n, i)) fold(n, i, "total", "mem[k]", true);
  ambit__nest_close(n);
  for (int i = 0; i < n->rule->nparams; i++) {
    if (!is_tree(n, i)) continue;
    fold_threads(n, i, threads);
    store_result(n, i);
    ambit__nest_barrier(n);
  }
}

void ambit__nest_fold_totals(ambit__nest *n, int threads)
{
  ambit__nest_let_ended(n);
  let_trees(n, threads);
  if (any(n, is_exact))
    ambit__nest_do(n, "%s%s words[AMBIT_LONG_WORDS]", n->dialect->shared, n->integer);
  ambit__nest_do(n, "const int t = %s", n->dialect->thread[0]);
  fold_trees(n, threads);
  for (int i = 0; i < n->rule->nparams; i++)
    if (is_exact(n, i)) fold_words(n, i, threads);
}
