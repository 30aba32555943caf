/* SPDX-License-Identifier: BSD-3-Clause */
/* viewing.h - the words of the option view: where a run is shown, and what of it at first.
 *
 *   terminal, http, http:8080, http:/run/user/1000/heat.sock   where; in the terminal also how:
 *     kitty, sixel, blocks, 256, 16, ascii
 *   u, u:2, u:norm, speed     a field, a component of it, the norm of its components; of the first
 *                             field that has several
 *   z=40, z=max               a plane of a 3-D field; the maximum along an axis: z, y, x, a number
 *   colours=viridis, range=0:1, relief, paused
 *
 * Words are separated by commas. Only the syntax is checked here: fields and colours are looked up
 * by view/.
 */
#ifndef AMBIT_RUNTIME_OBSERVE_VIEWING_H
#define AMBIT_RUNTIME_OBSERVE_VIEWING_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  AMBIT__VIEWING_NAME = 64,  /* characters of names */
  AMBIT__VIEWING_PATH = 100, /* of a Unix socket, which are limited to 108 */
  AMBIT__VIEW_FIRST = 0,     /* component */
  AMBIT__VIEW_NORM = -1,
};

/* How a terminal shows pictures. */
typedef enum ambit__screen {
  AMBIT__SCREEN_AUTO,
  AMBIT__SCREEN_KITTY,
  AMBIT__SCREEN_SIXEL,
  AMBIT__SCREEN_BLOCKS, /* in 24-bit colour */
  AMBIT__SCREEN_256,
  AMBIT__SCREEN_16,
  AMBIT__SCREEN_ASCII
} ambit__screen;

typedef struct ambit__viewing {
  bool is_on;
  bool http;                      /* in the browser, else in the terminal */
  int port;                       /* 0: any that is free */
  char path[AMBIT__VIEWING_PATH]; /* of a Unix socket; "": TCP */
  ambit__screen screen;
  char field[AMBIT__VIEWING_NAME];   /* "": the program's first result */
  bool speed;                        /* the first field that has several components */
  int component;                     /* AMBIT__VIEW_NORM: the norm */
  int axis;                          /* of the plane; -1: the first */
  bool most;                         /* the maximum along the axis */
  int64_t plane;                     /* -1: the middle */
  char colours[AMBIT__VIEWING_NAME]; /* "": by the values */
  double lo, hi;                     /* of a fixed range, if lo < hi */
  bool relief, paused;
} ambit__viewing;

/* Raises AMBIT_EOPTION unless the text has this form. "", "0", "off" and "no": nothing is shown;
 * "1", "on" and "yes": the defaults. */
ambit_status ambit__viewing_parse(ambit__errors *errors, const char *text, ambit__viewing *v);

#endif
