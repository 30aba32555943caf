/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal.h - the terminal of the process: taken for a view, and given back whatever happens.
 *
 * While it is taken, the screen is the alternate one, keys arrive one by one, and everything that
 * the program prints on the terminal is kept and printed when it is given back. That is done by
 * ambit__terminal_leave, at exit, and by handlers of all signals that end a process, which pass the
 * signal on. SIGKILL cannot be handled: `reset` helps then.
 */
#ifndef AMBIT_VIEW_TERMINAL_H
#define AMBIT_VIEW_TERMINAL_H

#include "runtime/observe/viewing.h"

#include <stdbool.h>
#include <stddef.h>

/* What it can do. */
typedef struct ambit__terminal_skills {
  bool kitty, sixel;
  int cell_width, cell_height; /* pixels of a character; 0: not known */
} ambit__terminal_skills;

/* Opens /dev/tty. Returns a file descriptor that does not block; -1: `why` says the reason. There
 * is one in a process. */
int ambit__terminal_open(char *why, size_t size);
void ambit__terminal_close(int fd); /* gives it back, if it is taken */
void ambit__terminal_enter(int fd); /* does nothing while the process ends */
void ambit__terminal_leave(void);
bool ambit__terminal_is_taken(void); /* false: a handler has given it back */
/* Writes, while it is taken or whatever holds; a terminal that takes nothing for so long is given
 * up. Drawing returns false if something is left. */
bool ambit__terminal_draw(int fd, const char *bytes, size_t n, double seconds);
void ambit__terminal_print(int fd, const char *bytes, size_t n, double seconds);

/* Asks the terminal, which is taken, and waits for the answer for some tenths of a second. */
ambit__terminal_skills ambit__terminal_ask(int fd);
/* From the bytes that it answered. True: the answer is complete. */
bool ambit__terminal_parse(const char *answer, size_t n, ambit__terminal_skills *skills);
/* Which way to draw: from the skills, and TERM, COLORTERM, NO_COLOR and TMUX. */
ambit__screen ambit__terminal_choose(const ambit__terminal_skills *skills);

#endif
