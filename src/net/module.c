/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - finds the MPI library that the program has loaded, and loads the module for it.
 *
 * Two MPI libraries in one process would resolve each other's symbols, so an MPI that is already
 * loaded must be used; its version string identifies it. Modules are searched beside the library
 * (a build folder), in the folder ambit/ there (an installation), in the folder that they were
 * installed in, and in the loader's search path.
 */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include "net/launcher.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the program's MPI ---- */

/* Looks up a function. ISO C has no cast from an object pointer to a function pointer. */
#define FIND(library, name, pointer)                                                               \
  do {                                                                                             \
    void *const address = dlsym(library, name);                                                    \
    memcpy(&(pointer), &address, sizeof address);                                                  \
  } while (0)

enum { VERSION_TEXT = 1 << 14 }; /* buffer size for MPI_Get_library_version; no MPI needs more */

/* Uses only MPI calls without handles, whose ABI is the same in every MPI. False: not an MPI
 * library. */
static bool ask(void *library, ambit__loaded_mpi *mpi)
{
  int (*version)(char *, int *), (*initialized)(int *), length = 0, flag = 0;
  char *text;

  FIND(library, "MPI_Get_library_version", version);
  FIND(library, "MPI_Initialized", initialized);
  text = version && initialized ? calloc(1, VERSION_TEXT) : NULL;
  if (!text) return false;
  version(text, &length);
  initialized(&flag);
  *mpi = (ambit__loaded_mpi){.loaded = true, .running = flag != 0};
  if (strstr(text, "Open MPI"))
    mpi->family = "openmpi";
  else if (strstr(text, "MPICH") || strstr(text, "MVAPICH") || strstr(text, "Intel(R) MPI"))
    mpi->family = "mpich";
  text[strcspn(text, ",\n")] = '\0';
  text[strcspn(text, "\t")] = ' ';
  snprintf(mpi->version, sizeof mpi->version, "%s", text);
  free(text);
  return true;
}

/* dl_iterate_phdr callback: checks one loaded library. Non-zero ends the search. */
static int look(struct dl_phdr_info *info, size_t size, void *user)
{
  const char *slash = strrchr(info->dlpi_name, '/');
  void *library;
  bool found;

  (void)size;
  if (strncmp(slash ? slash + 1 : info->dlpi_name, "libmpi", strlen("libmpi"))) return 0;
  library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return 0;
  found = ask(library, user);
  dlclose(library);
  return found;
}

void ambit__loaded_mpi_find(ambit__loaded_mpi *mpi)
{
  *mpi = (ambit__loaded_mpi){0};
  if (!ask(RTLD_DEFAULT, mpi)) dl_iterate_phdr(look, mpi);
}

/* ---- modules ---- */

static struct {
  const char *family;
  const ambit__net_kind *kind; /* NULL: not loaded */
} modules[] = {{"openmpi", NULL}, {"mpich", NULL}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The directory of the library or program that contains this code, with a trailing slash; "" if
 * unknown. */
static void own_folder(char *folder, size_t bytes)
{
  Dl_info info;
  char *slash;

  folder[0] = '\0';
  if (!dladdr((void *)modules, &info) || strlen(info.dli_fname) >= bytes) return;
  strcpy(folder, info.dli_fname);
  slash = strrchr(folder, '/');
  if (slash)
    slash[1] = '\0';
  else
    folder[0] = '\0';
}

/* Opens the library from the first directory that has it. On failure returns NULL and sets
 * `why`. */
static void *open_module(const char *file, char *why, size_t bytes)
{
  char beside[2048], below[2060], path[4096];
  const char *folders[] = {beside, below, AMBIT_LIBDIR "/ambit/", ""};
  void *library = NULL;

  own_folder(beside, sizeof beside);
  snprintf(below, sizeof below, "%s%s", beside, *beside ? "ambit/" : "");
  for (size_t i = 0; i < sizeof folders / sizeof *folders && !library; i++) {
    snprintf(path, sizeof path, "%s%s", folders[i], file);
    if (*folders[i] && access(path, R_OK)) continue;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) continue;
    snprintf(why, bytes, "%s", dlerror());
    if (*folders[i]) break; /* the file exists but does not load */
  }
  return library;
}

static const ambit__net_kind *load(const char *family, char *why, size_t bytes)
{
  const ambit__net_kind *kind;
  char file[64];
  void *library;

  snprintf(file, sizeof file, "libambit-%s.so", family);
  library = open_module(file, why, bytes);
  if (!library) return NULL;
  kind = dlsym(library, "ambit__net_mpi");
  if (kind && !strcmp(kind->contract, AMBIT__NET_CONTRACT)) return kind;
  snprintf(why, bytes, "%s was built for a different version of Ambit", file);
  return NULL; /* it stays loaded: some MPI libraries crash when unloaded */
}

const ambit__net_kind *ambit__module_load(const char *family, char *why, size_t bytes)
{
  const ambit__net_kind *kind = NULL;

  snprintf(why, bytes, "this build does not include the module");
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < sizeof modules / sizeof *modules && !kind; i++) {
    if (family && strcmp(family, modules[i].family)) continue;
    if (!modules[i].kind) modules[i].kind = load(modules[i].family, why, bytes);
    kind = modules[i].kind;
  }
  pthread_mutex_unlock(&lock);
  return kind;
}
