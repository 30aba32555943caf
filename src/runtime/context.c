/* context.c - opening and closing, errors, and the lists that own everything. */
#include "base/memory.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  ambit *a = calloc(1, sizeof *a);

  if (!a) return NULL;
  a->errors.handler = print_story;
  ambit__list_init(&a->grids);
  ambit__list_init(&a->scalars);
  ambit__list_init(&a->kernels);
  ambit__options_open(a, argc, argv);
  return a;
}

/* The best device there is: a CUDA GPU, or the cores. What OpenCL offers may be either, so it must be
 * asked for by name. */
static const ambit__backend *best_backend(ambit__errors *errors)
{
  const ambit__backend *cuda = ambit__backend_find(errors, "cuda", strlen("cuda"));

  return cuda && cuda->count() > 0 ? cuda : ambit__backend_find(errors, "cpu", strlen("cpu"));
}

/* "cpu", "cpu:0" or "all" (the best there is): which backend and which of its devices. */
static ambit_status parse_device(ambit *a, const ambit__backend **backend, int *ordinal)
{
  const char *text = a->settings.devices;
  size_t length = strcspn(text, ":");

  AMBIT_CHECK(!strpbrk(text, ",*"), &a->errors, AMBIT_EOPTION,
              "devices=%s names several devices or parts; a grid runs on one device: name one",
              text);
  *ordinal = 0;
  *backend = !strcmp(text, "all") ? best_backend(&a->errors)
                                  : ambit__backend_find(&a->errors, text, length);
  if (!*backend) return a->errors.status;
  if (text[length] == ':') {
    char *end;
    long n = strtol(text + length + 1, &end, 10);

    const int here = (*backend)->count(); /* none: opening it tells why */

    AMBIT_CHECK(end != text + length + 1 && !*end && n >= 0 && (n < here || !here), &a->errors,
                AMBIT_ENODEVICE, "devices=%s: there %s %d %s device%s here, numbered from 0", text,
                here == 1 ? "is" : "are", here, (*backend)->name, here == 1 ? "" : "s");
    *ordinal = (int)n;
  }
  return AMBIT_OK;
}

ambit_status ambit__context_device(ambit *a)
{
  const ambit__backend *backend = NULL;
  ambit__device_info info;
  int ordinal = 0;

  if (a->device) return AMBIT_OK;
  AMBIT_TRY(parse_device(a, &backend, &ordinal));
  AMBIT_TRY(backend->open(&a->errors, &a->settings, ordinal, &a->device));
  AMBIT_TRY(backend->queue_open(a->device, &a->queue));
  backend->info(a->device, &info);
  a->memory = info.memory;
  return AMBIT_OK;
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
  if (a->queue) a->device->backend->queue_close(a->queue);
  if (a->device) a->device->backend->close(a->device);
  status = a->errors.status;
  ambit__options_close(a);
  ambit__errors_clear(&a->errors);
  free(a);
  return status;
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
