/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.h - programs that exchange nothing, to time computation alone. */
#ifndef AMBIT_TOOL_SILENCE_H
#define AMBIT_TOOL_SILENCE_H

#include "runtime/exchange/exchange.h"

/* What stands in for the exchanges of a program. */
typedef struct tool_silence {
  ambit__exchange *exchanges; /* by operation; owned */
  ambit__local_moves *local;  /* of all of them; owned */
} tool_silence;

/* Seals a program, and takes the halo exchange out of its iterations until it is sealed anew: no message, no copy between parts. Ghost
 * cells are still filled. Results are wrong then. A silence outlasts its program or the next seal. Collective. */
ambit_status tool_silence_begin(ambit_program *p, tool_silence *silence);
void tool_silence_end(tool_silence *silence); /* after the program was unsealed or destroyed */

#endif
