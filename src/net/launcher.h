/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h - the launcher of this process, and the MPI library already loaded into it. Used by
 * open.c, and to report errors before a net is open. */
#ifndef AMBIT_NET_LAUNCHER_H
#define AMBIT_NET_LAUNCHER_H

#include "net/net.h"

/* The launcher that started this process, from the environment variables it sets. */
typedef struct ambit__launcher {
  const char *name;   /* "Open MPI's mpirun"; NULL: started without a launcher */
  const char *family; /* the matching MPI, "openmpi" or "mpich"; NULL: any */
  int size;           /* number of processes; 0: only MPI knows */
  int rank;           /* of this process; 0 if unknown */
} ambit__launcher;

ambit__launcher ambit__launcher_find(void);

/* The MPI library that the program itself has loaded into this process. */
typedef struct ambit__loaded_mpi {
  bool loaded;
  bool running;       /* MPI_Init was called */
  const char *family; /* "openmpi" or "mpich"; NULL: unknown */
  char version[64];   /* first line of its version string */
} ambit__loaded_mpi;

void ambit__loaded_mpi_find(ambit__loaded_mpi *mpi);

/* Loads the module for a family of MPI (NULL: the first that loads). On failure returns NULL and
 * sets `why`. A loaded module is never unloaded. */
const ambit__net_kind *ambit__module_load(const char *family, char *why, size_t bytes);

#endif
