/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that initialised MPI itself and passes a communicator: Ambit joins with the same MPI,
 * uses a duplicate, and leaves MPI_Finalize to the program. */
#include "net_test.h"

#include <mpi.h>

static int rank, size;

static void a_running_mpi_is_joined_without_being_asked(void)
{
  ambit__net *net = NULL;

  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "auto", 0, NULL, &net));
  if (!net) return;
  CHECK(net->rank == rank && net->size == size);
  CHECK_EQ(AMBIT_OK, ambit__net_barrier(net));
  ambit__net_close(net);
}

/* The processes in reverse order, without the last: ranks are those of the communicator, not of the
 * world. */
static void a_communicator_of_some_processes_is_all_there_is(void)
{
  const int mine = size > 1 && rank == size - 1 ? MPI_UNDEFINED : 0;
  int32_t all[64], me = rank;
  ambit__net *net = NULL;
  MPI_Comm some;

  MPI_Comm_split(MPI_COMM_WORLD, mine, -rank, &some);
  if (mine == MPI_UNDEFINED) {
    CHECK_EQ(AMBIT_EINVAL, ambit__net_open(&errors, "auto", 0, &some, &net));
    CHECK(strstr(errors.text, "MPI_COMM_NULL"));
    ambit__errors_clear(&errors);
    return;
  }
  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "auto", 0, &some, &net));
  MPI_Comm_free(&some); /* Ambit uses its own duplicate */
  if (!net) return;
  CHECK_EQ(size > 1 ? size - 1 : 1, net->size);
  CHECK_EQ(AMBIT_OK, ambit__net_gather(net, &me, sizeof me, all));
  for (int p = 0; p < net->size; p++)
    CHECK_EQ(net->size - 1 - p, all[p]);
  ambit__net_close(net);
}

/* The program asks for single processes here; this is not an error. */
static void a_communicator_of_one_process_is_not_a_mistake(void)
{
  MPI_Comm self = MPI_COMM_SELF;
  ambit__net *net = NULL;

  CHECK_EQ(AMBIT_OK, ambit__net_open(&errors, "auto", 0, &self, &net));
  if (!net) return;
  CHECK_EQ(1, net->size);
  ambit__net_close(net);
}

static void the_users_error_handlers_stay(void)
{
  MPI_Errhandler handler;

  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  CHECK(handler == MPI_ERRORS_ARE_FATAL);
}

static void after_its_end_mpi_cannot_be_used(void)
{
  ambit__net *net = NULL;

  MPI_Finalize();
  CHECK_EQ(AMBIT_EPROCESS, ambit__net_open(&errors, "auto", 0, NULL, &net));
  CHECK(strstr(errors.text, "MPI_Finalize"));
  ambit__errors_clear(&errors);
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  const test_case tests[] = {T(a_running_mpi_is_joined_without_being_asked),
                             T(a_communicator_of_some_processes_is_all_there_is),
                             T(a_communicator_of_one_process_is_not_a_mistake),
                             T(the_users_error_handlers_stay),
                             T(after_its_end_mpi_cannot_be_used),
                             {NULL, NULL}};

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return test_main(1, argv, tests);
}
