/* SPDX-License-Identifier: BSD-3-Clause */
/* trusted.h - folders and files whose contents will be executed.
 *
 * A folder is trusted if it belongs to the user, nobody else can write to it, and nobody else can
 * replace it: each folder above it belongs to the user or to root, and either only its owner can
 * write to it or it is sticky, as /tmp is. All of them are opened one below the other, and checked
 * through their descriptors. From then on the descriptor stands for the folder. Files in it are
 * opened relative to it, checked and used through their own descriptors: no name is looked up
 * twice.
 */
#ifndef AMBIT_DEVICE_TRUSTED_H
#define AMBIT_DEVICE_TRUSTED_H

#include "base/text.h"

/* A descriptor of the folder; -1: it is not trusted, and `why` holds the reason. */
int ambit__trusted_folder(const char *path, ambit__text *why);

/* A descriptor, to read, of a regular file that belongs to the user and that nobody else can write;
 * -1: there is none. */
int ambit__trusted_file(int folder, const char *name);

/* The contents of an open file of at most `most` bytes, to free(), NUL-terminated; NULL: not
 * possible. */
void *ambit__read_open(int fd, size_t most, size_t *bytes);

/* Creates or replaces a file, atomically, with mode 0600; false with errno. It is not synced to
 * disk. While being written, it is locked and has another name, which ends in AMBIT__UNFINISHED. */
#define AMBIT__UNFINISHED ".tmp"
bool ambit__put_at(int folder, const char *name, const void *data, size_t bytes);
/* The same for a path. */
bool ambit__put_file(const char *path, const void *data, size_t bytes);

/* Creates a folder and its parents, mode 0700. */
bool ambit__make_folder(const char *path);

/* "FOLDER/name" "tail", to free(); NULL if out of memory. */
char *ambit__path_join(const char *folder, const char *name, const char *tail);

#endif
