/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher of this process is detected from the environment. A process without a launcher runs
 * alone; a launched process that cannot join the others reports an error. */
#include "net_test.h"

#include "net/launcher.h"

#include <stdlib.h>

static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "MV2_COMM_WORLD_SIZE",
                                        "MV2_COMM_WORLD_RANK",
                                        "PMI_SIZE",
                                        "PMI_RANK",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_PROCID",
                                        "PMIX_RANK"};

/* The environment of a process started without a launcher. */
static void clear(void)
{
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    unsetenv(variables[i]);
}

static ambit__launcher started(const char *size_name, const char *size, const char *rank_name,
                               const char *rank)
{
  clear();
  if (size_name) setenv(size_name, size, 1);
  if (rank_name) setenv(rank_name, rank, 1);
  return ambit__launcher_find();
}

static void by_hand_nobody_started_it(void)
{
  clear();
  CHECK(!ambit__launcher_find().name);
}

static void every_launcher_tells_size_and_rank(void)
{
  ambit__launcher l = started("OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "3");

  CHECK_STR("openmpi", l.family);
  CHECK(l.size == 4 && l.rank == 3);
  l = started("PMI_SIZE", "2", "PMI_RANK", "1");
  CHECK_STR("mpich", l.family);
  CHECK(l.size == 2 && l.rank == 1);
  l = started("SLURM_STEP_NUM_TASKS", "8", "SLURM_PROCID", "0");
  CHECK(!l.family && l.size == 8 && l.rank == 0);
  setenv("PMIX_RANK", "0", 1);
  CHECK_STR("openmpi", ambit__launcher_find().family);
}

static void pmix_alone_does_not_tell_the_size(void)
{
  ambit__launcher l = started(NULL, NULL, "PMIX_RANK", "2");

  CHECK(l.name && l.size == 0 && l.rank == 2);
}

static void what_is_no_number_counts_as_not_set(void)
{
  CHECK(!started("PMI_SIZE", "many", NULL, NULL).name);
  CHECK(!started("PMI_SIZE", "", NULL, NULL).name);
  CHECK(!started("PMI_SIZE", "-2", NULL, NULL).name);
  CHECK(!started("SLURM_PROCID", "0", NULL, NULL).name); /* a batch script, not a step */
}

/* ---- opening ---- */

static void one_process_is_alone(void)
{
  ambit__net *net = NULL;
  double mine = 2.5, all = 0;
  ambit__request r;

  clear();
  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "auto", 0, NULL, &net));
  if (!net) return;
  CHECK_STR("alone", net->name);
  CHECK(net->rank == 0 && net->size == 1 && net->local_rank == 0 && net->local_size == 1);
  CHECK_EQ(AMBIT_OK, ambit__net_gather(net, &mine, sizeof mine, &all));
  CHECK(all == 2.5);
  CHECK_EQ(AMBIT_OK, ambit__net_broadcast(net, 0, &mine, sizeof mine));
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
  CHECK_EQ(AMBIT_OK, ambit__net_agree(net));
  ambit__net_poll(net);
  CHECK_EQ(AMBIT_EINVAL, ambit__net_send(net, 0, 0, &mine, sizeof mine, &r));
  CHECK_EQ(AMBIT_EINVAL, ambit__net_agree(net));
  ambit__errors_clear(&errors);
  ambit__net_close(net);
}

static void a_launcher_of_one_process_needs_no_mpi(void)
{
  ambit__net *net = NULL;

  started("OMPI_COMM_WORLD_SIZE", "1", "OMPI_COMM_WORLD_RANK", "0");
  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "auto", 0, NULL, &net));
  CHECK_STR("alone", net->name);
  ambit__net_close(net);
}

static void mpi_off_is_alone_whoever_started_it(void)
{
  ambit__net *net = NULL;
  int communicator = 0;

  started("OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "0");
  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "off", 0, NULL, &net));
  CHECK_STR("alone", net->name);
  ambit__net_close(net);
  CHECK_EQ(AMBIT_EOPTION, ambit__net_open(&errors, "off", 0, &communicator, &net));
  CHECK(strstr(errors.text, "mpi=off"));
  ambit__errors_clear(&errors);
}

static void an_unknown_word_is_refused_with_those_there_are(void)
{
  ambit__net *net = NULL;

  CHECK_EQ(AMBIT_EOPTION, ambit__net_open(&errors, "lam", 0, NULL, &net));
  CHECK(strstr(errors.text, "openmpi or mpich"));
  CHECK(!net);
  ambit__errors_clear(&errors);
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  const test_case tests[] = {T(by_hand_nobody_started_it),
                             T(every_launcher_tells_size_and_rank),
                             T(pmix_alone_does_not_tell_the_size),
                             T(what_is_no_number_counts_as_not_set),
                             T(one_process_is_alone),
                             T(a_launcher_of_one_process_needs_no_mpi),
                             T(mpi_off_is_alone_whoever_started_it),
                             T(an_unknown_word_is_refused_with_those_there_are),
                             {NULL, NULL}};

  return test_main(argc, argv, tests);
}
