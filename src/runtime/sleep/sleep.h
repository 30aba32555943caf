/* SPDX-License-Identifier: BSD-3-Clause */
/* sleep.h - tiles that did not change are not computed and not sent (docs/design/0017-sleep.md).
 *
 * Every buffer of a field has an id for each zone of each tile (grid/tiles.h): equal ids of one
 * zone mean equal values. A step is not run on a tile, the tile sleeps, if
 *   - the ids of everything that it reads are those that it read in the last iteration, so that its
 *     results are the same, and
 *   - the buffers that it would write already have the ids of these results.
 * If only the second does not hold, the results are copied from the buffer that has them. A step
 * that runs on a tile compares its results with those of the last iteration; zones without a
 * difference keep their ids, the others get new ones.
 *
 *   map.c       which programs can have sleeping tiles, and memory for them
 *   ids.c       ids, the list of tiles that may be awake, and changes from outside
 *   step.c      one step: decides, launches, compares
 *   notes.c     ids of tiles of other processes, and messages that are left out
 *   decide.c    iterations with sleeping tiles, and when they pay off
 *   relax.c     programs whose parts come to rest by themselves, in any order
 */
#ifndef AMBIT_RUNTIME_SLEEP_SLEEP_H
#define AMBIT_RUNTIME_SLEEP_SLEEP_H

#include "base/memory.h"
#include "grid/tiles.h"
#include "runtime/exchange/exchange.h"

/* A field that a step reads: the values that its result depends on. */
typedef struct ambit__sleep_input {
  int field;      /* of the program */
  bool around;    /* reads neighbours; false: the cell itself only */
  uint64_t *seen; /* by tile and zone: ids that the step read in the last iteration */
} ambit__sleep_input;

/* A field that a step writes. */
typedef struct ambit__sleep_output {
  int field;
  int arg;        /* of the step */
  int before;     /* the field that holds the results of the last iteration */
  uint64_t *last; /* by tile and zone: ids of the results of the last iteration */
} ambit__sleep_output;

/* A step that is launched on cells. */
typedef struct ambit__sleeper {
  int nin, nout; /* nout 0 and nin 0: not such a step */
  ambit__sleep_input *in;
  ambit__sleep_output *out;
  int *params;                 /* by output: its parameter */
  ambit__store **than;         /* by part of this process and output, for launches */
  bool loses;                  /* overwrites results of the last iteration */
  bool restless;               /* depends on the number of the iteration */
  ambit__function **functions; /* by engine, for tiles */
  ambit__function **relaxers;  /* the same, to bring them to rest; NULL: they do not */
  ambit__chunks *chunks;       /* of a sparse grid: by part, in the order of its tiles */
  int64_t *filled;             /* ... by part: tiles with active cells */
  unsigned char *values;       /* 8 bytes per argument: scalars in the last iteration */
  bool valued;                 /* `values` are set */
  int words;                   /* of the results of reductions on a tile; 0: none */
  int64_t *partials;           /* by tile and word */
} ambit__sleeper;

/* The launch of a step on a part of this process. Devices work on several at the same time. */
typedef struct ambit__sleep_part {
  ambit__launch launch;
  ambit__tile_list list;
  int64_t first, end;           /* its entries of `work` */
  bool folds;                   /* the reductions of all its tiles are combined */
  ambit__relaxation relaxation; /* instead of the list, if the program relaxes */
} ambit__sleep_part;

typedef enum ambit__sleep_mode {
  SLEEP_OFF,   /* all tiles are computed, in the ordinary way */
  SLEEP_TRIAL, /* tiles may sleep; to find out whether it pays off */
  SLEEP_ON
} ambit__sleep_mode;

/* Memory of the sealed program, but for what `map` and chunks have. */
typedef struct ambit__sleep {
  ambit__sleep_mode mode;
  bool always; /* the option sleep is on */
  ambit__tile_worker worker;
  int period;    /* iterations after which rotations restore all buffers */
  int64_t trial; /* iteration of the next trial */
  int64_t pause; /* iterations from one trial to the next */
  int64_t since; /* iterations in the present mode */
  ambit__tile_map map;
  ambit__sleeper *steps;   /* by step; NULL: not made yet */
  int *slot;               /* by field: its buffer */
  int *cycle;              /* by field: the first field that it is rotated with; itself: none */
  ambit__buffer **buffers; /* by slot: the buffer of the first own part */
  uint64_t *changes;       /* by field: ambit_field.changes when ids were right */
  bool valid;              /* ids describe the buffers */
  bool checked;            /* ... and no user has changed them since */
  bool walking;            /* an iteration with sleeping tiles is in progress */
  uint64_t *ids;           /* by slot, tile and zone */
  uint64_t next;           /* the next id */
  int64_t *until;          /* by tile: the last iteration in which it may be awake */
  int32_t *list;           /* tiles that may be awake */
  bool *listed;            /* by tile: it is in the list */
  int64_t nlist;
  int32_t *far; /* tiles of other processes that tiles of this process read */
  int64_t nfar;
  ambit__sleep_part *parts;    /* by part of this process */
  ambit__tile *work;           /* tiles to run */
  int32_t *number;             /* by entry of `work`: its tile */
  bool *repeats;               /* by entry of `work`: its results are those of the last iteration */
  ambit__box *changed;         /* by entry of `work` and output */
  int most_out;                /* most outputs of a step */
  bool exact;                  /* no step overwrites results of another one: so is `still` */
  int *result;                 /* by field: at the end of an iteration it holds values of a step */
  uint64_t *ends;              /* by field and tile: ids at the end of the last iteration */
  bool still;                  /* the results of the last iteration were those of the one before */
  int64_t tiles, slept;        /* of this mode: launches on tiles asked for, and those left out */
  int64_t iterations;          /* with sleeping tiles, since the program was sealed */
  double all_tiles, all_slept; /* since the program was sealed */
  bool relaxes;                /* ambit_program_relax, and the program has the form */
  int in, out;                 /* of such a program: parameters of its only kernel step */
  bool rests;                  /* all cells that read no halo and no ghost cells are at rest */
  bool moved;                  /* some cell changed in this iteration */
  int64_t relaxed;             /* such iterations, since the program was sealed */
  double updates;              /* of cells in them */
} ambit__sleep;

/* ---- map.c ---- */

/* Sets p->sleep if tiles of the program can sleep. Collective. */
ambit_status ambit__sleep_plan(ambit_program *p);
ambit_status ambit__sleep_make(ambit_program *p); /* memory and functions, if there are none yet */
/* Sets result[f], 1 or 0: whether at the end of an iteration a field holds values of a step. */
void ambit__program_results(const ambit_program *p, int *result);
void ambit__sleep_free(ambit_program *p);

/* ---- ids.c ---- */

static inline uint64_t *ambit__sleep_ids(const ambit__sleep *z, int field, int64_t tile)
{
  return z->ids + ((int64_t)z->slot[field] * z->map.n + tile) * z->map.nzones;
}
/* Before the iterations of a stretch: finds the buffers of fields, and gives new ids to those that
 * were changed from outside. */
void ambit__sleep_refresh(ambit_program *p);
/* A step has stored new values in a tile, or moved values between its buffers. */
void ambit__sleep_touch(ambit_program *p, int64_t tile, bool changed);
void ambit__sleep_touch_all(ambit_program *p);
void ambit__sleep_settle(ambit_program *p); /* begin an iteration: drops tiles from the list */

/* ---- step.c ---- */

ambit_status ambit__sleep_step(ambit_program *p, const ambit__operation *op);

ambit__launch ambit__sleep_launch(const ambit_program *p, int step, const ambit__piece *piece);
/* Waits until the tiles given to all devices are done, also after a failure. Returns `s`, or if
 * that is AMBIT_OK, the first failure. */
ambit_status ambit__sleep_await(const ambit_program *p, ambit_status s);

/* ---- relax.c ---- */

/* Whether the program relaxes; sets its parameters. */
bool ambit__relax_plan(const ambit_program *p, ambit__sleep *z);
bool ambit__relax_is_on(const ambit_program *p); /* in this run */
void ambit__relax_begin(ambit_program *p);       /* before such an iteration */
ambit_status ambit__relax_step(ambit_program *p, const ambit__operation *op);
/* Updates of cells in all such iterations, of all processes. Collective. */
ambit_status ambit__relax_updates(ambit_program *p, double *updates, double *iterations);

/* ---- notes.c ---- */

extern const ambit__gate ambit__sleep_gate;
ambit_status ambit__sleep_make_notes(ambit_program *p);
void ambit__sleep_forget_notes(ambit_program *p); /* all messages are sent again */

/* ---- decide.c ---- */

/* Whether the next iteration is one with sleeping tiles; decides about trials. Collective. */
ambit_status ambit__sleep_turn(ambit_program *p, bool *sleeps);
/* Whether tiles sleep in every iteration, even if it does not pay off. */
bool ambit__sleep_is_forced(const ambit_program *p);
/* Iterations that may run as cycles before the next decision. */
int64_t ambit__sleep_pause(const ambit_program *p);
/* Tiles that could have been computed in such iterations, and those that slept; of all processes.
 * Collective. */
ambit_status ambit__sleep_share(ambit_program *p, double *tiles, double *slept);
void ambit__sleep_begin(ambit_program *p); /* before and after the walk of such an iteration */
void ambit__sleep_end(ambit_program *p);

#endif
