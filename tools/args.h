/* args.h - the words of a command line, and the tables that describe them.
 *
 * A command says in one table which options it has; the parser, the help and the guess at what was
 * meant by an unknown name all read that table.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_TOOLS_ARGS_H
#define AMBIT_TOOLS_ARGS_H

#include "ambit.h"

#include <stdbool.h>
#include <stdio.h>

enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 }; /* exit codes */

extern FILE
    *tool_notes; /* for everything but results: standard error, on the process that prints */

typedef struct tool_option {
  int id;            /* what tool_next returns: not negative, not 0 */
  char letter;       /* -o; 0: none */
  const char *name;  /* without its dashes; NULL ends a table */
  const char *value; /* what the help calls the value; NULL: a flag */
  const char *about; /* for the help; lines end with \n */
} tool_option;

typedef struct tool_args {
  const char *command;        /* "run": for messages */
  const tool_option *options; /* of the command */
  int argc, at;               /* words, and the next one to look at */
  char **argv;
  char option[64]; /* the option that was returned last, as it was written */
  bool plain;      /* "--" was seen: only words follow */
} tool_args;

enum {
  TOOL_END = 0,    /* no words are left */
  TOOL_WORD = -1,  /* a word that is no option */
  TOOL_HELP = -2,  /* --help or -h */
  TOOL_WRONG = -3, /* told the user what is wrong */
};

/* The id of the next option, or one of the above. *value: of the option, or the word. */
int tool_next(tool_args *a, const char **value);

/* Says what is wrong with the command line, and where to read on. Returns TOOL_USAGE. */
int tool_wrong(const tool_args *a, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

typedef struct tool_command {
  const char *name;
  const char *words;          /* usage: what follows the name */
  const char *summary;        /* one line */
  const tool_option *options; /* ends with a name of NULL */
  const char *notes;          /* for the help, after the options: details and examples */
  int (*run)(ambit *a, tool_args *args);
} tool_command;

/* Prints the help of a command on standard output. Returns TOOL_OK. */
int tool_help(const tool_command *c);

extern const tool_command tool_bench, tool_devices, tool_explain, tool_gen, tool_port, tool_run;

#endif
