/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.h - the folder that keeps compiled kernels from one run to the next.
 *
 * Its contents will be executed, so it must be trusted (trusted.h). If it is not, or if there is
 * none, entries live in a private temporary folder, the scratch folder, which is removed with the
 * cache.
 *
 * An entry is KEY.so (a library for the CPU) or KEY.bin (code made by a GPU's driver), and
 * KEY.meta: its length, its hash, and its source. An entry is valid only if all of these agree; an
 * invalid one is ignored and replaced. The file that was opened is the one that is checked and
 * used. Files are written under temporary names and renamed, so any number of processes can start
 * at once without locks: each finds a complete entry or makes one itself. An entry is kept only
 * after its code was loaded and found to work.
 */
#ifndef AMBIT_DEVICE_CACHE_H
#define AMBIT_DEVICE_CACHE_H

#include "base/error.h"
#include "base/hash.h"
#include "base/settings.h"
#include "device/scratch.h"
#include "device/trusted.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ambit__cache {
  const ambit__settings *settings;
  char *folder;           /* the persistent folder; NULL: none */
  int fd;                 /* of that folder, if there is one */
  ambit__scratch scratch; /* private, removed by close; created on first use */
  int place;              /* index of the first location for it not yet found full */
} ambit__cache;           /* must not move in memory while open */

/* Fails only if out of memory; an unusable folder is a warning. */
ambit_status ambit__cache_open(ambit__errors *errors, const ambit__settings *settings,
                               ambit__cache *cache);
void ambit__cache_close(ambit__cache *cache);

/* The private folder, created on the first call. */
ambit_status ambit__cache_scratch(ambit__errors *errors, ambit__cache *cache, const char **folder);

/* If its disk is full, closes it and returns true: the next call of ambit__cache_scratch tries
 * another location. */
bool ambit__cache_leave_full(ambit__cache *cache);

/* ---- entries (cache_entries.c) ---- */

/* A descriptor of the library of a valid entry made from this source. Load this descriptor, not a
 * path. -1: there is none. */
int ambit__cache_find(ambit__cache *cache, const char *key, const char *source);
/* Adds the library open as `fd`. A failure is silent: the library will be compiled again. */
void ambit__cache_keep(ambit__cache *cache, const char *key, const char *source, int fd);

/* The same for code that is not used as a file: the bytes of an entry, to free(), or NULL; and
 * adding such bytes. */
void *ambit__cache_load(ambit__cache *cache, const char *key, const char *source, size_t *bytes);
void ambit__cache_save(ambit__cache *cache, const char *key, const char *source, const void *data,
                       size_t bytes);

/* Small notes, a few lines under a name: text to free(), or NULL. Losing one does no harm. */
char *ambit__cache_recall(ambit__cache *cache, const char *name);
void ambit__cache_note(ambit__cache *cache, const char *name, const char *text);
/* Notes of measurements: the same where no cache is open, under a kind ("plan", "tuned",
 * "weights", "machine") and a hash of all that the result depends on. NULL is not written. */
char *ambit__note_recall(const ambit__settings *settings, const char *kind, const ambit__hash *of);
void ambit__note_keep(const ambit__settings *settings, const char *kind, const ambit__hash *of,
                      const char *text);

/* Writes a generated source for people to read, if the option dump asks for it: "heat-KEY.cu". */
void ambit__cache_dump(const ambit__settings *settings, const char *name, const char *key,
                       const char *extension, const char *source);
/* Writes a text for the user that is not cleaned up. Returns its path, to free(), or NULL. */
char *ambit__cache_exhibit(ambit__cache *cache, const char *key, const char *text);

/* ---- sizes (cache_trim.c) ---- */

typedef struct ambit__cache_size {
  int64_t entries, bytes;
} ambit__cache_size;

/* 0 without a folder. */
ambit__cache_size ambit__cache_measure(ambit__cache *cache);
/* Removes entries, least recently used first, until at most `most` bytes are left. Returns 0, or
 * the errno of the first file that it could not remove. */
int ambit__cache_trim(ambit__cache *cache, int64_t most);
/* Bytes that the settings allow; 0: no limit. */
int64_t ambit__cache_limit(const ambit__cache *cache);
/* Trims the folder if it exceeds the limit. */
void ambit__cache_make_room(ambit__cache *cache);
/* Marks the entry of an open file as used. */
void ambit__cache_used(int fd);

#endif
