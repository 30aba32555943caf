/* SPDX-License-Identifier: BSD-3-Clause */
#include "nest/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEARLY 1e-14 /* relative difference of weights that are proportional */

/* ---- slices, places and their weights ---- */

/* The number that stands for a weight: no sum, product or quotient of two is a third one. */
static double number_of(const ambit__tap *tap)
{
  const ambit__expr *e = tap->factor;

  return e ? tap->weight * exp(1 / (3.7 + e->index) + (e->op == EXPR_LOCAL)) : tap->weight;
}

ambit__tap ambit__factors_weight(const ambit__factors *f, double number)
{
  ambit__tap w = {.weight = number};

  for (int k = 0; f->shared && k < f->ntaps; k++) {
    if (fabs(number) != fabs(number_of(&f->taps[k]))) continue;
    w = f->taps[k];
    if (number != number_of(&f->taps[k])) w.weight = -w.weight;
    break;
  }
  return w;
}

static int place_of(const ambit__factors *f, const ambit__tap *tap)
{
  int offset[AMBIT_MAX_DIMS], i = 0;

  memcpy(offset, tap->offset, sizeof offset);
  offset[f->axis] = 0;
  while (i < f->nplaces && memcmp(f->places[i], offset, sizeof offset))
    i++;
  return i;
}

static int slice_of(const ambit__factors *f, const ambit__tap *tap)
{
  int i = 0;

  while (i < f->nslices && f->slices[i].at != tap->offset[f->axis])
    i++;
  return i;
}

static void collect(ambit__factors *f, const ambit__tap *taps, int ntaps)
{
  for (int k = 0; k < ntaps; k++) {
    const int place = place_of(f, &taps[k]);
    int i;

    if (place == f->nplaces) {
      memcpy(f->places[place], taps[k].offset, sizeof f->places[place]);
      f->places[f->nplaces++][f->axis] = 0;
    }
    if (slice_of(f, &taps[k]) < f->nslices) continue;
    for (i = f->nslices++; i > 0 && f->slices[i - 1].at > taps[k].offset[f->axis]; i--)
      f->slices[i] = f->slices[i - 1];
    f->slices[i] = (ambit__factor_slice){.at = taps[k].offset[f->axis]};
  }
}

/* ---- groups: places with the same weights in all slices ---- */

static bool same_weights(const ambit__factors *f, const double *all, int a, int b)
{
  for (int s = 0; s < f->nslices; s++)
    if (all[s * f->nplaces + a] != all[s * f->nplaces + b]) return false;
  return true;
}

static void find_groups(ambit__factors *f, const double *all)
{
  for (int i = 0; i < f->nplaces; i++) {
    int k = 0;

    while (k < i && !same_weights(f, all, k, i))
      k++;
    f->group[i] = k < i ? f->group[k] : f->ngroups++;
  }
}

/* ---- profiles: weights of groups in a slice, but for a factor ---- */

/* The factor between the weights of two slices; 0: they are not proportional. */
static double factor_between(const double *of, const double *to, int n)
{
  double factor = 0;

  for (int i = 0; i < n; i++)
    if (fabs(to[i]) > 0 && fabs(of[i]) > 0 && factor == 0) factor = of[i] / to[i];
  for (int i = 0; i < n; i++)
    if (fabs(of[i] - factor * to[i]) > NEARLY * fabs(of[i])) return 0;
  return factor;
}

static void find_profiles(ambit__factors *f, const double *all, double *row)
{
  for (int s = 0; s < f->nslices; s++) {
    double factor = 0;
    int p = 0;

    for (int i = 0; i < f->nplaces; i++)
      row[f->group[i]] = all[s * f->nplaces + i];
    for (p = 0; p < f->nprofiles && factor == 0; p++) {
      factor = factor_between(row, f->weights + p * f->ngroups, f->ngroups);
      if (f->shared && fabs(factor) != 1) factor = 0;
    }
    if (factor == 0) {
      memcpy(f->weights + f->nprofiles++ * f->ngroups, row, (size_t)f->ngroups * sizeof *row);
      p = f->nprofiles;
      factor = 1;
    }
    f->slices[s].profile = p - 1;
    f->slices[s].factor = factor;
  }
}

/* The weights of all slices, of each place of a slice: [slice * nplaces + place]. */
static double *list_weights(const ambit__factors *f, const ambit__tap *taps, int ntaps)
{
  double *all = calloc((size_t)f->nslices * (size_t)f->nplaces + 1, sizeof *all);

  for (int k = 0; all && k < ntaps; k++)
    all[slice_of(f, &taps[k]) * f->nplaces + place_of(f, &taps[k])] = number_of(&taps[k]);
  return all;
}

bool ambit__factors_begin(ambit__factors *f, const ambit__tap *taps, int ntaps, int axis)
{
  const size_t n = (size_t)ntaps + 1;
  double *all, *row;

  *f = (ambit__factors){.taps = taps,
                        .ntaps = ntaps,
                        .shared = !ambit__taps_are_numbers(taps, ntaps),
                        .axis = axis,
                        .places = calloc(n, sizeof *f->places),
                        .group = calloc(n, sizeof *f->group),
                        .slices = calloc(n, sizeof *f->slices)};
  if (!f->places || !f->group || !f->slices) return false;
  collect(f, taps, ntaps);
  f->weights = calloc((size_t)f->nslices * (size_t)f->nplaces + 1, sizeof *f->weights);
  all = list_weights(f, taps, ntaps);
  row = calloc(n, sizeof *row);
  if (f->weights && all && row) {
    find_groups(f, all);
    find_profiles(f, all, row);
  }
  free(all);
  free(row);
  return f->nprofiles > 0;
}

void ambit__factors_end(ambit__factors *f)
{
  free(f->places);
  free(f->group);
  free(f->slices);
  free(f->weights);
  *f = (ambit__factors){0};
}

/* ---- properties ---- */

bool ambit__factors_is_box(const ambit__factors *f)
{
  for (int i = 0; i < f->nprofiles * f->ngroups; i++)
    if (!(fabs(f->weights[i]) > 0)) return false;
  return f->nplaces > 0;
}

int ambit__factors_operations(const ambit__factors *f)
{
  return f->nplaces - f->ngroups + f->nprofiles * f->ngroups + f->nslices - 1;
}

bool ambit__factors_save(const ambit__factors *f, int n)
{
  return 5 * ambit__factors_operations(f) <= 3 * n;
}
