/* trusted.h - folders and files whose contents will be run.
 *
 * A folder is trusted if it belongs to the user and nobody else can write to it, and if nobody else can put another in its place:
 * each folder above it belongs to the user or to root, and either only they can write to it or it is sticky, as /tmp is. All of
 * them are opened one below the other and looked at as they were opened. From then on the descriptor is the folder, and files in
 * it are opened below it, looked at as they were opened, and used through that descriptor: a name is never looked up twice.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_TRUSTED_H
#define AMBIT_DEVICE_TRUSTED_H

#include "base/text.h"

/* A descriptor of the folder; -1: it is not trusted, and `why` says so. */
int ambit__trusted_folder(const char *path, ambit__text *why);

/* A descriptor, to read, of a regular file of the user's that nobody else can write; -1: there is none. */
int ambit__trusted_file(int folder, const char *name);

/* The whole of an open file of at most `most` bytes, to free(), with a NUL behind it; NULL: not possible. */
void *ambit__read_open(int fd, size_t most, size_t *bytes);

/* Puts a file that only its owner can read and write under its name, whole or not at all; false with errno. It is not
 * forced to the disk. While it is written it has another name, which ends in AMBIT__UNFINISHED, and is locked. */
#define AMBIT__UNFINISHED ".tmp"
bool ambit__put_at(int folder, const char *name, const void *data, size_t bytes);
/* The same for a path. */
bool ambit__put_file(const char *path, const void *data, size_t bytes);

/* Makes a folder and those above it, mode 0700. */
bool ambit__make_folder(const char *path);

/* "FOLDER/name" "tail", to free(); NULL for want of memory. */
char *ambit__path_join(const char *folder, const char *name, const char *tail);

#endif
