/* SPDX-License-Identifier: BSD-3-Clause */
/* answers.h - what the page gets: descriptions in JSON, and pictures.
 *
 * A picture is a line of JSON, of an even length with its \n, and then the values, row by row: 16
 * bits each, little endian, from 0 for `lo` to 65534 for `hi`; 65535 is no value. Whole numbers
 * within 65534 of each other are exact: hi is lo + 65534 then.
 */
#ifndef AMBIT_VIEW_ANSWERS_H
#define AMBIT_VIEW_ANSWERS_H

#include "view/viewer.h"

/* All under the lock of the viewer. */
void ambit__answer_scene(const ambit__viewer *v, ambit__text *out);
void ambit__answer_frame(const ambit__viewer *v, bool controls, ambit__text *out);

#endif
