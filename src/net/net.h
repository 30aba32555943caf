/* net.h - the processes of a run, behind one small table, as device.h has devices.
 *
 * The processes of a context form a net: they are numbered from 0, and each can send bytes to any other. A
 * kind of net is one constant table: `alone`, for one process, is in the library; the one that talks MPI
 * (mpi.c) is in a module of its own for each MPI there is, libambit-openmpi.so and libambit-mpich.so,
 * and is loaded only in a run that needs it. So one build serves them all, and a program that was started by
 * hand never meets MPI.
 *
 * What is sent or received belongs to the net until its request is done. Messages from one process
 * to another with one tag arrive in the order they were sent; both ends know how long each is. What is marked
 * collective must be called by all processes in the same order. All calls come from one thread.
 */
#ifndef AMBIT_NET_NET_H
#define AMBIT_NET_NET_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AMBIT__NET_CONTRACT "ambit 0.1 net 5" /* a module must have been made for this table */

enum { AMBIT__NET_TAGS = 32768 }; /* tags are 0 to one less: what MPI promises */

/* The common head of every kind's own struct. */
typedef struct ambit__net {
  const struct ambit__net_kind *kind;
  ambit__errors *errors;            /* of the context */
  int rank, size;                   /* this process, and how many there are */
  int local_rank, local_size;       /* the same among those on this node */
  char name[64];                    /* "alone", "Open MPI v4.1.4" */
  struct ambit__request *under_way; /* begun, and not done */
  bool stopping;                    /* all are being brought to a stop */
  void *room; /* ambit__net_room bytes for agreements; NULL with one process; the kind frees it */
} ambit__net;

/* Something under way, which stays where it is in memory meanwhile. All zero: nothing is. */
typedef struct ambit__request {
  bool active;
  bool receives;                       /* a message that must be `bytes` long */
  int peer;                            /* the other end; -1: all */
  size_t bytes;                        /* of the message */
  intptr_t handle;                     /* the kind's own */
  struct ambit__request *next, **link; /* among those under way; what points to this one there */
} ambit__request;

/* Every function but test, settle and abort only begins something. A net of one process never sends or receives. */
typedef struct ambit__net_kind {
  const char *contract; /* AMBIT__NET_CONTRACT */

  /* Collective. `communicator`: the user's, as a pointer to it; NULL: all processes of the run. */
  ambit_status (*open)(ambit__errors *errors, const void *communicator, ambit__net **net);
  void (*close)(ambit__net *net);

  ambit_status (*send)(ambit__net *net, int tag, const void *bytes, ambit__request *r);
  ambit_status (*receive)(ambit__net *net, int tag, void *bytes, ambit__request *r);
  ambit_status (*gather)(ambit__net *net, const void *mine, void *all, ambit__request *r);
  ambit_status (*broadcast)(ambit__net *net, int from, void *bytes, ambit__request *r);
  ambit_status (*test)(ambit__net *net, ambit__request *r); /* clears r->active when it is done */
  bool (*withdraw)(ambit__net *net, ambit__request *r);     /* false: must be waited for */
  void (*poll)(ambit__net *net);
  /* Whether it says that it sends and receives what lies in the memory of CUDA devices. NULL: it does not. */
  bool (*takes_cuda)(ambit__net *net);
  void (*call)(ambit__net *net);                    /* tells all others to stop */
  bool (*called)(ambit__net *net);                  /* whether one of them did */
  bool (*settle)(ambit__net *net, double deadline); /* see ambit__net_stop; false: not in time */
  void (*abort)(ambit__net *net);
} ambit__net_kind;

extern const ambit__net_kind ambit__net_alone;

/* ---- opening: open.c ---- */

/* Joins the processes of this run. `how` is the option mpi: "auto" takes MPI if the program was started by
 * mpirun, srun or the like, if MPI is already running, or if a communicator is given; "off" never; "on",
 * "openmpi" and "mpich" always. Collective. */
ambit_status ambit__net_open(ambit__errors *errors, const char *how, const void *communicator,
                             ambit__net **net);
void ambit__net_close(ambit__net *net); /* collective; NULL does nothing */
/* Process `rank` of `size` that are not there (pretend.c): programs can be sealed, but not run. */
ambit_status ambit__net_pretend(ambit__errors *errors, int rank, int size, ambit__net **net);

/* ---- messages: net.c ---- */

/* Begin to send or receive n bytes, of any size, to or from another process. */
ambit_status ambit__net_send(ambit__net *net, int to, int tag, const void *bytes, size_t n,
                             ambit__request *r);
ambit_status ambit__net_receive(ambit__net *net, int from, int tag, void *bytes, size_t n,
                                ambit__request *r);

/* Whether it is done; a request that is not active is. */
ambit_status ambit__net_test(ambit__net *net, ambit__request *r, bool *done);
ambit_status ambit__net_wait(ambit__net *net, ambit__request *r, size_t n); /* for all */
/* Gives them up: receives are withdrawn, the rest is waited for. A send that nobody receives ends the run. */
void ambit__net_cancel(ambit__net *net, ambit__request *r, size_t n);
void ambit__net_poll(ambit__net *net); /* lets messages move */

/* ---- all together: net.c; collective ---- */

/* all[0..size-1] of n bytes each: what every process gave, by rank. Folding it in this order gives all the
 * same result, to the last bit, in every run on as many processes. */
ambit_status ambit__net_gather_begin(ambit__net *net, const void *mine, size_t n, void *all,
                                     ambit__request *r);
ambit_status ambit__net_gather(ambit__net *net, const void *mine, size_t n, void *all);
/* Gives everyone the bytes of one process. */
ambit_status ambit__net_broadcast_begin(ambit__net *net, int from, void *bytes, size_t n,
                                        ambit__request *r);
ambit_status ambit__net_broadcast(ambit__net *net, int from, void *bytes, size_t n);
/* Returns when all have come here. */
ambit_status ambit__net_barrier(ambit__net *net);
/* What fails on one process fails on all: the status of the first process (by rank) that has an error. Those that have
 * none raise it, with its story; their handlers are not called, since its own was. Where handlers wait to be told, an
 * error that several have is told by the first of them. Until the error is cleared, further agreements return it at once. */
ambit_status ambit__net_agree(ambit__net *net);
/* The same, and all must be about to do the same: otherwise all raise AMBIT_EPROGRAM. `doing`: "it runs 10 iterations". A
 * process that is elsewhere because it failed may be in any agreement: it matches this one. */
ambit_status ambit__net_agree_on(ambit__net *net, const char *doing);
/* Fold n values of each process, one by one, and leave the result on all. Sums are taken by rank, so all get the same bits. Each
 * is an agreement too, so a process that fails meets the others here as well, and none waits for it. */
ambit_status ambit__net_all(ambit__net *net, bool *values, size_t n);
ambit_status ambit__net_any(ambit__net *net, bool *values, size_t n);
ambit_status ambit__net_max(ambit__net *net, double *values, size_t n);
ambit_status ambit__net_sum(ambit__net *net, double *values, size_t n);
/* Bytes that a net of several processes has at hand, so that none of these allocates anything. */
size_t ambit__net_room(int size);

/* ---- the end ---- */

/* For a process that fails while the others are anywhere: calls them to stop. All give up what is under way, and then agree (see
 * above) on the error. Nothing is left behind, and the net is as good as new. Those who do not come within seconds have
 * the whole run ended. */
ambit_status ambit__net_stop(ambit__net *net);
/* Stops, if another process has called: returns its error. Whoever waits listens. */
ambit_status ambit__net_listen(ambit__net *net);

/* Ends the whole run, because this process cannot go on and the others would wait for it: says why on
 * standard error and does not return. Alone, it returns: nobody waits. */
void ambit__net_abort(ambit__net *net, const char *why);

/* ---- what is under way: requests.c ---- */

void ambit__request_enter(ambit__net *net, ambit__request *r); /* it was begun */
void ambit__request_leave(ambit__request *r);                  /* it is done */
void ambit__net_forget(ambit__net *net);                       /* all are */

#endif
