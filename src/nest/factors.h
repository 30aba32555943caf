/* SPDX-License-Identifier: BSD-3-Clause */
/* factors.h - weighted sums with fewer operations: neighbouring cells share partial sums.
 *
 * The offsets of a box are cut into slices across an axis. Values that have the same weights in all
 * slices are added first: their sum is a group. Slices with proportional weights are multiples of
 * one sum of groups, a profile. On cores the axis is the last one: the profiles of all cells of a
 * row are computed first, then the sum of the slices, from the profiles of neighbours. On GPUs
 * slices are planes, which arrive one by one: the profiles of a plane are added to the results that
 * it belongs to. The symmetric sum of 27 values:
 *
 *      slices -1 and 1, one profile      slice 0
 *      d c d                             c b c      groups: the middle; 4 faces; 4 corners:
 *      c b c                             b a b      6 additions; 3 multiply-adds for each of two
 *      d c d                             c b c      profiles, and 2 additions: 14 instead of 27
 *
 * Weights that all cells share (kernel/linear.c) have numbers that stand for them: different
 * weights have different ones.
 *
 * The order of the terms differs from the user's, so strict mode does not use this.
 */
#ifndef AMBIT_NEST_FACTORS_H
#define AMBIT_NEST_FACTORS_H

#include "kernel/kernel.h"

typedef struct ambit__factor_slice {
  int at;        /* offset along the axis */
  int profile;   /* its weights are those of a profile ... */
  double factor; /* ... times this */
} ambit__factor_slice;

typedef struct ambit__factors {
  const ambit__tap *taps; /* of the sum; ntaps of them */
  int ntaps;
  bool shared; /* some weights have factors: profiles differ by no number but -1 */
  int axis;
  int nplaces; /* distinct offsets across the axis, along which they are 0 */
  int (*places)[AMBIT_MAX_DIMS];
  int *group; /* of each place */
  int ngroups, nprofiles, nslices;
  double *weights;             /* of group g in profile p: [p * ngroups + g]; 0: not in it */
  ambit__factor_slice *slices; /* ascending */
} ambit__factors;

/* The factors of a weighted sum, whose taps must stay. false: no memory. Release with
 * ambit__factors_end, also then. */
bool ambit__factors_begin(ambit__factors *f, const ambit__tap *taps, int ntaps, int axis);
void ambit__factors_end(ambit__factors *f);
/* The weight that a number of `weights` stands for. */
ambit__tap ambit__factors_weight(const ambit__factors *f, double number);
/* Whether all slices read the same places: profiles may be computed beside the ends of rows. */
bool ambit__factors_is_box(const ambit__factors *f);
/* Additions and multiply-adds per cell. */
int ambit__factors_operations(const ambit__factors *f);
/* Whether a sum of n terms takes at most 3/5 of the operations if it is factored. */
bool ambit__factors_save(const ambit__factors *f, int n);

#endif
