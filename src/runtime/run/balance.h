/* SPDX-License-Identifier: BSD-3-Clause */
/* balance.h - shares of devices: how fast each computes a program, and where the cut belongs.
 *
 * A few iterations after the start of the first run, and again from time to time, some iterations
 * are measured. All processes then know how fast each device computes its cells. If the cut that
 * follows from this saves more than moving costs, it is moved, with the values of all fields.
 */
#ifndef AMBIT_RUNTIME_RUN_BALANCE_H
#define AMBIT_RUNTIME_RUN_BALANCE_H

#include "runtime/program/program.h"

/* The next action. */
typedef enum ambit__balance_stage {
  BALANCE_BEGIN, /* measured iterations begin */
  BALANCE_END,   /* ... and end */
  BALANCE_WARM,  /* the first device alone is ready to be timed */
  BALANCE_ALONE, /* ... and was timed */
  BALANCE_OVER   /* nothing more */
} ambit__balance_stage;

typedef struct ambit__balance {
  bool moves;                 /* the cut may move; false: the shares are only measured */
  ambit__balance_stage stage; /* after `wanted` iterations */
  int64_t wanted;
  int64_t iterations; /* that were measured so far: not those of runs that are left aside, */
  double elapsed;     /* their seconds, */
  double seconds;     /* and of an iteration of the last ones measured on all devices */
  double period;      /* seconds to the next measurement */
  bool doubtful;      /* the last one found the cut wrong, and the next has to confirm it */
  bool tried;         /* the first device was tried alone, now or in an earlier run */
  bool recalled;      /* the weights are those of an earlier run */
  double cost;        /* of moving the cut, seconds; the last time, or a guess */
  int recuts;         /* times the cut was moved */
  double recutting;   /* seconds that took */
  double gain;        /* a device left out would have added this share, at most; 0: none is */
  double together;    /* seconds per iteration at this cut, measured with it only; 0: not known */
  double alone;       /* the same on the first device alone; 0: not tried */
  int n;              /* parts, as many as the option devices makes */
  char (*names)[AMBIT__PART_NAME]; /* by part: "cuda:0"; NULL: not gathered; owned */
  double *weights;                 /* by part: those of the cut; owned, with the following */
  double *rates;                   /* cells per second; 0: not known */
  double *busy;                    /* of an iteration, seconds that its device computed it, */
  double *moving;                  /* and packed and unpacked its messages */
  double *first;                   /* weights that give all to the first device */
  double *asked, *cells;           /* scratch: weights that rates ask for, and cells of parts */
  double *measures;                /* scratch: 3 n + 1 numbers */
} ambit__balance;

/* Makes p->balance if the shares of devices matter. Before a run; collective. The cut of programs
 * that call others is not moved, and while a program is called nothing is measured for it. */
ambit_status ambit__balance_make(ambit_program *p);
void ambit__balance_free(ambit_program *p); /* p->unbalance */

/* Before and after some iterations of a run: measures them, if they are to be. */
void ambit__balance_start(const ambit_program *p);
void ambit__balance_stop(ambit_program *p, int64_t iterations, double seconds);

/* Iterations that can run before ambit__balance_act is due. */
int64_t ambit__balance_left(const ambit_program *p);
/* Takes the next action; `left` iterations remain of the run. Collective; all work is done. */
ambit_status ambit__balance_act(ambit_program *p, int64_t left);

/* ---- balance_shares.c: the arithmetic ---- */

/* Chooses weights from the rates of n parts. A part whose device would add less than `least` to the
 * others gets none. Returns the largest share that one left out would have added; 0: none is. */
double ambit__shares_choose(const double *rates, int n, double least, double *weights);
/* Seconds of an iteration in which part i computes cells[i] cells. */
double ambit__shares_time(const double *rates, int n, const double *cells);
/* The same if all parts with a weight end at the same time. */
double ambit__shares_ideal(const double *rates, int n, const double *weights, double cells);

/* ---- balance_notes.c ---- */

/* The weights that earlier runs found; *known is false if there are none. Collective; needs the
 * names of devices. */
ambit_status ambit__balance_recall(const ambit_program *p, double *weights, bool *known);
void ambit__balance_note(const ambit_program *p, const double *weights);
/* The weights of the parts of a single process that earlier runs found, without running, and in a
 * dry context too; false: there are none, or more than AMBIT__SHOWN_WEIGHTS parts. */
enum { AMBIT__SHOWN_WEIGHTS = 16 };
bool ambit__balance_remembers(const ambit_program *p, double *weights);

/* ---- balance_report.c ---- */

/* The name of the device of a part of this process: "cuda:0". */
void ambit__part_name(const ambit *a, int part, char name[AMBIT__PART_NAME]);
/* Gets the names of the devices of all parts. Collective. */
ambit_status ambit__balance_gather(ambit_program *p);
/* The share of each device, the time it computed, moved cells and waited; why one is left out. */
void ambit__balance_print(const ambit_program *p);

#endif
