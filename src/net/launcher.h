/* launcher.h - how this process was started, and what MPI it already has. For open.c; and for who tells of errors before a
 * net is open. */
#ifndef AMBIT_NET_LAUNCHER_H
#define AMBIT_NET_LAUNCHER_H

#include "net/net.h"

/* Who started this process together with others, by what it left in the environment. */
typedef struct ambit__launcher {
  const char *name;   /* "Open MPI's mpirun"; NULL: nobody did */
  const char *family; /* the MPI that goes with it, "openmpi" or "mpich"; NULL: any */
  int size;           /* processes; 0: only MPI can tell */
  int rank;           /* of this one, 0 if it is not told */
} ambit__launcher;

ambit__launcher ambit__launcher_find(void);

/* The MPI library that the program itself brought into this process. */
typedef struct ambit__inside {
  bool loaded;
  bool running;       /* MPI_Init was called */
  const char *family; /* "openmpi" or "mpich"; NULL: one that is not known */
  char version[64];   /* what it says of itself */
} ambit__inside;

void ambit__inside_find(ambit__inside *inside);

/* The module for a family of MPI (NULL: the first that can be loaded); NULL and why there is none. Once loaded
 * it stays. */
const ambit__net_kind *ambit__module_load(const char *family, char *why, size_t bytes);

#endif
