/* SPDX-License-Identifier: BSD-3-Clause */
/* silence.h - programs that exchange nothing, to time computation alone. */
#ifndef AMBIT_TOOL_SILENCE_H
#define AMBIT_TOOL_SILENCE_H

#include "runtime/exchange/exchange.h"

/* The replacements for the exchanges of a program. */
typedef struct tool_silence {
  ambit__exchange *exchanges; /* by operation; owned */
} tool_silence;

/* Seals a program and removes the halo exchange from its iterations: no messages, and no copies
 * between parts. Ghost cells are still filled. Results are wrong until the program is sealed anew,
 * and the silence must not end before that. Collective. */
ambit_status tool_silence_begin(ambit_program *p, tool_silence *silence);
void tool_silence_end(tool_silence *silence); /* after the program was unsealed or destroyed */

#endif
