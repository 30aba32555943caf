/* cache.h - the folder where compiled kernels are kept from one run to the next.
 *
 * What is in it will be run, so it must be the user's own: a real folder (no link) that belongs to
 * the user and that nobody else can write to. Otherwise, and when there is none, entries live in a private
 * temporary folder that goes away with the cache.
 *
 * An entry is KEY.so (a library for the CPU) or KEY.bin (what a GPU's driver made), and KEY.meta: its length, its
 * hash, and the source it was made from. It counts only if all of them agree; anything else is as good as nothing, and is replaced. Files
 * are written beside their names and renamed, so that any number of processes can start at once without locks: each
 * finds a whole entry or makes one itself.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_CACHE_H
#define AMBIT_DEVICE_CACHE_H

#include "base/error.h"
#include "base/settings.h"

#include <stdbool.h>

typedef struct ambit__cache {
  const ambit__settings *settings;
  char *folder;  /* kept from run to run; NULL: there is none */
  char *scratch; /* private, removed in close; NULL until it is asked for */
} ambit__cache;

/* Fails only for want of memory; a folder that cannot be used is a warning. */
ambit_status ambit__cache_open(ambit__errors *errors, const ambit__settings *settings,
                               ambit__cache *cache);
void ambit__cache_close(ambit__cache *cache);

/* The private folder, made on the first call. */
ambit_status ambit__cache_scratch(ambit__errors *errors, ambit__cache *cache, const char **folder);

/* The path of the library of an entry that is whole and was made from this source; to free(), or NULL. */
char *ambit__cache_find(ambit__cache *cache, const char *key, const char *source);

/* Takes in the library that was made at `path`, which is in the scratch folder. Gives the path it has from now on, to
 * free(): in the folder if it could be kept there, else in the scratch folder. */
ambit_status ambit__cache_keep(ambit__errors *errors, ambit__cache *cache, const char *key,
                               const char *source, const char *path, char **kept);

/* The same for code that is not a file to its user: the bytes of an entry, to free(), or NULL; and taking in such
 * bytes, which may fail silently, because then they are made again. */
void *ambit__cache_load(ambit__cache *cache, const char *key, const char *source, size_t *bytes);
void ambit__cache_save(ambit__cache *cache, const char *key, const char *source, const void *data,
                       size_t bytes);

/* Small notes, a few lines under a name: text to free(), or NULL; losing one does no harm. */
char *ambit__cache_recall(ambit__cache *cache, const char *name);
void ambit__cache_note(ambit__cache *cache, const char *name, const char *text);

/* Writes a text that the user should look at and that is not cleaned up; its path, to free(), or NULL. */
char *ambit__cache_exhibit(ambit__cache *cache, const char *key, const char *text);

/* Puts a file that only its owner can read and write under its name, whole or not at all; false with errno. It
 * is not forced to the disk. */
bool ambit__put_file(const char *path, const void *data, size_t bytes);

/* Makes a folder and those above it, mode 0700. */
bool ambit__make_folder(const char *path);

/* "FOLDER/name" "tail", to free(); NULL for want of memory. */
char *ambit__path_join(const char *folder, const char *name, const char *tail);

#endif
