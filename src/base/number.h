/* SPDX-License-Identifier: BSD-3-Clause */
/* number.h - numbers as bits, and to and from text, independent of the program's locale.
 *
 * printf and strtod follow LC_NUMERIC: in a German locale 0.5 prints as "0,5" and "0.5" reads as 0.
 * Kernel text and files always use the decimal point.
 */
#ifndef AMBIT_BASE_NUMBER_H
#define AMBIT_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether two numbers have the same bits: 0 and -0 do not, and a NaN has those of itself. This is
 * the comparison of constants that may stand for each other. */
static inline bool ambit__number_same(double x, double y)
{
  const union {
    double x;
    uint64_t bits;
  } a = {x}, b = {y};

  return a.bits == b.bits;
}

enum { AMBIT__NUMBER_CHARS = 32 }; /* room for any finite number and its NUL */

/* The shortest decimal that reads back as exactly this float or double, with a point or an exponent
 * so that C parses it as a real number: "0.1", "1.0", "1e-07". x is finite. */
void ambit__number_print_float(char out[AMBIT__NUMBER_CHARS], float x);
void ambit__number_print_double(char out[AMBIT__NUMBER_CHARS], double x);
/* The same of any number, for messages: "0.1", "300", "nan", "-inf". */
void ambit__number_show(char out[AMBIT__NUMBER_CHARS], double x);

/* Reads one finite decimal number; `text` must contain nothing else. */
bool ambit__number_read(const char *text, double *out);
/* Reads the first number of a text with several, after spaces. Returns the text behind it; NULL if
 * there is no finite decimal number. */
const char *ambit__number_scan(const char *text, double *out);

#endif
