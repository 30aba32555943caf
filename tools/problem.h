/* SPDX-License-Identifier: BSD-3-Clause */
/* problem.h - a stencil with its type, size and boundaries; shared by run, explain, gen and bench.
 *
 * A problem is filled in by options and then loaded: its kernel is found and checked, and missing
 * options get their defaults. A job is a problem that can run: fields with values, and a program.
 */
#ifndef AMBIT_TOOLS_PROBLEM_H
#define AMBIT_TOOLS_PROBLEM_H

#include "kernel/kernel.h"
#include "values.h"

typedef struct tool_problem {
  const char *what;           /* a name of the catalogue, or a file */
  bool is_typed;              /* `type` was given */
  ambit_type type;            /* of the fields; valid once loaded */
  tool_size size;             /* of the grid */
  ambit_grid *sparse;         /* the grid, if a mask gives it; NULL: a dense one of that size */
  tool_boundaries boundaries; /* once shaped, one per axis */
  int nsettings;              /* values of plain parameters */
  tool_setting settings[AMBIT_MAX_PARAMS];
  /* valid once loaded: */
  ambit_kernel *kernel;
  const ambit__rule *rule; /* of it, for those who write code from it */
  int ndims;               /* of it; 0: any number */
  int nparams;             /* of it */
  ambit_param_info params[AMBIT_MAX_PARAMS];
  int in, out; /* parameters of it: the field that is read, and the one that is written; the
                  same if the kernel has one field */
} tool_problem;

/* Options shared by several commands; their ids are reserved. */
enum { OPT_SIZE = 1000, OPT_TYPE, OPT_BOUNDARY, OPT_SET, OPT_DEVICE, OPT_STRICT, OPT_THREADS };
#define TOOL_OPTION_SIZE                                                                           \
  {                                                                                                \
    OPT_SIZE, 0, "size", "NxM", "cells along each axis: 64x64, 512^3 (default: see below)"         \
  }
#define TOOL_OPTION_TYPE                                                                           \
  {                                                                                                \
    OPT_TYPE, 0, "type", "TYPE",                                                                   \
        "float, double, int, short, long, unsigned, 'unsigned short', 'unsigned\n"                 \
        "long', 'unsigned char', half or bfloat\n"                                                 \
        "(default: float; a kernel file gives its own)"                                            \
  }
#define TOOL_OPTION_BOUNDARY                                                                       \
  {                                                                                                \
    OPT_BOUNDARY, 0, "boundary", "KIND",                                                           \
        "fixed, periodic, reflect, symmetric,\n"                                                   \
        "antisymmetric, clamp, constant=V, dirichlet=V or neumann=V;\n"                            \
        "or one per axis: periodic,fixed;\n"                                                       \
        "or one per face: reflect/symmetric\n"                                                     \
        "(default: fixed)"                                                                         \
  }
#define TOOL_OPTION_SET                                                                            \
  {                                                                                                \
    OPT_SET, 0, "set", "NAME=V", "value of a plain parameter of the kernel; may be repeated"       \
  }
#define TOOL_OPTION_DEVICE                                                                         \
  {                                                                                                \
    OPT_DEVICE, 0, "device", "NAME", "cpu, cuda, opencl or ref (default: the fastest)"             \
  }
#define TOOL_OPTION_STRICT                                                                         \
  {                                                                                                \
    OPT_STRICT, 0, "strict", NULL, "identical bits on every device: no fused operations"           \
  }
#define TOOL_OPTION_THREADS                                                                        \
  {                                                                                                \
    OPT_THREADS, 0, "threads", "N", "threads to use (default: one per core)"                       \
  }
#define TOOL_SIZE_NOTE                                                                             \
  "The size has one number per axis; the last axis is contiguous in memory. By default the\n"      \
  "grid has about a million cells: 1048576, 1024^2, 128^3, 32^4, 16^5 or 10^6.\n"

/* Handles an option of the list above. */
int tool_problem_option(ambit *a, const tool_args *args, int id, const char *value,
                        tool_problem *p);

/* Handles the word that names the stencil; there must be one. */
int tool_problem_word(const tool_args *args, const char *word, tool_problem *p);

/* Finds the kernel and the type of its fields. Returns the exit code. */
int tool_problem_load(ambit *a, const tool_args *args, tool_problem *p);
bool tool_is_kernel_file(const char *what); /* contains kernel text, with its own types */

/* Determines the field that is read and the field that is written, and checks that all plain
 * parameters have values. For problems that are to run. */
int tool_problem_bind(const tool_args *args, tool_problem *p);

/* The same for problems that are only inspected: returns whether the tool could run it, without
 * messages. Parameters without values get some. */
bool tool_problem_try_bind(tool_problem *p);

/* The parameter that is a reduction of this name. -1: there is none, and a message says so. */
int tool_problem_reduction(const tool_args *args, const tool_problem *p, const char *name);

/* The value of a plain parameter; NULL if it has none. */
const tool_setting *tool_find_setting(const tool_problem *p, const char *name);

/* Makes the sparse grid of a file, which has the size of the problem. */
int tool_problem_mask(ambit *a, const tool_args *args, const char *path, tool_problem *p);

/* Checks size and boundaries, and sets the defaults. */
int tool_problem_shape(const tool_args *args, tool_problem *p);

/* The cells that one iteration updates, without those that fixed boundaries keep. */
void tool_problem_region(const tool_problem *p, int64_t *lo, int64_t *hi);

/* ---- jobs (job.c) ---- */

typedef struct tool_job {
  ambit_grid *grid;
  ambit_field *in, *out; /* the same if there is only one field */
  ambit_program *program;
  ambit_scalar *scalars[AMBIT_MAX_PARAMS]; /* of reductions; NULL for other parameters */
} tool_job;

/* Opens a context with the same options; with a device, for this process alone on that device,
 * without the options that concern parts, plans and output. NULL: out of memory. */
ambit *tool_open_like(const ambit *like, const char *device);

/* Creates the fields and the program; the fields have no values yet. `kernel` belongs to `a`. */
ambit_status tool_job_open(ambit *a, const tool_problem *p, ambit_kernel *kernel, tool_job *job);

/* The initial value of a cell. Real fields: h / 2^24 in [0, 1), where h has 24 bits and depends
 * only on the cell's index and component; integers: 0 or 1. docs/tool.md has the formula. */
double tool_start_real(const int64_t *index, int component, void *ndims);
double tool_start_integer(const int64_t *index, int component, void *ndims);
/* Sets the initial values of the field that is read. */
ambit_status tool_job_start(tool_job *job);

#endif
