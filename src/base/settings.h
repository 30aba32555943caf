/* settings.h - the options of a context, parsed. The table that fills it is runtime/options.c. */
#ifndef AMBIT_BASE_SETTINGS_H
#define AMBIT_BASE_SETTINGS_H

#include <stdbool.h>

enum { AMBIT__PATIENCE = 60 }; /* seconds */

typedef struct ambit__settings {
  const char *devices;   /* "cpu", "ref", ... */
  const char *partition; /* "auto", "4", "2x2": how a grid is cut into parts */
  const char *weights;   /* "1,0.5": how much of it each part gets; "" all alike */
  const char *mpi;       /* "auto", "off", "on", "openmpi", "mpich": see net.h */
  const char *network;   /* "200us,1GB/s": how slow it is to seem; "" as it is */
  bool gpuaware;         /* MPI is handed device memory, if it is found able to take it */
  bool exchange;         /* 0: parts do not exchange cells; for measuring alone */
  const char *overlap;   /* "none", "standard", "extended", "two-way" */
  int sharers;           /* processes on this machine that share its cores; 0 or 1: none */
  int threads;           /* of a cpu device; 0: one per core this process may use */
  bool strict;           /* no contraction, no reassociation: equal bits everywhere */
  const char *cc;        /* C compiler; "none": do not compile */
  int patience;          /* seconds a compiler may take; 0: AMBIT__PATIENCE */
  int cachesize;         /* MiB that the cache may hold; 0: any number */
  const char *cache;     /* folder of compiled kernels; "" the user's own; "none": keep nothing */
  const char *dump;      /* folder for generated source; "" none */
  bool check;            /* every access of every kernel is checked */
  bool hugepages;        /* ask for huge pages for large fields */
  bool nan;              /* memory starts as NaN, and the first NaN a step writes ends the run */
  const char *trace;     /* file for a timeline; "" none */
  bool progress;         /* a live line on standard error while running */
  bool report;           /* a report on standard error when a program ends */
  int verbose;           /* 0 warnings, 1 plans, 2 what is compiled and loaded */
} ambit__settings;

#endif
