/* SPDX-License-Identifier: BSD-3-Clause */
/* args.h - command line arguments, and the tables that describe them.
 *
 * A command declares its options in one table. The parser, the help and the suggestions for unknown
 * names all use that table.
 */
#ifndef AMBIT_TOOLS_ARGS_H
#define AMBIT_TOOLS_ARGS_H

#include "ambit.h"
#include "base/undo.h"

#include <stdbool.h>
#include <stdio.h>

enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 }; /* exit codes */

extern FILE *tool_notes; /* for everything but results: stderr, on the process that prints */

typedef struct tool_option {
  int id;            /* returned by tool_next; positive */
  char letter;       /* -o; 0: none */
  const char *name;  /* without its dashes; NULL ends a table */
  const char *value; /* name of the value in the help; NULL: a flag; "[=WORDS]": may be left out */
  const char *about; /* for the help; lines end with \n */
} tool_option;

typedef struct tool_args {
  const char *command;        /* "run", for messages */
  const tool_option *options; /* of the command */
  int argc, at;               /* number of words, and the next one */
  char **argv;
  char option[64]; /* the last option returned, as written */
  bool plain;      /* "--" was seen: only words follow */
} tool_args;

enum {
  TOOL_END = 0,    /* no words left */
  TOOL_WORD = -1,  /* a word that is not an option */
  TOOL_HELP = -2,  /* --help or -h */
  TOOL_WRONG = -3, /* a mistake, which has been reported */
};

/* The id of the next option, or one of the above. *value: the value of the option, or the word. */
int tool_next(tool_args *a, const char **value);

/* Reports a mistake in the command line and where to find help. Returns TOOL_USAGE. */
int tool_wrong(const tool_args *a, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

typedef struct tool_command {
  const char *name;
  const char *words;          /* usage: the words after the name */
  const char *summary;        /* one line */
  const tool_option *options; /* ends with a name of NULL */
  const char *notes;          /* for the help, after the options: details and examples */
  int (*run)(ambit *a, tool_args *args);
} tool_command;

/* Prints the help of a command to stdout. Returns TOOL_OK. */
int tool_help(const tool_command *c);

/* From now on signals that end the process clean up first (signals.c). */
void tool_watch_signals(void);
/* The first signal calls `stop` instead, in another thread; the second ends the process. NULL: as
 * before. */
void tool_on_signal(void (*stop)(void *user), void *user);
int tool_signal(void); /* the signal that called `stop`; 0: none */

/* An input that can be read only once (spool.c). */
typedef struct tool_spool {
  char *copy; /* where its values are now; NULL: it is a regular file */
  ambit__undo undo;
} tool_spool;

int tool_spool_open(ambit *a, const char *path, tool_spool *s);
void tool_spool_close(tool_spool *s);

extern const tool_command tool_bench, tool_cache, tool_completion, tool_devices, tool_explain,
    tool_gen, tool_port, tool_run, tool_stream, tool_tune;
const tool_command *tool_command_at(int i); /* of all commands; NULL past the end (main.c) */

/* Man pages (manual.c): of a command, and of the whole tool. Return TOOL_OK. */
int tool_manual(const tool_command *c);
int tool_manual_overview(const char *summary, const char *notes);

#endif
