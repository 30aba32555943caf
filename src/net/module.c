/* module.c - the MPI in this process: the one that the program brought, and the module that talks to it.
 *
 * Two MPI libraries in one process would take each other's functions, so one that is there already
 * decides; it says itself what it is. Modules lie beside the library, or where the system's loader looks.
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

/* ---- the program's own ---- */

/* A function of a library. ISO C has no cast from an object to a function. */
#define FIND(library, name, pointer)                                                               \
  do {                                                                                             \
    void *const address = dlsym(library, name);                                                    \
    memcpy(&(pointer), &address, sizeof address);                                                  \
  } while (0)

enum {
  VERSION_TEXT = 1 << 14
}; /* room for what MPI_Get_library_version writes: no MPI asks for more */

/* MPI calls that are the same in every MPI: no handles. False: it is no MPI. */
static bool ask(void *library, ambit__inside *inside)
{
  int (*version)(char *, int *), (*initialized)(int *), length = 0, flag = 0;
  char *text;

  FIND(library, "MPI_Get_library_version", version);
  FIND(library, "MPI_Initialized", initialized);
  text = version && initialized ? calloc(1, VERSION_TEXT) : NULL;
  if (!text) return false;
  version(text, &length);
  initialized(&flag);
  *inside = (ambit__inside){.loaded = true, .running = flag != 0};
  if (strstr(text, "Open MPI"))
    inside->family = "openmpi";
  else if (strstr(text, "MPICH") || strstr(text, "MVAPICH") || strstr(text, "Intel(R) MPI"))
    inside->family = "mpich";
  text[strcspn(text, ",\n")] = '\0';
  text[strcspn(text, "\t")] = ' ';
  snprintf(inside->version, sizeof inside->version, "%s", text);
  free(text);
  return true;
}

/* Looks at one library of this process; not 0 ends the search. */
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

void ambit__inside_find(ambit__inside *inside)
{
  *inside = (ambit__inside){0};
  if (!ask(RTLD_DEFAULT, inside)) dl_iterate_phdr(look, inside);
}

/* ---- modules ---- */

static struct {
  const char *family;
  const ambit__net_kind *kind; /* NULL: not loaded */
} modules[] = {{"openmpi", NULL}, {"mpich", NULL}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The folder of the library or program that this code is in, with a slash at its end; "": not known. */
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

/* The library from the first place that has it; NULL and why not. */
static void *open_module(const char *file, char *why, size_t bytes)
{
  char beside[2048], path[4096];
  const char *folders[] = {beside, AMBIT_LIBDIR "/", ""};
  void *library = NULL;

  own_folder(beside, sizeof beside);
  for (int i = 0; i < 3 && !library; i++) {
    snprintf(path, sizeof path, "%s%s", folders[i], file);
    if (*folders[i] && access(path, R_OK)) continue;
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) continue;
    snprintf(why, bytes, "%s", dlerror());
    if (*folders[i]) break; /* it is there, and something else is wrong with it */
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
  snprintf(why, bytes, "%s belongs to another version of Ambit", file);
  return NULL; /* and stays loaded: some MPIs do not survive being let go */
}

const ambit__net_kind *ambit__module_load(const char *family, char *why, size_t bytes)
{
  const ambit__net_kind *kind = NULL;

  snprintf(why, bytes, "it was built without it");
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < sizeof modules / sizeof *modules && !kind; i++) {
    if (family && strcmp(family, modules[i].family)) continue;
    if (!modules[i].kind) modules[i].kind = load(modules[i].family, why, bytes);
    kind = modules[i].kind;
  }
  pthread_mutex_unlock(&lock);
  return kind;
}
