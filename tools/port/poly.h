/* SPDX-License-Identifier: BSD-3-Clause */
/* poly.h - integers as polynomials in loop variables and values that a nest does not change.
 *
 * Subscripts and bounds are such polynomials; u[(k*ny + j)*nx + i] has the coefficients ny*nx, nx
 * and 1 of k, j and i, whatever the source calls them and in whatever order it multiplies.
 */
#ifndef AMBIT_PORT_POLY_H
#define AMBIT_PORT_POLY_H

#include "tree.h"

enum { POLY_TERMS = 24, POLY_DEGREE = 8 };

typedef struct term {
  int64_t factor; /* not 0 */
  int degree;
  int atoms[POLY_DEGREE]; /* sorted */
} term;

typedef struct poly {
  bool is_bad; /* not a polynomial, or too long a one */
  int n;
  term terms[POLY_TERMS]; /* sorted: higher degrees first */
} poly;

/* An atom is a variable, or an expression known by its text. */
int port_atom_of(const symbol *sym);
int port_atom_of_text(const char *text);
int port_atom_named(
    const char *name); /* the variable used last under this name, or an expression */
const symbol *port_atom_symbol(int atom); /* NULL: an expression */
const char *port_atom_text(int atom);

poly port_poly_number(int64_t x);
poly port_poly_atom(int atom);
poly port_poly_bad(void);
poly port_poly_add(poly a, poly b);
poly port_poly_sub(poly a, poly b);
poly port_poly_mul(poly a, poly b);
bool port_poly_equal(poly a, poly b);
bool port_poly_is_number(poly p, int64_t *x); /* x may be NULL */
bool port_poly_has(poly p, int atom);
/* p = c * atom + r, c and r free of the atom; false: it has a higher power. */
bool port_poly_split(poly p, int atom, poly *c, poly *r);
/* p = q * by + r, where r is as small as can be; q * by + r == p always holds. */
void port_poly_divide(poly p, poly by, poly *q, poly *r);
const char *port_poly_print(poly p); /* for messages */
const char *port_poly_code(poly p);  /* for programs: the same, 64 bits wide */

#endif
