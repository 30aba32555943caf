/* SPDX-License-Identifier: BSD-3-Clause */
/* bounds.h - which constants the cells beside the runs of a sparse grid have, noted in the buffer
 * of a field. Components are first .. first + n - 1. */
#ifndef AMBIT_DEVICE_BOUNDS_H
#define AMBIT_DEVICE_BOUNDS_H

#include "device/device.h"

/* Makes the notes of a new buffer for a layout. Does nothing if that is NULL, or of a
 * dense grid. */
ambit_status ambit__bounds_begin(ambit__errors *errors, const ambit__layout *l, ambit__buffer *b);
/* Whether components have the constants of some boundaries; or none yet, but 0. */
bool ambit__bounds_are(const ambit__buffer *b, int first, int n, const ambit__boundaries *of);
bool ambit__bounds_are_new(const ambit__buffer *b, int first, int n);
void ambit__bounds_note(ambit__buffer *b, int first, int n, const ambit__boundaries *of);

#endif
