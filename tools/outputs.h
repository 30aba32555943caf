/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.h - the files of --output: at the end of a run, or with --every while it runs. */
#ifndef AMBIT_TOOLS_OUTPUTS_H
#define AMBIT_TOOLS_OUTPUTS_H

#include "ffmpeg.h"
#include "problem.h"

enum { TOOL_OUTPUTS = 16 };

typedef struct tool_outputs {
  int n;
  const char *paths[TOOL_OUTPUTS];
  tool_ffmpeg films[TOOL_OUTPUTS]; /* of those that ffmpeg writes */
  char pipes[TOOL_OUTPUTS][32];    /* the paths of its pipes; "": none */
  int64_t every;                   /* iterations; 0: at the end */
  ambit_picture picture;
  bool has_picture;  /* an option says how to draw */
  const char *field; /* "u" or "u[1]"; NULL: component 0 of the field that is read */
  bool is_out;       /* it is the field that is written */
} tool_outputs;

/* The ids are reserved, as those of problem.h. */
enum {
  OPT_OUTPUT = 1100,
  OPT_EVERY,
  OPT_RANGE,
  OPT_COLOURS,
  OPT_SLICE,
  OPT_FIELD,
  OPT_RELIEF,
  OPT_RATE
};
#define TOOL_OPTIONS_OUTPUT                                                                        \
  {OPT_OUTPUT, 'o', "output", "FILE",                                                              \
   "write the result as .npy, .h5, .vtkhdf (ParaView), or .png\n(a picture); may be repeated"},    \
      {OPT_EVERY, 0, "every", "N",                                                                 \
       "write outputs every N iterations: numbered files, as in\nout_%06d.vtkhdf or "              \
       "frame_%05d.png, or a film: .y4m, or .mp4 and\nothers through ffmpeg"},                     \
      {OPT_RANGE, 0, "range", "LO:HI", "the values of the first and the last colour of pictures"}, \
      {OPT_COLOURS, 0, "colours", "NAME",                                                          \
       "dusk, tide (blue, white, red), viridis, magma, inferno,\nplasma, cividis, orbit "          \
       "(cyclic), grey"},                                                                          \
      {OPT_SLICE, 0, "slice", "z=N", "the plane of 3-D fields in pictures: z=40, y=0, x=7"},       \
      {OPT_RELIEF, 0, "relief", NULL, "shade pictures as landscapes of the values"},               \
      {OPT_FIELD, 0, "field", "NAME", "the field to write: u; in pictures a component: u[2]"},     \
  {                                                                                                \
    OPT_RATE, 0, "rate", "N", "frames per second of films (default: 25)"                           \
  }

/* Whether an id is one of these; takes the option. */
bool tool_is_output_option(int id);
int tool_outputs_option(const tool_args *args, int id, const char *value, tool_outputs *o);
/* Checks that everything can be written, before memory is allocated: it is too late to tell when it
 * is computed. Process 0 begins all files. */
int tool_outputs_try(ambit *a, const tool_args *args, tool_outputs *o, const tool_problem *p);
/* Before and after a run. Call the second after failures too. */
ambit_status tool_outputs_begin(ambit *a, tool_outputs *o, const tool_job *job);
ambit_status tool_outputs_end(ambit *a, tool_outputs *o, const tool_job *job);

#endif
