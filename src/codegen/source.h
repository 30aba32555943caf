/* SPDX-License-Identifier: BSD-3-Clause */
/* source.h - generated source as a name of its code: comments with places in the user's text do
 * not count.
 *
 * A kernel that moves to another line, or to another file, is the same code. Its source differs in
 * these comments alone, which are for people who read it. So what compilers make of it is found by
 * the rest.
 */
#ifndef AMBIT_CODEGEN_SOURCE_H
#define AMBIT_CODEGEN_SOURCE_H

#include "base/hash.h"
#include "codegen/writer.h"

#include <stdbool.h>

/* A line with a comment about a place, "file:line". Characters that could end or break it are
 * replaced. */
void ambit__source_place(ambit__writer *w, const char *file, int line);
/* The following leave out such lines. */
void ambit__source_hash(ambit__hash *h, const char *source);
bool ambit__source_equal(const char *a, const char *b);
void ambit__source_print(ambit__text *t, const char *source);

#endif
