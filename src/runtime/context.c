/* context.c - opening and closing, errors, and the lists that own everything. */
#include "base/memory.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>

static void print_story(ambit_status status, const char *story, void *user)
{
  (void)status;
  (void)user;
  fprintf(stderr, "ambit: error: %s\n", story);
}

bool ambit__failed(const ambit *a)
{
  return !a || a->errors.status;
}

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

ambit *ambit_open(int *argc, char ***argv)
{
  return ambit_open_mpi(argc, argv, NULL);
}

ambit *ambit_open_mpi(int *argc, char ***argv, const void *communicator)
{
  ambit *a = calloc(1, sizeof *a);

  if (!a) return NULL;
  a->errors.handler = print_story;
  ambit__list_init(&a->grids);
  ambit__list_init(&a->scalars);
  ambit__list_init(&a->kernels);
  if (!ambit__options_open(a, argc, argv))
    ambit__net_open(&a->errors, a->settings.mpi, communicator, &a->net);
  return a;
}

ambit_status ambit_close(ambit *a)
{
  ambit_status status;

  if (!a) return AMBIT_EINVAL;
  while (a->grids.next->owner)
    ambit_grid_destroy(a->grids.next->owner);
  while (a->scalars.next->owner)
    ambit_scalar_destroy(a->scalars.next->owner);
  while (a->kernels.next->owner)
    ambit_kernel_destroy(a->kernels.next->owner);
  ambit__engines_close(a);
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
  if (a) ambit__errors_clear(&a->errors);
}

void ambit_on_error(ambit *a, ambit_error_fn handler, void *user)
{
  if (!a) return;
  a->errors.handler = handler;
  a->errors.user = user;
}
