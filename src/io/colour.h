/* SPDX-License-Identifier: BSD-3-Clause */
/* colour.h - colour maps.
 *
 * All are perceptually uniform: equal steps of the value look like equal steps of lightness.
 *   dusk     night blue, violet, red, orange, pale yellow: dark is low, light is high
 *   tide     blue, white, red: for values of both signs, white is zero
 *   viridis  violet, blue, green, yellow: that of Matplotlib
 */
#ifndef AMBIT_IO_COLOUR_H
#define AMBIT_IO_COLOUR_H

#include <stdbool.h>

typedef enum ambit__colour_map { AMBIT__DUSK, AMBIT__TIDE, AMBIT__VIRIDIS } ambit__colour_map;

enum { AMBIT__COLOURS = 1024 }; /* colours of a map */

typedef struct ambit__rgb {
  unsigned char r, g, b;
} ambit__rgb;

/* The colour of NaN: a grey that no map contains. */
#define AMBIT__NO_COLOUR ((ambit__rgb){119, 119, 119})

/* The map of this name; false: there is none. */
bool ambit__colour_find(const char *name, ambit__colour_map *map);
void ambit__colour_table(ambit__colour_map map, ambit__rgb out[AMBIT__COLOURS]);

#endif
