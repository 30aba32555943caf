/* SPDX-License-Identifier: BSD-3-Clause */
/* once.c - a kernel on scalars only. It runs once, on the device that holds the scalars; on a GPU,
 * in one thread. */
#include "plan/gpu.h"

static int candidates(const ambit__group *g, const ambit__target *t, ambit__plan *plans, int most)
{
  (void)g;
  (void)t;
  if (most < 1) return 0;
  plans[0] = (ambit__plan){.strategy = &ambit__strategy_once, .depth = 1, .threads = {1, 1, 1}};
  return 1;
}

static void shape(const ambit__group *g, const ambit__plan *p, const ambit__box *box,
                  ambit__shape *shape)
{
  (void)g;
  (void)p;
  (void)box;
  *shape = (ambit__shape){.blocks = {1, 1, 1}, .threads = {1, 1, 1}};
}

static double cost(const ambit__group *g, const ambit__target *t, const ambit__plan *p)
{
  return (void)g, (void)t, (void)p, 0;
}

static void emit(ambit__nest *n, const ambit__target *t, const ambit__plan *p, ambit__writer *w)
{
  (void)t;
  ambit__nest_once(n);
  ambit__emit(n, p, w);
}

static void describe(const ambit__plan *p, ambit__text *t)
{
  (void)p;
  ambit__print(t, "(once)");
}

const ambit__strategy ambit__strategy_once = {
    .name = "once",
    .candidates = candidates,
    .cost = cost,
    .emit = emit,
    .describe = describe,
    .shape = shape,
};
