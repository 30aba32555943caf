/* SPDX-License-Identifier: BSD-3-Clause */
/* still.h - whether an iteration changed anything (ambit_run_until_still).
 *
 * An iteration is still if every value that its steps stored, as it is at the end, is the one at
 * the end of the iteration before, bit for bit. If fields are rotated, several such iterations in a
 * row are needed until all buffers hold the same. With sleeping tiles this is known (sleep/).
 * Elsewhere a copy of the values is kept on the device, and the next values are compared with it;
 * on the host, if the device cannot compare.
 */
#ifndef AMBIT_RUNTIME_RUN_STILL_H
#define AMBIT_RUNTIME_RUN_STILL_H

#include "runtime/program/program.h"

typedef struct ambit__still ambit__still;

ambit_status ambit__still_open(ambit_program *p, ambit__still **s);
void ambit__still_close(ambit__still *s); /* NULL does nothing */
/* Iterations before one with an answer that must be shown to ambit__still_check; with
 * sleeping tiles, more than any run has. */
int64_t ambit__still_needs(const ambit__still *s);
/* After an iteration. Only `last` asks for the answer. Collective with `last`. */
ambit_status ambit__still_check(ambit__still *s, bool last, bool *still);
/* After iterations that ambit__still_check has not seen. */
void ambit__still_skip(ambit__still *s);
/* Still iterations in a row so far; -1: unknown. And, at the start of the rest of a run, that there
 * were so many before, the last one with the values that fields have now. */
int ambit__still_found(const ambit__still *s);
ambit_status ambit__still_resume(ambit__still *s, int found);
/* After the cut has moved, with all values; the program was sealed `seals` times before. */
ambit_status ambit__still_recut(ambit__still *s, uint64_t seals);

#endif
