/* SPDX-License-Identifier: BSD-3-Clause */
/* net.h - the processes of a run, behind one table of functions, as device.h is for devices.
 *
 * The processes of a context form a net: they are numbered from 0, and each can send bytes to any
 * other. A kind of net is one constant table. `alone`, for one process, is part of the library. The
 * MPI net (mpi.c) is a separate module for each MPI, libambit-openmpi.so and libambit-mpich.so,
 * loaded only by runs that need it. One build therefore serves every MPI, and a program started
 * without a launcher never loads MPI.
 *
 * A buffer that is being sent or received belongs to the net until its request is complete.
 * Messages between two processes with the same tag arrive in order, and both ends know their
 * length. Collective functions must be called by all processes in the same order. All calls come
 * from one thread.
 */
#ifndef AMBIT_NET_NET_H
#define AMBIT_NET_NET_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AMBIT__NET_CONTRACT "ambit 0.1 net 7" /* version of this table; a module must match it */

enum {
  AMBIT__NET_TAGS = 32768
}; /* tags are 0 .. AMBIT__NET_TAGS - 1, the range that MPI guarantees */

/* The common head of the struct of every kind. */
typedef struct ambit__net {
  const struct ambit__net_kind *kind;
  ambit__errors *errors;          /* of the context */
  int rank, size;                 /* rank of this process; number of processes */
  int local_rank, local_size;     /* the same, among the processes of this node */
  char name[64];                  /* "alone", "Open MPI v4.1.4" */
  struct ambit__request *pending; /* list of pending requests */
  bool stopping;                  /* a stop is in progress */
  int gone;                       /* 1 + a process that has closed its context; 0: none has */
  void *room; /* ambit__net_room bytes for agreements, freed by the kind; NULL with one process */
} ambit__net;

/* A pending operation. It must not move in memory while active. All zero: inactive. */
typedef struct ambit__request {
  bool active;
  bool receives;   /* the message must be exactly `bytes` long */
  int peer;        /* rank of the other process; -1: all */
  size_t bytes;    /* length of the message */
  intptr_t handle; /* private to the kind */
  struct ambit__request *next,
      **link; /* in the list of pending requests; the pointer to this one */
} ambit__request;

/* All functions except test, settle and abort are non-blocking. A net of one process never sends or
 * receives. */
typedef struct ambit__net_kind {
  const char *contract; /* AMBIT__NET_CONTRACT */

  /* Collective. `communicator` points to the user's MPI_Comm; NULL: all processes of the run. */
  ambit_status (*open)(ambit__errors *errors, const void *communicator, ambit__net **net);
  void (*close)(ambit__net *net);

  ambit_status (*send)(ambit__net *net, int tag, const void *bytes, ambit__request *r);
  ambit_status (*receive)(ambit__net *net, int tag, void *bytes, ambit__request *r);
  ambit_status (*gather)(ambit__net *net, const void *mine, void *all, ambit__request *r);
  ambit_status (*broadcast)(ambit__net *net, int from, void *bytes, ambit__request *r);
  ambit_status (*test)(ambit__net *net, ambit__request *r); /* clears r->active when complete */
  bool (*withdraw)(ambit__net *net, ambit__request *r);     /* cancels; false: must be waited for */
  void (*poll)(ambit__net *net);
  /* Whether MPI claims to send and receive from CUDA device memory. NULL: no. */
  bool (*takes_cuda)(ambit__net *net);
  /* Tells all others that this process waits, now; whether another one has said so during the same
   * collective operation. NULL: not known. */
  void (*say_waiting)(ambit__net *net);
  bool (*is_waiting)(ambit__net *net, int rank);
  void (*signal_stop)(ambit__net *net);             /* signals all other processes to stop */
  bool (*stop_signalled)(ambit__net *net);          /* whether another process signalled a stop */
  bool (*settle)(ambit__net *net, double deadline); /* see ambit__net_stop; false: timed out */
  void (*abort)(ambit__net *net);
} ambit__net_kind;

extern const ambit__net_kind ambit__net_alone;

/* ---- opening: open.c ---- */

/* Opens the net of this run. `how` is the option mpi. "auto" uses MPI if the program was started by
 * mpirun, srun or the like, if MPI is already initialised, or if a communicator is given. "off"
 * never does; "on", "openmpi" and "mpich" always do. A process in which MPI does not start within
 * so many seconds (0: no limit) is ended: others are missing. Collective. */
ambit_status ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                             const void *communicator, ambit__net **net);
void ambit__net_close(ambit__net *net); /* collective; NULL is ignored */
/* A net that acts as process `rank` of `size` without the others (alone.c): programs can be
 * sealed but not run. */
ambit_status ambit__net_pretend(ambit__errors *errors, int rank, int size, ambit__net **net);

/* ---- messages: net.c ---- */

/* If MPI fails in one of the functions below, this process stops all others (ambit__net_stop), and
 * the error is raised on all. */

/* Begin to send n bytes to, or receive n bytes from, another process; n may exceed INT_MAX. */
ambit_status ambit__net_send(ambit__net *net, int to, int tag, const void *bytes, size_t n,
                             ambit__request *r);
ambit_status ambit__net_receive(ambit__net *net, int from, int tag, void *bytes, size_t n,
                                ambit__request *r);

/* Whether the request is complete; an inactive request is. */
ambit_status ambit__net_test(ambit__net *net, ambit__request *r, bool *done);
ambit_status ambit__net_wait(ambit__net *net, ambit__request *r, size_t n); /* for all n */
/* Cancels requests: receives are withdrawn, others are waited for. Aborts the run if a send is not
 * received. */
void ambit__net_cancel(ambit__net *net, ambit__request *r, size_t n);
void ambit__net_poll(ambit__net *net); /* makes progress on messages */

/* ---- collective operations: net.c ---- */

/* Allgather: all[0..size-1] holds the n bytes of every process, by rank. Folding them in this order
 * gives all processes the same bits, in every run with as many processes. */
ambit_status ambit__net_gather_begin(ambit__net *net, const void *mine, size_t n, void *all,
                                     ambit__request *r);
ambit_status ambit__net_gather(ambit__net *net, const void *mine, size_t n, void *all);
/* Broadcasts the bytes of process `from`. */
ambit_status ambit__net_broadcast_begin(ambit__net *net, int from, void *bytes, size_t n,
                                        ambit__request *r);
ambit_status ambit__net_broadcast(ambit__net *net, int from, void *bytes, size_t n);
ambit_status ambit__net_barrier(ambit__net *net);
/* Makes an error on one process an error on all. Returns the status of the first process, by
 * rank, that has an error. Processes without an error raise it with its message; their handlers
 * are not called, since its own was. Where handlers are deferred, an error shared by several
 * processes is reported by the first of them. Until the error is cleared, further agreements
 * return it at once. */
ambit_status ambit__net_agree(ambit__net *net);
/* What a process does that comes to no agreement afterwards. */
#define AMBIT__NET_CLOSES "closes its context"
/* The same, and detects divergence: all processes must pass the same `doing` ("runs 10
 * iterations"), else all raise AMBIT_EPROGRAM. A process that failed elsewhere may be in any
 * agreement: it matches this one. After a process has closed its context, all but closing fails,
 * also if the error was cleared. */
ambit_status ambit__net_agree_on(ambit__net *net, const char *doing);
/* The same, with a number of each process that is not 0. *who: the first that has another one than
 * process 0, whatever they do; 0: all have the same. */
ambit_status ambit__net_agree_on_number(ambit__net *net, const char *doing, double number,
                                        int *who);
/* Reduce n values element by element over all processes. Sums are taken in the order of ranks,
 * so all processes get the same bits. Each call is an agreement, so a process that failed before
 * it meets the others here, and its error is raised on all. */
ambit_status ambit__net_all(ambit__net *net, bool *values, size_t n);
ambit_status ambit__net_any(ambit__net *net, bool *values, size_t n);
ambit_status ambit__net_max(ambit__net *net, double *values, size_t n);
ambit_status ambit__net_sum(ambit__net *net, double *values, size_t n);
/* Bytes of net->room: with it, none of these functions allocates memory. */
size_t ambit__net_room(int size);

/* ---- stopping ---- */

/* Called by a process that fails while the others may be anywhere: signals them to stop. All
 * processes cancel their pending requests and then agree on the error (see above). The net can be
 * used again afterwards. If a process does not stop within seconds, the run is aborted. An error
 * that all have agreed on is only returned. */
ambit_status ambit__net_stop(ambit__net *net);
/* Stops if another process has signalled a stop, and returns its error. Called while waiting. */
ambit_status ambit__net_listen(ambit__net *net);

/* Aborts the run, because this process cannot continue and the others would wait for it. Prints
 * `why` to stderr and does not return. With one process it returns. */
void ambit__net_abort(ambit__net *net, const char *why);

/* ---- pending requests: requests.c ---- */

void ambit__request_enter(ambit__net *net, ambit__request *r); /* adds to the list */
void ambit__request_leave(ambit__request *r);                  /* removes; now inactive */
void ambit__net_forget(ambit__net *net);                       /* removes all */

#endif
