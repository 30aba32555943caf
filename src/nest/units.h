/* SPDX-License-Identifier: BSD-3-Clause */
/* units.h - shared by the files of the builder `units`: units.c has the loop and units of several
 * cells, units_cell.c units of one cell. */
#ifndef AMBIT_NEST_UNITS_H
#define AMBIT_NEST_UNITS_H

#include "nest/nest.h"

/* Pointers to the cell at `at`, or the first one of a unit. */
void ambit__units_let_pointers(ambit__nest *n);
/* The distances to columns for fields whose cells are apart. */
void ambit__units_let_apart(ambit__nest *n);
/* The place of a unit of one row: pointers, the bits of its cells, columns, indices. */
void ambit__units_let_place(ambit__nest *n);
/* Whether units are single cells with words in the table of cells. */
bool ambit__units_have_words(const ambit__nest *n);
/* The place and the code of a unit of one cell. */
void ambit__units_add_cell(ambit__nest *n);

#endif
