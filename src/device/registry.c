/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.c - finds a backend by name. */
#include "device/device.h"

#include "base/spell.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ambit__backend *const listed[] = {
#define AMBIT_BACKEND(name) &ambit__backend_##name,
#include "device/list.h"
#undef AMBIT_BACKEND
};

enum { LISTED = sizeof listed / sizeof *listed };

static const ambit__backend *added; /* one more; NULL: none */

const ambit__backend *ambit__backend_at(int i)
{
  if (i == LISTED) return added;
  return i >= 0 && i < LISTED ? listed[i] : NULL;
}

void ambit__backend_add(const ambit__backend *b)
{
  added = b;
}

/* "cpu, ref"; NULL if out of memory. */
static char *all_names(void)
{
  ambit__text t = {0};

  for (int i = 0; ambit__backend_at(i); i++)
    ambit__print(&t, "%s%s", i ? ", " : "", ambit__backend_at(i)->name);
  return ambit__text_finish(&t);
}

const ambit__backend *ambit__backend_find(ambit__errors *errors, const char *name, size_t length)
{
  char typed[64], *names;
  ambit__guess guess;

  for (int i = 0; ambit__backend_at(i); i++) {
    const ambit__backend *b = ambit__backend_at(i);

    if (strlen(b->name) == length && !memcmp(b->name, name, length)) return b;
  }
  names = all_names();
  snprintf(typed, sizeof typed, "%.*s", (int)(length < sizeof typed ? length : sizeof typed), name);
  guess = ambit__guess_start(typed);
  for (int i = 0; ambit__backend_at(i); i++)
    ambit__guess_offer(&guess, ambit__backend_at(i)->name);
  ambit__raise(errors, AMBIT_ENODEVICE, "no device is called '%.*s'%s%s%s; there are: %s",
               (int)length, name, guess.best ? " (did you mean '" : "",
               guess.best ? guess.best : "", guess.best ? "'?)" : "",
               names ? names : "(no memory to list them)");
  free(names);
  return NULL;
}
