/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GRID_H
#define GRID_H

enum { NX = 40, NY = 30 };

typedef struct grid {
  int nx, ny;
  double *u, *v;
} grid;

extern double table[NY][NX];

void step(grid *g, double k);
double largest(const grid *g);
double flux(double a, double b);
void set_scale(double x);
void smooth(double *u, int n);

#endif
