/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - parses the values of options. Each function takes the text of one value; on a mistake
 * it reports it and returns TOOL_USAGE.
 */
#ifndef AMBIT_TOOLS_VALUES_H
#define AMBIT_TOOLS_VALUES_H

#include "args.h"

enum { TOOL_NAME_CHARS = 241 }; /* a name of the kernel language, and its end */

typedef struct tool_size {
  int ndims; /* 0: not given */
  int64_t extents[AMBIT_MAX_DIMS];
} tool_size;

/* Boundaries: one for all axes, or one per axis. */
typedef struct tool_boundaries {
  int n;                                  /* 0: not given */
  ambit_boundary kind[AMBIT_MAX_DIMS][2]; /* of the low and the high face */
  double value[AMBIT_MAX_DIMS][2];        /* for constant */
} tool_boundaries;

/* k=0.2, from --set. */
typedef struct tool_setting {
  char name[TOOL_NAME_CHARS];
  double value;
} tool_setting;

/* residual<1e-6, from --until. */
typedef struct tool_until {
  const char *text;           /* as it was given; not copied */
  char name[TOOL_NAME_CHARS]; /* "": not given */
  ambit_condition when;
  double value;
} tool_until;

int tool_read_size(const tool_args *a, const char *text, tool_size *size);
int tool_read_type(const tool_args *a, const char *text, ambit_type *type);
int tool_read_boundaries(const tool_args *a, const char *text, tool_boundaries *b);
int tool_read_count(const tool_args *a, const char *text, int64_t least, int64_t most,
                    int64_t *count);
int tool_read_setting(const tool_args *a, const char *text, tool_setting *setting);
int tool_read_until(const tool_args *a, const char *text, tool_until *until);

/* Whether a word is the name of a type, or starts like a boundary; for problem lines. */
bool tool_is_type(const char *word);
bool tool_is_boundary(const char *word);

/* "64x64", for messages and results. */
enum { TOOL_SIZE_CHARS = 24 * AMBIT_MAX_DIMS };
void tool_print_size(const tool_size *size, char text[TOOL_SIZE_CHARS]);

#endif
