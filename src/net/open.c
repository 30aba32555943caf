/* open.c - whether this process is alone, and if not, which MPI it talks.
 *
 * An MPI that the program brought along decides; else the one that goes with who started the program. The mistake
 * to catch is N copies that each believe to be alone: all would do the same work N times, and write the same files.
 */
#include "net/net.h"

#include "net/launcher.h"

#include <stdio.h>
#include <string.h>

static const char *title(const char *family)
{
  return !family ? "MPI" : !strcmp(family, "openmpi") ? "Open MPI" : "MPICH";
}

/* Raises an error that all copies of the program find: one of them tells it. */
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
        "cannot talk %s (%s), and each would do all the work alone. Where Ambit was built, run "
        "scripts/setup mpi && make, which installs the headers of %s and builds the module; or, if "
        "the processes are to work each on its own, set the option mpi to off",
        l->name, title(family), why, title(family));
  else
    ambit__raise(errors, AMBIT_EPROCESS,
                 "MPI is asked for, but this libambit cannot talk %s (%s). Where Ambit was built, "
                 "run scripts/setup mpi && make, or set the option mpi to off",
                 title(family), why);
  return AMBIT_EPROCESS;
}

/* N processes were started, and MPI knows of one. */
static ambit_status not_joined(ambit__errors *errors, const ambit__launcher *l, const char *name)
{
  RAISE_ONCE(errors, l,
             "%s started %d processes, but %s sees only one: it cannot talk to that launcher, and "
             "each process would do all the work alone. Start the program with the mpirun that "
             "belongs to the MPI it uses (%s), with srun try --mpi=pmix or --mpi=pmi2; or, if the "
             "processes are to work each on its own, set the option mpi to off",
             l->name, l->size, name, name);
  return AMBIT_EPROCESS;
}

static bool is_one_of(const char *text, const char *const *words)
{
  for (; *words; words++)
    if (!strcmp(text, *words)) return true;
  return false;
}

/* Opens the module of this family, and sees that all who were started are there. */
static ambit_status open_mpi(ambit__errors *errors, const ambit__launcher *l, const char *family,
                             const void *communicator, ambit__net **net)
{
  const ambit__net_kind *kind;
  char why[512], name[64];

  kind = ambit__module_load(family, why, sizeof why);
  if (!kind) return no_module(errors, l, family, why);
  AMBIT_TRY(kind->open(errors, communicator, net));
  if (communicator || (*net)->size > 1 || l->size <= 1) return AMBIT_OK;
  memcpy(name, (*net)->name, sizeof name);
  ambit__net_close(*net);
  *net = NULL;
  return not_joined(errors, l, name);
}

ambit_status ambit__net_open(ambit__errors *errors, const char *how, const void *communicator,
                             ambit__net **net)
{
  static const char *const words[] = {"auto", "off", "on", "openmpi", "mpich", NULL};
  const ambit__launcher l = ambit__launcher_find();
  const bool ask = !strcmp(how, "auto"), off = !strcmp(how, "off");
  const char *family = l.family;
  ambit__inside inside;

  *net = NULL;
  AMBIT_CHECK(is_one_of(how, words), errors, AMBIT_EOPTION,
              "mpi=%s: it must be auto, off, on, openmpi or mpich", how);
  AMBIT_CHECK(!off || !communicator, errors, AMBIT_EOPTION,
              "mpi=off, but the program hands over a communicator; let mpi be auto, or open the "
              "context without one");
  ambit__inside_find(&inside);
  if (off || (ask && !communicator && !inside.running && (!l.name || l.size == 1)))
    return ambit__net_alone.open(errors, NULL, net);
  if (!ask && strcmp(how, "on")) family = how;
  if (inside.loaded) {
    AMBIT_CHECK(inside.family, errors, AMBIT_EPROCESS,
                "the program uses %s; Ambit talks to Open MPI and to MPICH and its kin",
                inside.version);
    family = inside.family;
  }
  return open_mpi(errors, &l, family, communicator, net);
}
