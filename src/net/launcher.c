/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c - detects the launcher and the number of processes from environment variables. */
#include "net/launcher.h"

#include <limits.h>
#include <stdlib.h>

/* The order matters: a Slurm step may contain an mpirun, and PMIx alone does not give the size. */
static const struct {
  const char *size, *rank; /* variable names; size NULL: not given by this launcher */
  const char *family, *name;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi", "Open MPI's mpirun"},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "mpich", "MVAPICH's mpirun"},
    {"PMI_SIZE", "PMI_RANK", "mpich", "MPICH's mpirun"}, /* and srun --mpi=pmi2 */
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL, "Slurm's srun"},
    {NULL, "PMIX_RANK", "openmpi", "a PMIx launcher"},
};

/* The value of a variable as a non-negative integer; -1 if it is not set or not a number. */
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
