/* SPDX-License-Identifier: BSD-3-Clause */
/* smpi.c - MPI calls of net/mpi.c that SimGrid 3.32 lacks, does wrong, or takes minutes for.
 *
 * Link with -Wl,--wrap=MPI_Is_thread_main,--wrap=MPI_Get_elements_x,--wrap=MPI_Comm_split_type.
 */
#include <mpi.h>

int __wrap_MPI_Is_thread_main(int *flag);
int __wrap_MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype type, MPI_Count *count);
int __wrap_MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part);

/* Every process runs in its main thread; the simulator reports that in process 0 only. */
int __wrap_MPI_Is_thread_main(int *flag)
{
  *flag = 1;
  return MPI_SUCCESS;
}

int __wrap_MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
  int n;
  const int code = MPI_Get_count(status, type, &n);

  *count = n;
  return code;
}

/* No processes share a node: each has its own GPU, so it makes no difference. */
int __wrap_MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part)
{
  (void)comm, (void)type, (void)key, (void)info;
  return MPI_Comm_dup(MPI_COMM_SELF, part);
}
