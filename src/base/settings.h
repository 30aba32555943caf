/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - the options of a context, parsed. The table of options is in runtime/options.c. */
#ifndef AMBIT_BASE_SETTINGS_H
#define AMBIT_BASE_SETTINGS_H

#include <stdbool.h>

enum { AMBIT__PATIENCE = 60 }; /* seconds */

typedef struct ambit__settings {
  const char *devices;   /* "cpu", "ref", ... */
  const char *lanes;     /* "cpu,(cuda:0,cuda:1)": devices of each lane of a stream; "": one lane */
  const char *partition; /* "auto", "4", "2x2": number of parts along each axis */
  const char *weights;   /* "1,0.5": relative sizes of the parts; "": equal */
  const char *mpi;       /* "auto", "off", "on", "openmpi", "mpich": see net.h */
  int startup;           /* time limit of starting MPI in seconds; 0: none */
  bool gpuaware;         /* pass device memory to MPI, if a test shows that MPI supports it */
  int depth;             /* iterations per pass or halo exchange; 0: as many as pay off */
  bool trial;            /* long runs time other plans of kernels, and go on with the fastest */
  bool tune;             /* find the fastest plan by timing, if it is not known */
  const char *overlap;   /* "none", "standard", "extended", "two-way" */
  int sharers;           /* processes on this node that share its cores; 0 or 1: none */
  bool companions;       /* this process has several devices, and a thread that drives them */
  int threads;           /* of a cpu device; 0: one per core available to this process */
  const char *sleep;     /* "auto", "on", "off": tiles that did not change are not computed */
  const char *storage;   /* "auto", "list", or words for runs: of the cells of sparse grids */
  const char *lean;      /* "auto", "on", "off": new values go over the oldest ones, in place */
  bool join;             /* steps that need no other cells of each other are one launch */
  bool strict;           /* no contraction, no reassociation: identical bits everywhere */
  const char *machine;   /* to plan for, a recorded name or a file; "": the one that there is */
  const char *plan;      /* start of the plans to use: "(fused sum 4"; "": any */
  const char *cc;        /* C compiler; "none": do not compile */
  int patience;          /* time limit of the compiler in seconds; 0: AMBIT__PATIENCE */
  int cachesize;         /* size limit of the cache in MiB; 0: none */
  const char *cache;     /* directory of compiled kernels; "": the user's; "none": no cache */
  const char *checkpoint;       /* file to save the state of the context in; "": none */
  const char *checkpoint_every; /* "1000", "10min": iterations or time between two of them */
  const char *resume;           /* "auto", "no", "any", or the checkpoint to continue from */
  const char *explain;          /* "text", or a file for a graph; "": none */
  const char *dump;             /* directory for generated source; "": none */
  bool hugepages;               /* ask for huge pages for large fields */
  bool nan;          /* initialise memory with NaN, and stop at the first NaN that a step writes */
  const char *trace; /* file for a timeline; "": none */
  bool progress;     /* live progress line on stderr */
  bool report;       /* report on stderr when a program ends */
  const char *view;  /* where and what of runs is shown (runtime/observe/viewing.h); "": nothing */
  int verbose;       /* 0 warnings, 1 plans, 2 compilation and loading */
#ifdef AMBIT_ACCESS_CHECKS
  bool check; /* check every memory access of every kernel */
#endif
} ambit__settings;

#endif
