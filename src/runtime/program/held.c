/* SPDX-License-Identifier: BSD-3-Clause */
/* held.c - what a sealed program has on devices, released when it is unsealed. */
#include "runtime/program/program.h"

struct ambit__held {
  ambit__held *next;
  ambit__engine *engine;
  ambit__store store; /* its buffer; NULL: it is a function */
  ambit__function *function;
};

static ambit_status add(ambit_program *p, int engine, ambit__held **h)
{
  AMBIT_HOLD(p, *h, 1);
  **h = (ambit__held){.next = p->held, .engine = &p->grid->context->engines[engine]};
  p->held = *h;
  return AMBIT_OK;
}

ambit_status ambit__hold_buffer(ambit_program *p, int engine, size_t bytes, ambit__buffer **b)
{
  ambit__held *h;

  AMBIT_TRY(add(p, engine, &h));
  AMBIT_TRY(ambit__ask(h->engine->device, alloc, bytes, NULL, &h->store.buffer));
  *b = h->store.buffer;
  return AMBIT_OK;
}

ambit_status ambit__hold_store(ambit_program *p, const ambit_field *f, int part,
                               ambit__store *store)
{
  ambit__held *h;

  AMBIT_TRY(add(p, p->grid->placement.engine[part], &h));
  AMBIT_TRY(ambit__store_allocate(f, part, store));
  h->store = *store;
  return AMBIT_OK;
}

ambit_status ambit__hold_function(ambit_program *p, int engine, const ambit__group *group,
                                  ambit__function **fn)
{
  ambit__held *h;

  AMBIT_TRY(add(p, engine, &h));
  AMBIT_TRY(ambit__ask(h->engine->device, build, group, &h->function));
  *fn = h->function;
  return AMBIT_OK;
}

void ambit__program_let_go(ambit_program *p)
{
  for (ambit__held *h = p->held; h; h = h->next) {
    ambit__store_release(h->engine, &h->store);
    if (h->function) ambit__ask(h->engine->device, discard, h->function);
  }
  p->held = NULL;
  ambit__arena_free(&p->memory);
}
