/* SPDX-License-Identifier: BSD-3-Clause */
/* colour.h - colour maps, of pictures, films and the live view.
 *
 * All are perceptually uniform: equal steps of the value look like equal steps of lightness, so
 * they can be read in grey print and with any colour vision.
 *   dusk     night blue, violet, red, orange, pale yellow: dark is low, light is high
 *   tide     blue, white, red: for values of both signs, white is zero
 *   viridis  violet, blue, green, yellow; magma, inferno, plasma, cividis: those of Matplotlib
 *   orbit    white, blue, black, red, white: cyclic, for angles and phases
 *   grey     black to white
 */
#ifndef AMBIT_IO_COLOUR_H
#define AMBIT_IO_COLOUR_H

#include <stdbool.h>

typedef enum ambit__colour_map {
  AMBIT__DUSK,
  AMBIT__TIDE,
  AMBIT__VIRIDIS,
  AMBIT__MAGMA,
  AMBIT__INFERNO,
  AMBIT__PLASMA,
  AMBIT__CIVIDIS,
  AMBIT__ORBIT,
  AMBIT__GREY
} ambit__colour_map;

enum {
  AMBIT__COLOUR_MAPS = AMBIT__GREY + 1,
  AMBIT__COLOURS = 1024 /* colours of a map */
};

typedef struct ambit__rgb {
  unsigned char r, g, b;
} ambit__rgb;

/* The colour of NaN: a grey that no map contains. */
#define AMBIT__NO_COLOUR ((ambit__rgb){119, 119, 119})

/* All names, for messages. */
#define AMBIT__COLOUR_NAMES "dusk, tide, viridis, magma, inferno, plasma, cividis, orbit or grey"
const char *ambit__colour_name(ambit__colour_map map);
/* The map of this name; false: there is none. */
bool ambit__colour_find(const char *name, ambit__colour_map *map);
void ambit__colour_table(ambit__colour_map map, ambit__rgb out[AMBIT__COLOURS]);

#endif
