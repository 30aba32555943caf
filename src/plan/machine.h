/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - a device as data: what it has, and how fast it is.
 *
 * All estimates of times read this struct, and no number of one machine stands in their code. The
 * facts come from the system. The speeds are measured once per device and kept
 * (device/measure.h); until then they are those recorded here for a device of its kind. A
 * description prints as lines, "copy 39.7", and is read from such lines, so that plans can be made
 * for machines that are not here (option machine, and tests).
 */
#ifndef AMBIT_PLAN_MACHINE_H
#define AMBIT_PLAN_MACHINE_H

#include "ambit.h"
#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* X(name, unit, least, most, meaning). Speeds are those of all cores or multiprocessors together,
 * while all of them work. Bytes of copies are those read and those written. Copies in memory have
 * the faster stores, ordinary or non-temporal ones, unless it says otherwise. Numbers outside of
 * least .. most are no measurements. */
#define AMBIT__SPEED_MAP(X)                                                                        \
  X(copy, "GB/s", 0.1, 1e5, "copies in memory")                                                    \
  X(alone, "GB/s", 0.1, 1e5, "copies in memory, by one core while the others rest")                \
  X(plain, "GB/s", 0.1, 1e5, "copies in memory with ordinary stores")                              \
  X(plain1, "GB/s", 0.1, 1e5, "the same, by one core while the others rest")                       \
  X(copy3, "GB/s", 0.1, 1e6, "copies in the cache that all cores share")                           \
  X(kept, "bytes", 1, 1e12, "fields that this cache keeps: larger ones are stored past it")        \
  X(copy2, "GB/s", 0.1, 1e6, "copies in the second-level caches")                                  \
  X(copy1, "GB/s", 0.1, 1e7, "copies in the first-level caches")                                   \
  X(fma32, "G/s", 0.05, 1e7, "multiply-adds in float")                                             \
  X(fma64, "G/s", 0.01, 1e7, "multiply-adds in double")                                            \
  X(divide, "G/s", 0.01, 1e6, "divisions and square roots in float")                               \
  X(special, "G/s", 0.001, 1e6, "exponentials in float")                                           \
  X(chain, "ns", 0.05, 100, "a multiply-add that waits for the one before")                        \
  X(launch, "ns", 5, 1e7, "a launch on all cores, beside its cells")

typedef struct ambit__machine {
  char name[96];        /* "Neoverse-V1" */
  bool is_gpu;          /* has launches over blocks of threads */
  bool has_nontemporal; /* has non-temporal stores */
  bool measured;        /* all speeds were measured on it; false: recorded ones */
  int cores;            /* that this process may use; multiprocessors of a GPU */
  size_t vector_bytes;  /* of the widest vector */
  size_t l1, l2;        /* bytes of data cache per core; l2 of a GPU: of all */
  size_t l3;            /* bytes of all cores together; 0: none */
  size_t memory;        /* most bytes this process may use; 0: unknown */
  size_t available;     /* bytes free now */
  size_t registers;     /* GPU: of 32 bits, of a multiprocessor */
  size_t shared;        /* GPU: bytes of shared memory of a multiprocessor */
#define X(name, unit, least, most, meaning) double name;
  AMBIT__SPEED_MAP(X)
#undef X
} ambit__machine;

/* ---- recorded machines ---- */

extern const ambit__machine ambit__machine_h200;
/* One by its short name: "neoverse2", "xeon16", "xeon64", "h200", "laptop"; NULL: there is none. */
const ambit__machine *ambit__machine_recorded(const char *name);

/* Sets the speeds that are 0 or no measurements to those recorded for a device like this one, whose
 * facts are set. Returns their number. */
int ambit__machine_complete(ambit__machine *m);

/* Sets the speeds to 0: not known. */
void ambit__machine_forget_speeds(ambit__machine *m);
/* Sets the speeds to those of another one. */
void ambit__machine_take_speeds(ambit__machine *m, const ambit__machine *from);

/* ---- text ---- */

/* Appends the description, a line for each number with its unit and meaning. */
void ambit__machine_print(const ambit__machine *m, ambit__text *t);
/* Replaces the numbers that the lines of a text name; `where` is the file in messages. */
ambit_status ambit__machine_read(ambit__errors *errors, const char *where, const char *text,
                                 ambit__machine *m);

/* ---- derived numbers ---- */

/* Bytes per ns of one of so many cores that copy in memory. */
double ambit__machine_copy(const ambit__machine *m, double cores);
/* Whether so many cores that copy in memory are faster with non-temporal stores. */
bool ambit__machine_stores_past(const ambit__machine *m, double cores);
/* Threads of GPUs: ns of an instruction of a warp of 32 on a busy multiprocessor. */
double ambit__machine_issue(const ambit__machine *m);

#endif
