/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c - finds a backend by name. */
#include "device/device.h"

#include "base/spell.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ambit__backend *const backends[] = {
#define AMBIT_BACKEND(name) &ambit__backend_##name,
#include "device/list.h"
#undef AMBIT_BACKEND
};

enum { COUNT = sizeof backends / sizeof *backends };

const ambit__backend *ambit__backend_at(int i)
{
  return i >= 0 && i < COUNT ? backends[i] : NULL;
}

/* "cpu, ref"; NULL if out of memory. */
static char *all_names(void)
{
  ambit__text t = {0};

  for (int i = 0; i < COUNT; i++)
    ambit__print(&t, "%s%s", i ? ", " : "", backends[i]->name);
  return ambit__text_finish(&t);
}

const ambit__backend *ambit__backend_find(ambit__errors *errors, const char *name, size_t length)
{
  char typed[64], *names;
  ambit__guess guess;

  for (int i = 0; i < COUNT; i++)
    if (strlen(backends[i]->name) == length && !memcmp(backends[i]->name, name, length))
      return backends[i];
  names = all_names();
  snprintf(typed, sizeof typed, "%.*s", (int)(length < sizeof typed ? length : sizeof typed), name);
  guess = ambit__guess_start(typed);
  for (int i = 0; i < COUNT; i++)
    ambit__guess_offer(&guess, backends[i]->name);
  ambit__raise(errors, AMBIT_ENODEVICE, "no device is called '%.*s'%s%s%s; there are: %s",
               (int)length, name, guess.best ? " (did you mean '" : "",
               guess.best ? guess.best : "", guess.best ? "'?)" : "",
               names ? names : "(no memory to list them)");
  free(names);
  return NULL;
}
