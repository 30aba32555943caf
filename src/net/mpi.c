/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.c - a net on MPI: Open MPI, or MPICH and libraries with its ABI.
 *
 * This file is compiled into one module for each of them (cmake/AmbitMpi.cmake), which exports only
 * its table.
 *
 * MPI can be initialised once per process. The first net that is opened initialises it, unless the
 * user did, and it stays initialised until the process exits, so contexts can be opened and closed
 * repeatedly. A process that exits with a net open waits for the others to exit too, and aborts the
 * run if they do not: they would wait for it for ever.
 *
 * Every net has its own communicators, so its messages do not mix with others, and its errors are
 * returned as codes.
 */
#define _GNU_SOURCE 1
#include "net/mpi_net.h"

#include "base/clock.h"
#include "base/memory.h"
#include "net/mpi_leaks.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(intptr_t), "a request must fit into an intptr_t");

extern const ambit__net_kind ambit__net_mpi;

static mpi_net *mpi_of(ambit__net *net)
{
  return (mpi_net *)net;
}

static MPI_Comm comm_of(ambit__net *net)
{
  return mpi_of(net)->comm;
}

static ambit_status fail(ambit__errors *errors, int code, const char *what)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length;

  MPI_Error_string(code, text, &length);
  return ambit__raise(errors, AMBIT_EPROCESS, "MPI could not %s: %s", what, text);
}

/* Raises the error of a failed MPI call and returns. */
#define TRY_MPI(errors, call, what)                                                                \
  do {                                                                                             \
    int mpi_code;                                                                                  \
    AMBIT__MPI_ENTER();                                                                            \
    mpi_code = (call);                                                                             \
    AMBIT__MPI_LEAVE();                                                                            \
    if (mpi_code != MPI_SUCCESS) return fail(errors, mpi_code, what);                              \
  } while (0)

/* Launchers may lose the last words of a run that ends at once (MPICH 4.0): they get a moment. */
static void abort_run(MPI_Comm comm)
{
  const struct timespec moment = {.tv_nsec = 300000000};

  nanosleep(&moment, NULL);
  MPI_Abort(comm, EXIT_FAILURE);
}

/* ---- MPI in this process ---- */

enum { EXIT_TIMEOUT = 5 }; /* seconds to wait at exit for the other processes to exit */

static struct {
  pid_t pid;          /* process that initialised MPI; a forked child must not use it */
  MPI_Comm exit_comm; /* all processes, for the barrier at exit */
  int rank;           /* of this process in that communicator */
  int open;           /* number of open nets */
} mpi_state;

/* Whether all other processes exit within EXIT_TIMEOUT seconds. */
static bool all_exit(void)
{
  const double deadline = ambit__clock() + EXIT_TIMEOUT;
  MPI_Request r;
  int done = 0;

  if (MPI_Ibarrier(mpi_state.exit_comm, &r) != MPI_SUCCESS) return false;
  while (!done && ambit__clock() < deadline) {
    if (MPI_Test(&r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    sched_yield();
  }
  return done;
}

static void at_exit(void)
{
  int ended = 0;

  if (getpid() != mpi_state.pid || MPI_Finalized(&ended) != MPI_SUCCESS || ended) return;
  if (mpi_state.open > 0 && !all_exit()) {
    fprintf(stderr,
            "ambit: process %d exits while other processes continue: they would wait for it, so "
            "the run is aborted. Call ambit_close on all processes before they exit\n",
            mpi_state.rank);
    abort_run(mpi_state.exit_comm);
  }
  MPI_Comm_free(&mpi_state.exit_comm);
  AMBIT__MPI_PIN();
  AMBIT__MPI_ENTER();
  MPI_Finalize();
  AMBIT__MPI_LEAVE();
}

static ambit_status start(ambit__errors *errors)
{
  int level;

  TRY_MPI(errors, MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "start");
  TRY_MPI(errors, MPI_Comm_dup(MPI_COMM_WORLD, &mpi_state.exit_comm), "duplicate MPI_COMM_WORLD");
  /* MPICH 4.0 may report a failed request on these instead of on the request's communicator. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(mpi_state.exit_comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(mpi_state.exit_comm, &mpi_state.rank);
  mpi_state.pid = getpid();
  AMBIT_CHECK(!atexit(at_exit), errors, AMBIT_ENOMEM,
              "out of memory while registering the exit handler of MPI");
  return AMBIT_OK;
}

/* Initialises MPI if needed, and checks that this thread may use it. */
static ambit_status ready(ambit__errors *errors)
{
  int started = 0, ended = 0, level = MPI_THREAD_SINGLE, is_main = 1;

  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  AMBIT_CHECK(!ended, errors, AMBIT_EPROCESS,
              "MPI was already finalised in this process (MPI_Finalize) and cannot be initialised "
              "again; open the context earlier, or set the option mpi to off");
  if (!started) AMBIT_TRY(start(errors));
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  AMBIT_CHECK(is_main || level >= MPI_THREAD_SERIALIZED, errors, AMBIT_EPROCESS,
              "a context of several processes is opened in a thread that may not call MPI; open it "
              "in the thread that initialised MPI");
  return AMBIT_OK;
}

/* ---- opening ---- */

/* "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n...", without the details. */
static void name_library(char *name, size_t bytes)
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length;

  MPI_Get_library_version(text, &length);
  text[strcspn(text, ",\n")] = '\0';
  for (char *tab = strchr(text, '\t'); tab; tab = strchr(tab, '\t'))
    *tab = ' ';
  snprintf(name, bytes, "%s", text);
}

static ambit_status count_local(mpi_net *n)
{
  MPI_Comm node;
  int code;

  TRY_MPI(n->base.errors,
          MPI_Comm_split_type(n->comm, MPI_COMM_TYPE_SHARED, n->base.rank, MPI_INFO_NULL, &node),
          "find the processes of this node");
  code = MPI_Comm_rank(node, &n->base.local_rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(node, &n->base.local_size);
  MPI_Comm_free(&node);
  TRY_MPI(n->base.errors, code, "count the processes of this node");
  return AMBIT_OK;
}

/* The user's communicator, or MPI_COMM_WORLD. */
static ambit_status pick_communicator(ambit__errors *errors, const void *communicator,
                                      MPI_Comm *user)
{
  int is_inter = 0;

  *user = MPI_COMM_WORLD;
  if (communicator) memcpy(user, communicator, sizeof *user);
  AMBIT_CHECK(*user != MPI_COMM_NULL, errors, AMBIT_EINVAL,
              "the communicator is MPI_COMM_NULL: this process does not belong to it, and must not "
              "open a context with it");
  TRY_MPI(errors, MPI_Comm_test_inter(*user, &is_inter), "inspect the communicator");
  AMBIT_CHECK(!is_inter, errors, AMBIT_EINVAL,
              "intercommunicators are not supported; pass an intracommunicator");
  return AMBIT_OK;
}

/* Allocates all memory that a net needs. */
static mpi_net *make(ambit__errors *errors, size_t size)
{
  mpi_net *n = ambit__new(errors, 1, sizeof *n);

  if (!n) return NULL;
  n->base.kind = &ambit__net_mpi;
  n->base.errors = errors;
  n->comm = n->control = MPI_COMM_NULL;
  n->sent = ambit__new(errors, (2 + 2 * NCOUNTS) * size, sizeof *n->sent);
  n->base.room = ambit__new(errors, 1, ambit__net_room((int)size));
  if (!n->sent) return n;
  n->received = n->sent + size;
  n->counts_out = n->received + size;
  n->counts_in = n->counts_out + NCOUNTS * size;
  return n;
}

static ambit_status join(mpi_net *n, MPI_Comm user)
{
  ambit__errors *errors = n->base.errors;

  TRY_MPI(errors, MPI_Comm_dup(user, &n->comm), "duplicate the communicator");
  TRY_MPI(errors, MPI_Comm_set_errhandler(n->comm, MPI_ERRORS_RETURN), "set an error handler");
  TRY_MPI(errors, MPI_Comm_rank(n->comm, &n->base.rank), "get the rank");
  TRY_MPI(errors, MPI_Comm_size(n->comm, &n->base.size), "get the number of processes");
  TRY_MPI(errors, MPI_Comm_dup(n->comm, &n->control), "duplicate the communicator");
  name_library(n->base.name, sizeof n->base.name);
  return count_local(n);
}

static void leave(mpi_net *n)
{
  if (!n) return;
  if (n->control != MPI_COMM_NULL) MPI_Comm_free(&n->control);
  if (n->comm != MPI_COMM_NULL) MPI_Comm_free(&n->comm);
  free(n->base.room);
  free(n->sent);
  free(n);
}

/* Others wait for this process, in a call that it did not make, and cannot hear of its error. */
static void abort_open(ambit__errors *errors, MPI_Comm user)
{
  fprintf(stderr, "ambit: %s. Other processes wait for this one, so the run is aborted\n",
          errors->text ? errors->text : "MPI could not open a context");
  abort_run(user);
}

/* The status of all processes: that of one that failed, if any did. */
static ambit_status open_together(ambit__errors *errors, MPI_Comm user, ambit_status s)
{
  const int mine = (int)s;
  int worst = AMBIT_OK, done = 0;
  MPI_Request r;
  int code = MPI_Iallreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, user, &r);

  if (code != MPI_SUCCESS && !s) /* again, for the others to know */
    return open_together(errors, user, fail(errors, code, "open a context"));
  while (code == MPI_SUCCESS && !done) {
    code = MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    sched_yield();
  }
  if (code != MPI_SUCCESS) {
    fail(errors, code, "open a context");
    abort_open(errors, user);
  }
  if (s || !worst) return s;
  return ambit__raise(errors, (ambit_status)worst, "another process could not open its context");
}

static ambit_status mpi_open(ambit__errors *errors, const void *communicator, ambit__net **net)
{
  MPI_Comm user;
  mpi_net *n;
  ambit_status s;
  int size;

  AMBIT_TRY(ready(errors));
  AMBIT_TRY(pick_communicator(errors, communicator, &user));
  TRY_MPI(errors, MPI_Comm_size(user, &size), "get the number of processes");
  n = make(errors, (size_t)size);
  s = open_together(errors, user, n && n->sent && n->base.room ? AMBIT_OK : AMBIT_ENOMEM);
  if (!s) {
    s = join(n, user);
    if (s) abort_open(errors, user);
  }
  if (s) {
    leave(n);
    return s;
  }
  mpi_state.open++;
  *net = &n->base;
  return AMBIT_OK;
}

static void mpi_close(ambit__net *net)
{
  mpi_net *n = (mpi_net *)net;
  int ended = 0;

  MPI_Finalized(&ended); /* by the user, too early: the communicators are gone */
  if (ended) n->comm = n->control = MPI_COMM_NULL;
  mpi_state.open--;
  leave(n);
}

/* ---- messages ---- */

enum { BLOCK = 1 << 20 };

/* A message larger than INT_MAX bytes is one element of a derived type: blocks, and the rest. */
static int make_extent(size_t n, mpi_extent *e)
{
  const int lengths[] = {(int)(n / BLOCK), (int)(n % BLOCK)};
  const MPI_Aint offsets[] = {0, (MPI_Aint)(n - n % BLOCK)};
  MPI_Datatype parts[] = {MPI_DATATYPE_NULL, MPI_BYTE};
  int code = MPI_Type_contiguous(BLOCK, MPI_BYTE, &parts[0]);

  if (code != MPI_SUCCESS) return code;
  code = MPI_Type_create_struct(2, lengths, offsets, parts, &e->type);
  MPI_Type_free(&parts[0]);
  if (code != MPI_SUCCESS) return code;
  e->count = 1;
  e->made = true;
  return MPI_Type_commit(&e->type);
}

ambit_status ambit__mpi_extent(ambit__net *net, size_t n, mpi_extent *e)
{
  *e = (mpi_extent){MPI_BYTE, (int)n, false};
  if (n > INT_MAX) TRY_MPI(net->errors, make_extent(n, e), "describe a large message");
  return AMBIT_OK;
}

static ambit_status begun(ambit__net *net, ambit__request *r, int code, MPI_Request handle,
                          mpi_extent *e, const char *what)
{
  if (e->made) MPI_Type_free(&e->type);
  TRY_MPI(net->errors, code, what);
  ambit__mpi_keep(r, handle);
  return AMBIT_OK;
}

static ambit_status mpi_send(ambit__net *net, int tag, const void *bytes, ambit__request *r)
{
  MPI_Request handle = MPI_REQUEST_NULL;
  mpi_extent e;
  int code;

  AMBIT_TRY(ambit__mpi_extent(net, r->bytes, &e));
  code = MPI_Isend(bytes, e.count, e.type, r->peer, tag, comm_of(net), &handle);
  mpi_of(net)->sent[r->peer] += code == MPI_SUCCESS;
  return begun(net, r, code, handle, &e, "send");
}

static ambit_status mpi_receive(ambit__net *net, int tag, void *bytes, ambit__request *r)
{
  MPI_Request handle = MPI_REQUEST_NULL;
  mpi_extent e;
  int code;

  AMBIT_TRY(ambit__mpi_extent(net, r->bytes, &e));
  code = MPI_Irecv(bytes, e.count, e.type, r->peer, tag, comm_of(net), &handle);
  return begun(net, r, code, handle, &e, "receive");
}

static ambit_status mpi_gather(ambit__net *net, const void *mine, void *all, ambit__request *r)
{
  MPI_Request handle = MPI_REQUEST_NULL;
  mpi_extent e;
  int code, ended = 0;

  MPI_Finalized(&ended); /* closing a context begins here, possibly after MPI_Finalize */
  AMBIT_CHECK(
      !ended, net->errors, AMBIT_EPROCESS,
      "MPI was finalised (MPI_Finalize) before the context was closed; call ambit_close first");
  AMBIT_TRY(ambit__mpi_extent(net, r->bytes, &e));
  code = MPI_Iallgather(mine, e.count, e.type, all, e.count, e.type, comm_of(net), &handle);
  if (code == MPI_SUCCESS) ambit__mpi_log(mpi_of(net), -1, r->bytes);
  return begun(net, r, code, handle, &e, "gather");
}

static ambit_status mpi_broadcast(ambit__net *net, int from, void *bytes, ambit__request *r)
{
  MPI_Request handle = MPI_REQUEST_NULL;
  mpi_extent e;
  int code;

  AMBIT_TRY(ambit__mpi_extent(net, r->bytes, &e));
  code = MPI_Ibcast(bytes, e.count, e.type, from, comm_of(net), &handle);
  if (code == MPI_SUCCESS) ambit__mpi_log(mpi_of(net), from, r->bytes);
  return begun(net, r, code, handle, &e, "broadcast");
}

static ambit_status mpi_test(ambit__net *net, ambit__request *r)
{
  MPI_Request handle = ambit__mpi_kept(r);
  MPI_Count got = 0;
  MPI_Status st;
  int done = 0;
  const int code = MPI_Test(&handle, &done, &st);

  ambit__mpi_keep(r, handle);
  r->active = code == MPI_SUCCESS && !done;
  if (r->receives && !r->active) mpi_of(net)->received[r->peer]++;
  TRY_MPI(net->errors, code, "complete a message");
  if (r->active) return AMBIT_OK;
  if (!r->receives) return AMBIT_OK;
  MPI_Get_elements_x(&st, MPI_BYTE, &got);
  AMBIT_CHECK((size_t)got == r->bytes, net->errors, AMBIT_EPROCESS,
              "process %d sent %lld bytes to process %d, which expected %zu", r->peer,
              (long long)got, net->rank, r->bytes);
  return AMBIT_OK;
}

static bool mpi_withdraw(ambit__net *net, ambit__request *r)
{
  return r->receives && ambit__mpi_cancel(mpi_of(net), r);
}

/* Any call into MPI makes progress on messages; this one does nothing else. */
static void mpi_poll(ambit__net *net)
{
  int there;

  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_of(net), &there, MPI_STATUS_IGNORE);
}

/* An extension of Open MPI, MPICH and libraries derived from them. */
#ifdef __GNUC__
__attribute__((weak))
#endif
extern int
MPIX_Query_cuda_support(void);

static bool mpi_takes_cuda(ambit__net *net)
{
  (void)net;
  return MPIX_Query_cuda_support && MPIX_Query_cuda_support() == 1;
}

static void mpi_abort(ambit__net *net)
{
  abort_run(comm_of(net));
}

#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
const ambit__net_kind ambit__net_mpi = {
    .contract = AMBIT__NET_CONTRACT,
    .open = mpi_open,
    .close = mpi_close,
    .send = mpi_send,
    .receive = mpi_receive,
    .gather = mpi_gather,
    .broadcast = mpi_broadcast,
    .test = mpi_test,
    .withdraw = mpi_withdraw,
    .poll = mpi_poll,
    .takes_cuda = mpi_takes_cuda,
    .say_waiting = ambit__mpi_say_waiting,
    .is_waiting = ambit__mpi_is_waiting,
    .signal_stop = ambit__mpi_signal_stop,
    .stop_signalled = ambit__mpi_stop_signalled,
    .settle = ambit__mpi_settle,
    .abort = mpi_abort,
};
