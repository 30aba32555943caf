/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - streams: a program applied to one item after the other, by several lanes.
 *
 *   blueprint   everything that the programs of a stream use, with its values when a run starts
 *   replica     the programs made again, from the blueprint, in a context of their own
 *   worker      a thread with such a context; a lane has one worker or more
 *   pipeline        the items in flight: reader, workers, writer (pipeline.h)
 *   job         one run: the form of its items, and where they come from and go to
 */
#ifndef AMBIT_SKELETON_STREAM_H
#define AMBIT_SKELETON_STREAM_H

#include "ambit_stream.h"
#include "runtime/run/run.h"
#include "skeleton/pipeline.h"

#include <stdatomic.h>

struct ambit_stream {
  ambit_grid *grid;
  ambit__link link;
  ambit_program *program, *before; /* `before` may be NULL */
  ambit_field *in, *out;
  int64_t iterations;   /* the most, if there is a condition */
  ambit_scalar *scalar; /* of the condition; NULL: none */
  ambit_condition when;
  double bound;
  int64_t in_flight; /* 0: as many as the workers need */
  ambit_planes planes;
  int64_t items;    /* written by the last run */
  int64_t unmet;    /* items of the last run that ended without meeting the condition */
  atomic_bool stop; /* no more items are to be read */
  atomic_bool running;
  atomic_bool misused; /* its source or sink tried to destroy it */
  int in_fd, out_fd;   /* files: pipes in their place; 0: none */
};

/* ---- jobs ---- */

enum { AMBIT__PLANES = 4 };

/* The values of one run of the programs, within an item. */
typedef struct ambit__plane {
  int64_t extents[AMBIT_MAX_DIMS]; /* of the grid */
  size_t in, out;                  /* byte offsets of its values in the item, and in the result */
} ambit__plane;

/* The form of items. */
typedef struct ambit__form {
  int nplanes; /* of the first item, and of all if the job has no planes_of */
  ambit__plane planes[AMBIT__PLANES];
  bool samples; /* values are bytes, to be converted from and to the types of the fields */
  size_t in_bytes, out_bytes; /* of the largest item, and of its result */
} ambit__form;

typedef struct ambit__job {
  const char *noun; /* an item, in messages: "frame" */
  ambit__form form;
  ambit__pipeline_ends ends;
  /* Items differ: lists the planes of one, and returns their number. NULL: they are alike. Called
   * by workers of all processes. */
  int (*planes_of)(const void *user, const void *in, ambit__plane planes[AMBIT__PLANES]);
} ambit__job;

/* Raises an error if an object that the stream refers to is gone, or its programs cannot be
 * streamed. Call it first. */
ambit_status ambit__stream_check(const ambit_stream *s);
/* Collective: the same job on all processes; `ends` are used on process 0. */
ambit_status ambit__stream_run_job(ambit_stream *s, const ambit__job *job);

/* ---- blueprint.c ---- */

typedef struct ambit__blueprint {
  const ambit_stream *stream;
  ambit__arena memory; /* of all arrays */
  int nfields, nscalars, nkernels;
  ambit_field **fields;
  void **values;  /* by field: dense; NULL: it has none */
  bool *restored; /* by field: each item must find the values of the blueprint in it */
  ambit_scalar **scalars;
  unsigned char (*bytes)[8]; /* by scalar */
  const ambit_kernel **kernels;
} ambit__blueprint;

/* Collective. The blueprint must be freed after a failure too. */
ambit_status ambit__blueprint_make(const ambit_stream *s, ambit__blueprint *b);
void ambit__blueprint_free(ambit__blueprint *b);
/* Raises an error if the programs cannot be made on a grid of these extents. */
ambit_status ambit__blueprint_fits(const ambit__blueprint *b, ambit__errors *errors,
                                   const int64_t *extents);
/* Index in a list of the blueprint; -1: it is not there. */
int ambit__blueprint_find(void *const *list, int n, const void *object);

/* ---- replica.c ---- */

typedef struct ambit__replica {
  ambit__arena memory; /* of all arrays */
  const ambit__blueprint *blueprint;
  ambit_grid *grid; /* which has the fields and programs */
  ambit_program *program, *before;
  ambit_field *in, *out;
  ambit_scalar *scalar;
  ambit_field **fields;   /* by field of the blueprint */
  ambit_field **pristine; /* by field: the values to restore; NULL: none */
  ambit_scalar **scalars;
  ambit_kernel **kernels;
  void *scratch; /* room for the values of `in` or `out`, if they are not bytes */
} ambit__replica;

ambit_status ambit__replica_make(ambit *context, const ambit__blueprint *b, const int64_t *extents,
                                 bool samples, ambit__replica *r);
void ambit__replica_free(ambit__replica *r); /* also after a failure; not after its context */
/* One item, or one plane of it. *met becomes false if the condition of the stream was not met. */
ambit_status ambit__replica_run(ambit__replica *r, bool samples, const void *in, void *out,
                                bool *met);

/* ---- workers.c ---- */

/* A replica per size of planes, the one used last first. With too many sizes, those that were not
 * used for longest are made again when they are needed. */
enum { AMBIT__REPLICAS = 8 };

typedef struct ambit__worker {
  struct ambit__workers *all;
  int lane; /* from 0 */
  ambit *context;
  int n;
  ambit__replica replicas[AMBIT__REPLICAS];
} ambit__worker;

typedef struct ambit__workers {
  const ambit__blueprint *blueprint;
  const ambit__job *job;
  ambit__pipeline *pipeline;
  int n, nlanes;
  ambit__worker *list; /* owned */
  char **devices;      /* by lane; owned */
  size_t cap, lanes_cap;
  atomic_int unmet; /* items that did not meet the condition of the stream */
} ambit__workers;

/* Makes the workers of all lanes of this process. Must be freed after a failure too. */
ambit_status ambit__workers_make(const ambit__blueprint *b, const ambit__job *job,
                                 ambit__workers *w);
void ambit__workers_free(ambit__workers *w);
void *ambit__worker_main(void *worker); /* computes items of w->pipeline until there are no more */

/* ---- share.c: items for workers of other processes ---- */

/* While the threads of this process work: process 0 sends items to the others and receives results;
 * the others receive items for their own pipelines. Collective; returns when all items are done. */
ambit_status ambit__stream_share(const ambit_stream *s, ambit__workers *w);

#endif
