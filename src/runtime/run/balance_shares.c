/* SPDX-License-Identifier: BSD-3-Clause */
/* balance_shares.c - from the speed of devices to the weights of their parts. */
#include "runtime/run/balance.h"

static double sum(const double *x, int n)
{
  double total = 0;

  for (int i = 0; i < n; i++)
    total += x[i];
  return total;
}

/* The slowest of several parts with a weight; -1: there is only one. */
static int slowest(const double *weights, int n)
{
  int least = -1, count = 0;

  for (int i = 0; i < n; i++) {
    if (weights[i] <= 0) continue;
    count++;
    if (least < 0 || weights[i] < weights[least]) least = i;
  }
  return count > 1 ? least : -1;
}

double ambit__shares_choose(const double *rates, int n, double least, double *weights)
{
  double most = 0;

  for (int i = 0; i < n; i++)
    weights[i] = rates[i];
  for (;;) {
    const int i = slowest(weights, n);
    const double gain = i < 0 ? 0 : weights[i] / (sum(weights, n) - weights[i]);

    if (i < 0 || gain >= least) return most;
    if (gain > most) most = gain;
    weights[i] = 0;
  }
}

double ambit__shares_time(const double *rates, int n, const double *cells)
{
  double longest = 0;

  for (int i = 0; i < n; i++)
    if (cells[i] > 0 && rates[i] > 0 && cells[i] / rates[i] > longest)
      longest = cells[i] / rates[i];
  return longest;
}

double ambit__shares_ideal(const double *rates, int n, const double *weights, double cells)
{
  double together = 0;

  for (int i = 0; i < n; i++)
    if (weights[i] > 0) together += rates[i];
  return together > 0 ? cells / together : 0;
}
