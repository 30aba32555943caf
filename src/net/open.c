/* SPDX-License-Identifier: BSD-3-Clause */
/* open.c - decides whether this process runs alone, and if not, which MPI it uses.
 *
 * An MPI already loaded by the program is used; else the one that matches the launcher. The main
 * mistake to detect is n copies that each run alone: each would do all the work and write the same
 * files.
 */
#include "base/text.h"
#include "net/net.h"

#include "net/startup.h"

#include <string.h>

static const char *title(const char *family)
{
  return !family ? "MPI" : !strcmp(family, "openmpi") ? "Open MPI" : "MPICH";
}

/* Raises an error that every copy of the program detects; only rank 0 reports it at once. */
#define RAISE_ONCE(errors, launcher, ...)                                                          \
  do {                                                                                             \
    const ambit_error_fn handler = (errors)->handler;                                              \
    if ((launcher)->rank > 0) (errors)->handler = NULL;                                            \
    ambit__raise(errors, AMBIT_EPROCESS, __VA_ARGS__);                                             \
    (errors)->handler = handler;                                                                   \
  } while (0)

static ambit_status no_module(ambit__errors *errors, const ambit__launcher *l, const char *family,
                              const char *why)
{
  if (l->name)
    RAISE_ONCE(
        errors, l,
        "this program was started by %s as one of several processes, but this libambit "
        "cannot use %s (%s), and each would do all the work alone. Where Ambit was built, run "
        "scripts/setup mpi && make, which installs the headers of %s and builds the module; or, to "
        "run "
        "the processes independently, set the option mpi to off",
        l->name, title(family), why, title(family));
  else
    ambit__raise(errors, AMBIT_EPROCESS,
                 "MPI was requested, but this libambit cannot use %s (%s). Where Ambit was built, "
                 "run scripts/setup mpi && make, or set the option mpi to off",
                 title(family), why);
  return AMBIT_EPROCESS;
}

/* The launcher started n processes, but MPI reports one. */
static ambit_status not_joined(ambit__errors *errors, const ambit__launcher *l, const char *name)
{
  RAISE_ONCE(errors, l,
             "%s started %d processes, but %s sees only one: it does not support that launcher, "
             "and each process would do all the work alone. Start the program with the mpirun of "
             "the MPI it uses (%s), or try srun --mpi=pmix or --mpi=pmi2; set the option mpi to "
             "off if the processes are to run independently",
             l->name, l->size, name, name);
  return AMBIT_EPROCESS;
}

/* Opens the module of this family, and checks that MPI reports all processes. */
static ambit_status open_mpi(ambit__errors *errors, const ambit__launcher *l, const char *family,
                             int seconds, const void *communicator, ambit__net **net)
{
  const ambit__net_kind *kind;
  ambit__startup *startup;
  char why[512], name[64];
  ambit_status s;

  kind = ambit__module_load(family, why, sizeof why);
  if (!kind) return no_module(errors, l, family, why);
  startup = ambit__startup_begin(l, seconds);
  s = kind->open(errors, communicator, net);
  ambit__startup_end(startup);
  if (s) return s;
  if (communicator || (*net)->size > 1 || l->size <= 1) return AMBIT_OK;
  memcpy(name, (*net)->name, sizeof name);
  ambit__net_close(*net);
  *net = NULL;
  return not_joined(errors, l, name);
}

ambit_status ambit__net_open(ambit__errors *errors, const char *how, int seconds,
                             const void *communicator, ambit__net **net)
{
  static const char *const words[] = {"auto", "off", "on", "openmpi", "mpich", NULL};
  const ambit__launcher l = ambit__launcher_find();
  const bool ask = !strcmp(how, "auto"), off = !strcmp(how, "off");
  const char *family = l.family;
  ambit__loaded_mpi mpi;

  *net = NULL;
  AMBIT_CHECK(ambit__is_one_of(how, words), errors, AMBIT_EOPTION,
              "mpi=%s: it must be auto, off, on, openmpi or mpich", how);
  AMBIT_CHECK(!off || !communicator, errors, AMBIT_EOPTION,
              "mpi=off, but the program passes a communicator; set mpi=auto, or open the context "
              "without a communicator");
  ambit__loaded_mpi_find(&mpi);
  if (off || (ask && !communicator && !mpi.running && (!l.name || l.size == 1)))
    return ambit__net_alone.open(errors, NULL, net);
  if (!ask && strcmp(how, "on")) family = how;
  if (mpi.loaded) {
    AMBIT_CHECK(mpi.family, errors, AMBIT_EPROCESS,
                "the program uses %s; Ambit supports Open MPI, MPICH and MPI libraries compatible "
                "with MPICH",
                mpi.version);
    family = mpi.family;
  }
  if (mpi.running) seconds = 0; /* the program may let its processes wait */
  return open_mpi(errors, &l, family, seconds, communicator, net);
}
