/* SPDX-License-Identifier: BSD-3-Clause */
/* fork.h - tells a process from the children that it forks.
 *
 * A child has the memory of its parent but none of its threads, and OpenCL drivers that were in
 * use before the fork wait for theirs forever.
 */
#ifndef AMBIT_BASE_FORK_H
#define AMBIT_BASE_FORK_H

/* A number that is another one in a child of this process. Takes no system call. */
int ambit__fork_number(void);

#endif
