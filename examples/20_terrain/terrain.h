/* SPDX-License-Identifier: BSD-3-Clause */
/* terrain.h - parts of the example: the command line, a check of the result, its picture. */
#ifndef TERRAIN_H
#define TERRAIN_H

#include <stdint.h>

typedef struct place {
  int64_t row, column; /* -1: not given */
} place;

typedef struct request {
  const char *file, *cost, *picture; /* NULL: none */
  int64_t size, width;               /* of a made terrain; width 0: a square */
  place target, from;
  double latitude; /* NaN: not given */
  int check;
} request;

/* request.c: reads the command line. Returns -1: go on; else the program ends with this status. */
int read_request(int argc, char **argv, request *r);

/* Elevations and costs, row by row from the north; lengths in metres. Walls are infinitely high, or
 * cost infinitely much; so do cells that cannot be reached. */
typedef struct map {
  int64_t height, width;
  float dy, *dx;          /* between rows; between columns, for each row: meridians converge */
  float *z, *rate, *cost; /* rate: what a metre costs */
  int64_t target;         /* cell to go to */
} map;

/* The cost of the way from a cell to one of its eight neighbours, k = 0 to 7, or -1: there is
 * none. *to: that neighbour. */
float map_step(const map *m, int64_t cell, int k, int64_t *to);

/* dijkstra.c: costs by Dijkstra's algorithm, with a heap; to free(). NULL: out of memory. */
float *dijkstra(const map *m);

/* picture.c: writes the relief, lit from the north-west and coloured by cost, with the shortest way
 * from a cell to the target. Returns 0 on success. */
int draw(const map *m, int64_t start, const char *path);

#endif
