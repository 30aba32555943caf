/* mpi_net.h - what the files of the module that talks MPI share. */
#ifndef AMBIT_NET_MPI_NET_H
#define AMBIT_NET_MPI_NET_H

#include "net/net.h"

#include <mpi.h>

#include <string.h>

enum { MPI_NET_LOG = 64 }; /* collective calls that are remembered */

/* Numbers that a process tells another when all stop. */
enum { TOLD_SENT, TOLD_MEETINGS, TOLD_CALL, MPI_NET_TOLD };

/* A collective call: what a process that did not come to it must do to let the others go. */
typedef struct mpi_meeting {
  int64_t bytes; /* of each process */
  int64_t from;  /* of a broadcast; -1: it was a gather */
} mpi_meeting;

typedef struct mpi_net {
  ambit__net base;
  MPI_Comm comm;  /* a duplicate of its own */
  MPI_Comm calls; /* another one, for calls to stop and what follows them */
  int64_t
      *sent; /* by process: messages begun to be sent to it; owned, and the next three with it */
  int64_t *received; /* by process: messages of it that were taken */
  int64_t *said;     /* MPI_NET_TOLD numbers to each process, when all stop (mpi_stop.c) ... */
  int64_t *told;     /* ... and from each */
  int64_t meetings;  /* collective calls begun */
  mpi_meeting log[MPI_NET_LOG]; /* the last of them, by number modulo the length */
  bool has_called;              /* others to stop, since all last did */
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

/* MPI counts with int. */
typedef struct mpi_extent {
  MPI_Datatype type;
  int count;
  bool made; /* the type must be freed; MPI keeps it as long as it needs it */
} mpi_extent;

ambit_status ambit__mpi_extent(ambit__net *net, size_t n, mpi_extent *e);

/* ---- mpi_stop.c ---- */

void ambit__mpi_log(mpi_net *n, int from, size_t bytes);
bool ambit__mpi_cancel(mpi_net *n, ambit__request *r); /* a receive; false: it cannot be */
void ambit__mpi_call(ambit__net *net);
bool ambit__mpi_called(ambit__net *net);
bool ambit__mpi_settle(ambit__net *net, double deadline);

#endif
