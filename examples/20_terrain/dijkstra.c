/* SPDX-License-Identifier: BSD-3-Clause */
/* dijkstra.c - Dijkstra's algorithm, to check the result: cells are finished in order of cost. */
#include "terrain.h"

#include <math.h>
#include <stdlib.h>

/* A binary heap of cells; a cell is added again whenever its cost falls. */
typedef struct entry {
  float cost;
  int64_t cell;
} entry;

typedef struct heap {
  entry *list;
  size_t n, cap;
} heap;

static int push(heap *h, float cost, int64_t cell)
{
  size_t i = h->n;

  if (h->n == h->cap) {
    entry *list = realloc(h->list, (2 * h->cap + 1024) * sizeof *list);

    if (!list) return -1;
    h->list = list;
    h->cap = 2 * h->cap + 1024;
  }
  for (h->n++; i > 0 && h->list[(i - 1) / 2].cost > cost; i = (i - 1) / 2)
    h->list[i] = h->list[(i - 1) / 2];
  h->list[i] = (entry){cost, cell};
  return 0;
}

static entry pop(heap *h)
{
  const entry first = h->list[0], last = h->list[--h->n];
  size_t i = 0, next;

  while ((next = 2 * i + 1) < h->n) {
    if (next + 1 < h->n && h->list[next + 1].cost < h->list[next].cost) next++;
    if (h->list[next].cost >= last.cost) break;
    h->list[i] = h->list[next];
    i = next;
  }
  h->list[i] = last;
  return first;
}

float *dijkstra(const map *m)
{
  const int64_t n = m->height * m->width;
  float *cost = malloc((size_t)n * sizeof *cost);
  heap h = {0};
  int failed = !cost;

  for (int64_t i = 0; cost && i < n; i++)
    cost[i] = INFINITY;
  if (cost) {
    cost[m->target] = 0;
    failed = push(&h, 0, m->target);
  }
  while (!failed && h.n) {
    const entry e = pop(&h);

    for (int k = 0; k < 8 && e.cost <= cost[e.cell]; k++) {
      int64_t to;
      const float length = map_step(m, e.cell, k, &to);

      if (length < 0 || !(e.cost + length < cost[to])) continue;
      cost[to] = e.cost + length;
      failed |= push(&h, cost[to], to);
    }
  }
  free(h.list);
  if (!failed) return cost;
  free(cost);
  return NULL;
}
