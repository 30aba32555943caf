/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c - opening and closing contexts, their errors, and the lists of their objects. */
#include "base/fork.h"
#include "net/launcher.h"
#include "runtime/objects/scribe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- error messages ----
 *
 * Process 0 prints an error that all processes have. The other processes defer theirs until they
 * know whether it is a different one (net.h: agree), and then print it with their rank.
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next two variables */
static ambit__link waiting; /* contexts of this process with deferred errors */
static bool registered;     /* tell_at_exit is registered */

static void tell_at_exit(void)
{
  pthread_mutex_lock(&lock);
  for (const ambit__link *l = waiting.next; l->owner; l = l->next)
    ambit__errors_tell(&((ambit *)l->owner)->errors);
  pthread_mutex_unlock(&lock);
}

static void print_error(ambit_status status, const char *message, void *user)
{
  const ambit *a = user;
  const ambit__launcher l = ambit__launcher_find();

  if (!a->net && status != AMBIT_ENOMEM && l.rank) /* all processes fail alike */
    fprintf(
        stderr,
        "ambit: error: process %d, started by %s, cannot open a context; process 0 prints the "
        "reason. To run one process, unset the variables of the launcher or set AMBIT_MPI=off\n",
        l.rank, l.name);
  else if (ambit_process(a))
    fprintf(stderr, "ambit: error: process %d of %d: %s\n", a->net->rank, a->net->size, message);
  else
    fprintf(stderr, "ambit: error: %s\n", message);
}

static void defer_errors(ambit *a)
{
  if (!ambit_process(a)) return;
  pthread_mutex_lock(&lock);
  if (!registered) ambit__list_init(&waiting);
  registered = registered || !atexit(tell_at_exit);
  a->errors.waits = registered;
  if (registered) ambit__list_add(&waiting, &a->waiting, a);
  pthread_mutex_unlock(&lock);
}

static void stop_deferring(ambit *a)
{
  pthread_mutex_lock(&lock);
  ambit__list_remove(&a->waiting);
  pthread_mutex_unlock(&lock);
}

/* Whether another process opened the context, this one's parent. If so, it has failed. */
static bool is_foreign(ambit *a)
{
  if (a->fork_number == ambit__fork_number()) return false;
  if (!a->errors.status)
    ambit__raise(&a->errors, AMBIT_EPROCESS,
                 "this context was opened by the parent of this process; after fork() a process "
                 "must open its own: the threads and devices of this one are those of its parent");
  return true;
}

bool ambit__failed(ambit *a)
{
  return !a || is_foreign(a) || a->errors.status;
}

ambit_status ambit__meet(ambit *a, const char *doing)
{
  double number;
  int who;

  if (!a->net || is_foreign(a)) return a->errors.status;
  number = a->net->size > 1 ? ambit__options_number(a) : 0;
  AMBIT_TRY(ambit__net_agree_on_number(a->net, doing, number, &who));
  return who ? ambit__options_differ(a, who) : AMBIT_OK;
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

/* A process that has failed, by an invalid option or without memory, may be the only one: it joins
 * the others all the same, so that they do not wait for it. */
static void join_processes(ambit *a, const void *communicator)
{
  const char *how = a->settings.mpi ? a->settings.mpi : "auto";

  if (ambit__net_open(&a->errors, how, a->settings.startup, communicator, &a->net)) return;
  if (!ambit__net_agree_on(a->net, "opens a context")) return;
  ambit__errors_tell(&a->errors);
  ambit__net_close(a->net);
  a->net = NULL;
}

static ambit *make(void)
{
  ambit *a = calloc(1, sizeof *a);

  if (!a) return NULL;
  a->fork_number = ambit__fork_number();
  ambit__list_init(&a->grids);
  ambit__list_init(&a->scalars);
  ambit__list_init(&a->records);
  ambit__list_init(&a->kernels);
  return a;
}

ambit *ambit_open(int *argc, char ***argv)
{
  return ambit_open_mpi(argc, argv, NULL);
}

ambit *ambit_open_mpi(int *argc, char ***argv, const void *communicator)
{
  ambit *a = make();

  if (!a) return NULL;
  a->errors.handler = print_error;
  a->errors.user = a;
  a->errors.waits = ambit__launcher_find().rank > 0; /* until it is known which others have them */
  ambit__options_open(a, argc, argv);
  join_processes(a, communicator);
  ambit__errors_tell(&a->errors);
  a->errors.waits = false;
  defer_errors(a);
  return a;
}

ambit *ambit__open_lane(const ambit *a, const char *devices, int threads)
{
  ambit *lane = make();
  char number[16];

  if (!lane) return NULL;
  snprintf(number, sizeof number, "%d", threads);
  ambit__options_copy(lane, a);
  if (ambit__net_open(&lane->errors, "off", 0, NULL, &lane->net)) return lane;
  lane->net->local_rank = a->net->local_rank; /* decides which GPU a device without number is */
  lane->net->local_size = a->net->local_size;
  ambit_option_set(lane, "devices", devices);
  ambit_option_set(lane, "threads", number);
  return lane;
}

ambit_status ambit__pretend(ambit *a, int rank, int size)
{
  ambit__net *net;

  AMBIT_CHECK(!a->placement.first, &a->errors, AMBIT_EINVAL,
              "ambit__pretend must be called before grids and scalars are created");
  AMBIT_TRY(ambit__net_pretend(&a->errors, rank, size, &net));
  ambit__net_close(a->net);
  a->net = net;
  a->dry = true;
  return AMBIT_OK;
}

/* Before any program is destroyed: the report of a program lists those that it calls. */
static void report_programs(ambit *a)
{
  for (const ambit__link *l = a->grids.next; l->owner; l = l->next) {
    const ambit_grid *g = l->owner;

    if (g->dependents) g->dependents->report(g);
  }
  a->settings.report = false; /* each once */
}

ambit_status ambit_close(ambit *a)
{
  ambit_status status;

  if (!a) return AMBIT_EINVAL;
  AMBIT_TRY(ambit__object_check_unused(a, NULL, "context", ""));
  if (a->net && !is_foreign(a)) ambit__net_agree_on(a->net, AMBIT__NET_CLOSES);
  if (a->close_viewer) a->close_viewer(a); /* before anything is printed */
  report_programs(a);
  if (a->close_checkpoint) a->close_checkpoint(a);
  while (a->grids.next->owner)
    ambit_grid_destroy(a->grids.next->owner);
  while (a->scalars.next->owner)
    ambit_scalar_destroy(a->scalars.next->owner);
  while (a->records.next->owner)
    ambit_record_destroy(a->records.next->owner);
  while (a->kernels.next->owner)
    ambit_kernel_destroy(a->kernels.next->owner);
  ambit__scribe_close(a);
  ambit__trace_close(a->trace);
  ambit__engines_close(a);
  ambit__errors_tell(&a->errors);
  stop_deferring(a);
  if (!is_foreign(a)) ambit__net_close(a->net); /* MPI is the parent's */
  status = a->errors.status;
  ambit__options_close(a);
  ambit__defines_free(a);
  ambit__tape_free(&a->journal.tape);
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
  if (!a) return "no context: ambit_open returned NULL or was not called";
  if (!a->errors.status) return "";
  return a->errors.text ? a->errors.text : ambit_status_text(a->errors.status);
}

void ambit_error_clear(ambit *a)
{
  if (!a || a->errors.telling) return;
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
