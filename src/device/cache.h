/* cache.h - the folder where compiled kernels are kept from one run to the next.
 *
 * Its contents will be run, so it must be the user's own (trusted.h). Otherwise, and when there is none, entries live in a private
 * temporary folder, the scratch folder, that goes away with the cache.
 *
 * An entry is KEY.so (a library for the CPU) or KEY.bin (code made by a GPU's driver), and KEY.meta: its length, its
 * hash, and the source it was made from. It counts only if all of them agree; anything else is as good as nothing, and is replaced.
 * It is the opened file that is compared and used. Files are written beside their names and renamed, so that any number of
 * processes can start at once without locks: each finds a whole entry or makes one itself. An entry is kept only after its
 * code was loaded and found to work.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_CACHE_H
#define AMBIT_DEVICE_CACHE_H

#include "base/error.h"
#include "base/settings.h"
#include "device/scratch.h"
#include "device/trusted.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ambit__cache {
  const ambit__settings *settings;
  char *folder;           /* kept from run to run; NULL: there is none */
  int fd;                 /* of that folder, if there is one */
  ambit__scratch scratch; /* private, removed in close; none until it is asked for */
  int place;              /* the first place to make it in that was not found full */
} ambit__cache;           /* stays where it is as long as it is open */

/* Fails only for want of memory; a folder that cannot be used is a warning. */
ambit_status ambit__cache_open(ambit__errors *errors, const ambit__settings *settings,
                               ambit__cache *cache);
void ambit__cache_close(ambit__cache *cache);

/* The private folder, made on the first call. */
ambit_status ambit__cache_scratch(ambit__errors *errors, ambit__cache *cache, const char **folder);

/* If its disk is full, gives it up: the next call of ambit__cache_scratch looks elsewhere. */
bool ambit__cache_leave_full(ambit__cache *cache);

/* ---- entries (cache_entries.c) ---- */

/* The library of an entry that is whole and was made from this source, open to read: this descriptor is to be loaded, not a
 * path. -1: there is none. */
int ambit__cache_find(ambit__cache *cache, const char *key, const char *source);
/* Takes in the library that is open as `fd`. It may fail silently: then it is made again. */
void ambit__cache_keep(ambit__cache *cache, const char *key, const char *source, int fd);

/* The same for code that is not a file to its user: the bytes of an entry, to free(), or NULL; and taking in such
 * bytes. */
void *ambit__cache_load(ambit__cache *cache, const char *key, const char *source, size_t *bytes);
void ambit__cache_save(ambit__cache *cache, const char *key, const char *source, const void *data,
                       size_t bytes);

/* Small notes, a few lines under a name: text to free(), or NULL; losing one does no harm. */
char *ambit__cache_recall(ambit__cache *cache, const char *name);
void ambit__cache_note(ambit__cache *cache, const char *name, const char *text);

/* Writes a text that the user should look at and that is not cleaned up; its path, to free(), or NULL. */
char *ambit__cache_exhibit(ambit__cache *cache, const char *key, const char *text);

/* ---- sizes (cache_trim.c) ---- */

typedef struct ambit__cache_size {
  int64_t entries, bytes;
} ambit__cache_size;

/* Nothing without a folder. */
ambit__cache_size ambit__cache_measure(ambit__cache *cache);
/* Removes entries until at most so many bytes are left, those first that were not used for longest. */
void ambit__cache_trim(ambit__cache *cache, int64_t most);
/* Bytes that the settings allow; 0: any number. */
int64_t ambit__cache_limit(const ambit__cache *cache);
/* Trims the folder if it holds more than that. */
void ambit__cache_make_room(ambit__cache *cache);
/* Notes that the entry of an open file was used. */
void ambit__cache_used(int fd);

#endif
