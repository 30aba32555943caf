/* SPDX-License-Identifier: BSD-3-Clause */
/* terrain.h - the parts of the example: a check of the result, and a picture of it. */
#ifndef TERRAIN_H
#define TERRAIN_H

#include <stdint.h>

/* Elevations and costs, row by row from the north; everything in metres. Walls are infinitely
 * high; cells that cannot be reached cost infinitely much. */
typedef struct map {
  int64_t height, width;
  float dy, dx; /* between rows, and between columns */
  float *z, *cost;
  int64_t target; /* cell to go to */
} map;

/* The length of the way from a cell to one of its eight neighbours, k = 0 to 7, or -1: there is
 * none. *to: that neighbour. */
float map_step(const map *m, int64_t cell, int k, int64_t *to);

/* dijkstra.c: costs by Dijkstra's algorithm, with a heap; to free(). NULL: out of memory. */
float *dijkstra(const map *m);

/* picture.c: writes the relief, lit from the north-west and coloured by cost, with the shortest way
 * from a cell to the target. Returns 0 on success. */
int draw(const map *m, int64_t start, const char *path);

#endif
