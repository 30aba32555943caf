/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/undo.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ambit__undo *notes; /* newest first */

void ambit__undo_lock(void)
{
  pthread_mutex_lock(&lock);
}

void ambit__undo_unlock(void)
{
  pthread_mutex_unlock(&lock);
}

void ambit__undo_add(ambit__undo *u)
{
  u->next = notes;
  u->link = &notes;
  if (notes) notes->link = &u->next;
  notes = u;
}

void ambit__undo_remove(ambit__undo *u)
{
  pthread_mutex_lock(&lock);
  if (u->link) {
    *u->link = u->next;
    if (u->next) u->next->link = u->link;
    u->link = NULL;
  }
  pthread_mutex_unlock(&lock);
}

void ambit__undo_all(void)
{
  pthread_mutex_lock(&lock);
  for (ambit__undo *u = notes; u; u = u->next)
    u->run(u->what);
}
