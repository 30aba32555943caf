/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_net.h - shared by the files of the MPI module. */
#ifndef AMBIT_NET_MPI_NET_H
#define AMBIT_NET_MPI_NET_H

#include "net/net.h"

#include <mpi.h>

#include <string.h>

enum { MPI_NET_LOG = 64 }; /* number of collective operations kept in the log */

/* The numbers that a process sends to each other one while stopping. */
enum { COUNT_SENT, COUNT_COLLECTIVES, COUNT_SIGNAL, NCOUNTS };

/* A collective operation, recorded so that a process that missed it can match it. */
typedef struct mpi_collective {
  int64_t bytes; /* per process */
  int64_t from;  /* root of a broadcast; -1: a gather */
} mpi_collective;

typedef struct mpi_net {
  ambit__net base;
  MPI_Comm comm;                   /* duplicate of the user's communicator */
  MPI_Comm control;                /* second duplicate, for stop signals and stopping */
  int64_t *sent;                   /* per process: messages sent to it; owned, with the next 3 */
  int64_t *received;               /* per process: messages received from it */
  int64_t *counts_out, *counts_in; /* while stopping: NCOUNTS numbers to and from each process */
  int64_t ncollectives;            /* collective operations begun */
  mpi_collective log[MPI_NET_LOG]; /* the last of them, indexed by number modulo length */
  int64_t waits_in;                /* sent to others: its collectives when it waited */
  bool has_signalled;              /* this process has signalled a stop since the last one */
} mpi_net;

static inline void ambit__mpi_keep(ambit__request *r, MPI_Request handle)
{
  memcpy(&r->handle, &handle, sizeof handle);
}

static inline MPI_Request ambit__mpi_kept(const ambit__request *r)
{
  MPI_Request handle;

  memcpy(&handle, &r->handle, sizeof handle);
  return handle;
}

/* A message size for MPI, whose counts are of type int. */
typedef struct mpi_extent {
  MPI_Datatype type;
  int count;
  bool made; /* a derived type to be freed after the call; MPI keeps it while in use */
} mpi_extent;

ambit_status ambit__mpi_extent(ambit__net *net, size_t n, mpi_extent *e);

/* ---- mpi_stop.c ---- */

void ambit__mpi_log(mpi_net *n, int from, size_t bytes);
bool ambit__mpi_cancel(mpi_net *n, ambit__request *r); /* a receive; false: not possible */
void ambit__mpi_say_waiting(ambit__net *net);
bool ambit__mpi_is_waiting(ambit__net *net, int rank);
void ambit__mpi_signal_stop(ambit__net *net);
bool ambit__mpi_stop_signalled(ambit__net *net);
bool ambit__mpi_settle(ambit__net *net, double deadline);

#endif
