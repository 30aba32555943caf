/* launcher.c - reading from the environment who started this process, and how many of it. */
#include "net/launcher.h"

#include <limits.h>
#include <stdlib.h>

/* In this order: a step of Slurm may hold an mpirun, and PMIx alone does not tell the size. */
static const struct {
  const char *size, *rank; /* variables; size NULL: this launcher does not tell */
  const char *family, *name;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi", "Open MPI's mpirun"},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "mpich", "MVAPICH's mpirun"},
    {"PMI_SIZE", "PMI_RANK", "mpich", "MPICH's mpirun"}, /* and srun --mpi=pmi2 */
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL, "Slurm's srun"},
    {NULL, "PMIX_RANK", "openmpi", "a launcher that speaks PMIx"},
};

/* A whole number that is not negative; -1 if the variable is not set or is none. */
static int number(const char *variable)
{
  const char *text = variable ? getenv(variable) : NULL;
  char *end;
  long n;

  if (!text || !*text) return -1;
  n = strtol(text, &end, 10);
  return *end || n < 0 || n > INT_MAX ? -1 : (int)n;
}

ambit__launcher ambit__launcher_find(void)
{
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const int size = number(launchers[i].size), rank = number(launchers[i].rank);
    const char *family = launchers[i].family;

    if (launchers[i].size ? size < 1 : rank < 0) continue;
    if (!family && getenv("PMIX_RANK")) family = "openmpi"; /* srun --mpi=pmix */
    return (ambit__launcher){launchers[i].name, family, size < 0 ? 0 : size, rank < 0 ? 0 : rank};
  }
  return (ambit__launcher){0};
}
