/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - opening and closing, errors, and the lists that own everything. */
#include "base/memory.h"
#include "net/launcher.h"
#include "runtime/objects/objects.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- telling of errors ----
 *
 * An error that all processes have is told by process 0. The others wait until they know whether theirs is another
 * one (net.h: agree), and then tell it with their number. */

static ambit
    *waiting; /* the context that began to wait last, if it may still have something to tell */

static void tell_at_exit(void)
{
  if (waiting) ambit__errors_tell(&waiting->errors);
}

static void print_story(ambit_status status, const char *story, void *user)
{
  const ambit *a = user;

  (void)status;
  if (!a->net && ambit__launcher_find().rank) return; /* started alike, they fail alike */
  if (ambit_process(a))
    fprintf(stderr, "ambit: error: process %d of %d: %s\n", a->net->rank, a->net->size, story);
  else
    fprintf(stderr, "ambit: error: %s\n", story);
}

static void let_errors_wait(ambit *a)
{
  static bool registered;

  if (!ambit_process(a) || (!registered && atexit(tell_at_exit))) return;
  registered = true;
  waiting = a;
  a->errors.waits = true;
}

bool ambit__failed(const ambit *a)
{
  return !a || a->errors.status;
}

ambit_status ambit__meet(ambit *a, const char *doing)
{
  if (!a->net || a->net->size == 1 || a->errors.agreed) return a->errors.status;
  return ambit__net_agree_on(a->net, doing);
}

/* ---- lists ---- */

void ambit__list_init(ambit__link *list)
{
  *list = (ambit__link){list, list, NULL};
}

void ambit__list_add(ambit__link *list, ambit__link *link, void *owner)
{
  *link = (ambit__link){list->prev, list, owner};
  list->prev->next = link;
  list->prev = link;
}

void ambit__list_remove(ambit__link *link)
{
  if (!link->next) return;
  link->prev->next = link->next;
  link->next->prev = link->prev;
  *link = (ambit__link){0};
}

/* ---- contexts ---- */

ambit *ambit_open(int *argc, char ***argv)
{
  return ambit_open_mpi(argc, argv, NULL);
}

ambit *ambit_open_mpi(int *argc, char ***argv, const void *communicator)
{
  ambit *a = calloc(1, sizeof *a);

  if (!a) return NULL;
  a->errors.handler = print_story;
  a->errors.user = a;
  ambit__list_init(&a->grids);
  ambit__list_init(&a->scalars);
  ambit__list_init(&a->kernels);
  if (!ambit__options_open(a, argc, argv) &&
      !ambit__net_open(&a->errors, a->settings.mpi, communicator, &a->net))
    ambit__net_slow(&a->net, a->settings.network);
  let_errors_wait(a);
  return a;
}

ambit_status ambit__pretend(ambit *a, int rank, int size)
{
  ambit__net *net;

  AMBIT_CHECK(!a->placement.first, &a->errors, AMBIT_EINVAL,
              "a context can only pretend before it has grids and scalars");
  AMBIT_TRY(ambit__net_pretend(&a->errors, rank, size, &net));
  ambit__net_close(a->net);
  a->net = net;
  a->dry = true;
  return AMBIT_OK;
}

ambit_status ambit_close(ambit *a)
{
  ambit_status status;

  if (!a) return AMBIT_EINVAL;
  ambit__meet(a, "closes its context");
  while (a->grids.next->owner)
    ambit_grid_destroy(a->grids.next->owner);
  while (a->scalars.next->owner)
    ambit_scalar_destroy(a->scalars.next->owner);
  while (a->kernels.next->owner)
    ambit_kernel_destroy(a->kernels.next->owner);
  ambit__trace_close(a->trace);
  ambit__engines_close(a);
  ambit__errors_tell(&a->errors);
  if (waiting == a) waiting = NULL;
  ambit__net_close(a->net);
  status = a->errors.status;
  ambit__options_close(a);
  ambit__errors_clear(&a->errors);
  free(a);
  return status;
}

int ambit_process(const ambit *a)
{
  return a && a->net ? a->net->rank : 0;
}

int ambit_processes(const ambit *a)
{
  return a && a->net ? a->net->size : 1;
}

ambit_status ambit_error(const ambit *a)
{
  return a ? a->errors.status : AMBIT_EINVAL;
}

const char *ambit_error_text(const ambit *a)
{
  if (!a) return "there is no context: ambit_open returned NULL, or was not called";
  if (!a->errors.status) return "";
  return a->errors.text ? a->errors.text : ambit_status_text(a->errors.status);
}

void ambit_error_clear(ambit *a)
{
  if (!a) return;
  ambit__errors_tell(&a->errors);
  ambit__errors_clear(&a->errors);
}

void ambit_on_error(ambit *a, ambit_error_fn handler, void *user)
{
  if (!a) return;
  ambit__errors_tell(&a->errors);
  a->errors.waits = false;
  a->errors.handler = handler;
  a->errors.user = user;
}
