/* SPDX-License-Identifier: BSD-3-Clause */
/* colour.h - colour maps.
 *
 * Two maps, both perceptually uniform: equal steps of the value look like equal steps of lightness.
 *   dusk     night blue, violet, red, orange, pale yellow: dark is low, light is high
 *   tide     blue, white, red: for values of both signs, white is zero
 */
#ifndef AMBIT_IO_COLOUR_H
#define AMBIT_IO_COLOUR_H

typedef enum ambit__colour_map { AMBIT__DUSK, AMBIT__TIDE } ambit__colour_map;

enum { AMBIT__COLOURS = 1024 }; /* colours of a map */

typedef struct ambit__rgb {
  unsigned char r, g, b;
} ambit__rgb;

/* The colour of NaN: a grey that neither map contains. */
#define AMBIT__NO_COLOUR ((ambit__rgb){119, 119, 119})

void ambit__colour_table(ambit__colour_map map, ambit__rgb out[AMBIT__COLOURS]);

#endif
