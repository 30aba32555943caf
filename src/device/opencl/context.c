/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - one context per device, shared by all that open it, as in CUDA, and the programs
 * built there recently.
 *
 * OpenCL on the CPU makes both expensive: PoCL reads its library of functions once for each
 * context, and the header of all of OpenCL for each program, even if it has compiled it before. So
 * the context of a CPU stays until the process ends. That of a GPU is released by its last user,
 * because it takes device memory, and its programs with it.
 */
#include "device/opencl/cl_gpu.h"

#include <pthread.h>
#include <string.h>

enum { MOST_KEPT = 64 };

typedef struct kept {
  cl_program program; /* NULL: none */
  int ordinal;        /* of the device */
  char key[AMBIT__HASH_CHARS];
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of these */
static struct {
  cl_context context; /* NULL: none yet */
  int users;
} homes[AMBIT__CL_DEVICES];
static kept programs[MOST_KEPT]; /* a ring: the oldest is replaced */
static int next_kept;

/* ---- contexts ---- */

cl_context ambit__cl_context_open(int ordinal, cl_int *code)
{
  cl_platform_id platform;
  cl_device_id device = ambit__cl_device(ordinal, &platform);
  const intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)platform, 0};
  cl_context context;

  *code = CL_SUCCESS;
  pthread_mutex_lock(&lock);
  context = homes[ordinal].context;
  if (!context) context = ambit__cl.clCreateContext(properties, 1, &device, NULL, NULL, code);
  if (*code) context = NULL;
  homes[ordinal].context = context;
  homes[ordinal].users += context != NULL;
  pthread_mutex_unlock(&lock);
  return context;
}

static void forget(kept *k)
{
  if (k->program) ambit__cl.clReleaseProgram(k->program);
  k->program = NULL;
}

void ambit__cl_context_close(int ordinal, bool is_cpu)
{
  pthread_mutex_lock(&lock);
  if (--homes[ordinal].users == 0 && !is_cpu) {
    for (int i = 0; i < MOST_KEPT; i++)
      if (programs[i].ordinal == ordinal) forget(&programs[i]);
    ambit__cl.clReleaseContext(homes[ordinal].context);
    homes[ordinal].context = NULL;
  }
  pthread_mutex_unlock(&lock);
}

/* ---- programs ---- */

cl_program ambit__cl_program_find(int ordinal, const char *key)
{
  cl_program found = NULL;

  pthread_mutex_lock(&lock);
  for (int i = 0; !found && i < MOST_KEPT; i++)
    if (programs[i].ordinal == ordinal && !strcmp(programs[i].key, key))
      found = programs[i].program;
  if (found) ambit__cl.clRetainProgram(found);
  pthread_mutex_unlock(&lock);
  return found;
}

void ambit__cl_program_keep(int ordinal, const char *key, cl_program program)
{
  kept *k;

  pthread_mutex_lock(&lock);
  k = &programs[next_kept];
  next_kept = (next_kept + 1) % MOST_KEPT;
  forget(k);
  ambit__cl.clRetainProgram(program);
  k->program = program;
  k->ordinal = ordinal;
  memcpy(k->key, key, sizeof k->key);
  pthread_mutex_unlock(&lock);
}
