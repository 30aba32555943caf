/* SPDX-License-Identifier: BSD-3-Clause */
/* storage.h - what a step of a program moves in each storage of a sparse grid (grid/active.h), to
 * choose one: a model of bytes per active cell, on cores and on GPUs.
 *
 * A cell moves its values. Memory comes in lines, of which some cells may be inactive, and a table
 * tells where cells are. A GPU that writes part of a sector, 32 bytes, reads it before.
 */
#ifndef AMBIT_GRID_STORAGE_H
#define AMBIT_GRID_STORAGE_H

#include "grid/chunks.h"

enum { AMBIT__STORAGES = STORAGE_LIST + 1 };

/* On cores, or on a GPU. */
typedef enum ambit__site { SITE_CORES, SITE_GPU, AMBIT__SITES } ambit__site;

/* What the storage of a step takes, per active cell. */
typedef struct ambit__toll {
  double cells;               /* of memory, active or not */
  double lines[AMBIT__SITES]; /* cells in lines of memory that have an active one */
  double partial;             /* sectors of active cells that have others too */
  double ragged;              /* cells of runs that do not begin and end with sectors */
  size_t size;                /* of a value */
  double table[AMBIT__SITES]; /* bytes of a step's table */
  double unread;              /* of these, on a GPU */
  double chunks;
  int tests; /* activities that a cell beside an inactive one reads */
} ambit__toll;

/* "runs", "list" */
const char *ambit__storage_name(ambit__storage storage);

/* For `a`, whose storage is the one in question, and the rows that a step reads, whose values are
 * so many bytes per cell. If chunks is 0, their number is estimated. `size` is that of a value in
 * bytes. */
ambit__toll ambit__storage_toll(const ambit__active *a, const ambit__chunk_form *form, size_t size,
                                double bytes, int64_t chunks);
/* Bytes moved per active cell by a step whose values are so many bytes, some of them written. */
double ambit__storage_moves(const ambit__toll *toll, ambit__site site, double bytes,
                            double written);
/* The same, with the time that chunks take besides, in bytes that could be moved meanwhile. */
double ambit__storage_costs(const ambit__toll *toll, ambit__site site, double bytes,
                            double written);
/* The best storage, of costs by storage: runs, unless a list is clearly cheaper. */
ambit__storage ambit__storage_best(const double *costs);

/* The storage of fields until a program chooses one, of the cells that runs take in memory and the
 * active ones: a list, if runs take much more, so that memory for them is never taken in vain. */
ambit__storage ambit__storage_first(double runs, double active);
/* The most memory, in cells, that `fields` of them take at a time: they are stored anew one after
 * the other. `cells` is by storage. */
double ambit__storage_peak(ambit__storage to, const double *cells, int fields);

#endif
