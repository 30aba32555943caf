/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_leaks.h - the leak check of sanitized builds, around MPI.
 *
 * MPI keeps memory until the process ends. Leaks of a thread between AMBIT__MPI_ENTER and
 * AMBIT__MPI_LEAVE are ignored. Threads of MPI (PMIx has one) have their own leaks, which
 * tests/support/lsan.supp names by library: AMBIT__MPI_PIN keeps libraries loaded that MPI_Finalize
 * unloads. Finding libraries without it took the whole call stack of each allocation, which made
 * tests of several processes three times slower.
 */
#ifndef AMBIT_NET_MPI_LEAKS_H
#define AMBIT_NET_MPI_LEAKS_H

#if defined(__SANITIZE_ADDRESS__)
#  include <dlfcn.h>
#  include <link.h>

void __lsan_disable(void);
void __lsan_enable(void);

static inline int ambit__mpi_pin(struct dl_phdr_info *info, size_t size, void *user)
{
  (void)size, (void)user;
  if (*info->dlpi_name) dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  return 0;
}
#  define AMBIT__MPI_ENTER() __lsan_disable()
#  define AMBIT__MPI_LEAVE() __lsan_enable()
#  define AMBIT__MPI_PIN()   dl_iterate_phdr(ambit__mpi_pin, NULL)
#else
#  define AMBIT__MPI_ENTER() ((void)0)
#  define AMBIT__MPI_LEAVE() ((void)0)
#  define AMBIT__MPI_PIN()   ((void)0)
#endif

#endif
