/* SPDX-License-Identifier: BSD-3-Clause */
/* sight.h - what of a program is shown: the scene has all that could be, the sight says which.
 *
 * A picture has rows and columns: the last two axes of the grid, or the last two other than `axis`
 * if there are more. All others are at one index, their plane; along `axis` the maximum can be
 * taken. Part of the plane is shown, from cell lo to hi. A sight is plain data: process 0 sends it
 * to the others.
 */
#ifndef AMBIT_VIEW_SIGHT_H
#define AMBIT_VIEW_SIGHT_H

#include "runtime/observe/viewing.h"
#include "runtime/run/run.h"

enum { AMBIT__SCENE_FIELDS = 64, AMBIT__SCENE_SCALARS = 8, AMBIT__SCENE_NAME = 48 };

typedef struct ambit__scene_field {
  ambit_field *field;
  char name[AMBIT__SCENE_NAME]; /* longer ones are cut */
  int components;
  bool whole; /* its values are whole numbers */
} ambit__scene_field;

/* Of a program that runs. */
typedef struct ambit__scene {
  int64_t number; /* 1, 2, ...: another one has another number */
  int ndims;
  int64_t extents[AMBIT_MAX_DIMS];
  int nfields, nscalars;
  int result; /* the field to show at first */
  ambit__scene_field fields[AMBIT__SCENE_FIELDS];
  ambit_scalar *scalars[AMBIT__SCENE_SCALARS];
  char scalar_names[AMBIT__SCENE_SCALARS][AMBIT__SCENE_NAME];
} ambit__scene;

typedef struct ambit__sight {
  int field, component; /* AMBIT__VIEW_NORM: the norm of all components */
  int axis;             /* the one that planes are taken along; -1: the grid has fewer than 3 */
  bool most;            /* the maximum along it */
  int64_t plane[AMBIT_MAX_DIMS];
  int64_t lo[2], hi[2]; /* cells that are shown: of rows, and of columns */
} ambit__sight;

/* The fields and scalars of a sealed program. */
void ambit__scene_make(const ambit_program *p, ambit__scene *s);

/* The axes of rows and columns; of rows -1: a 1-D grid has one. */
int ambit__sight_rows(const ambit__scene *s, const ambit__sight *x);
int ambit__sight_columns(const ambit__scene *s, const ambit__sight *x);
int64_t ambit__scene_extent(const ambit__scene *s, int axis); /* 1 for -1 */

/* All of a field, in the middle plane. */
ambit__sight ambit__sight_first(const ambit__scene *s);
/* As the option says. False: there is no such field, component or plane; `why` says so. */
bool ambit__sight_ask(const ambit__scene *s, const ambit__viewing *v, ambit__sight *x, char *why,
                      size_t size);
/* Makes one of another scene fit, by the names of fields. */
void ambit__sight_adapt(const ambit__scene *from, const ambit__scene *to, ambit__sight *x);

void ambit__sight_whole(const ambit__scene *s, ambit__sight *x);
/* Goes to field or component number `by` from this one, around the ends; a field of several
 * components has its norm after the last one. */
void ambit__sight_next_field(const ambit__scene *s, ambit__sight *x, int by);
void ambit__sight_next_component(const ambit__scene *s, ambit__sight *x, int by);
void ambit__sight_next_axis(const ambit__scene *s, ambit__sight *x);
void ambit__sight_move_plane(const ambit__scene *s, ambit__sight *x, int64_t by);
/* Shows 1/factor of the cells along each axis, around the point at these fractions of the picture.
 * Never fewer than 8 of them, or than there are. */
void ambit__sight_zoom(const ambit__scene *s, ambit__sight *x, double factor, double row,
                       double column);
/* Moves by fractions of the picture. */
void ambit__sight_pan(const ambit__scene *s, ambit__sight *x, double rows, double columns);

/* "u", "u[1]", "|u|", "u[1] z=40", "max of u along z" */
void ambit__sight_print(const ambit__scene *s, const ambit__sight *x, char *text, size_t size);
char ambit__axis_name(int ndims, int axis); /* z, y, x of 3 dimensions; else digits */

#endif
