/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_messages.c - calls of MPI that fail: part of the MPI module made for starved.c.
 *
 * A message or a collective operation that fails to begin was not begun. One that fails to complete
 * has completed in MPI, and only this process has the error. MPI_Test counts when it completes a
 * request, so that the number of calls does not depend on time.
 */
#include <mpi.h>

#include <stdbool.h>

bool starved_loses(bool completes); /* starved.c */

/* name, parameters, arguments; of a call that begins */
#define WRAP(name, params, args)                                                                   \
  int __real_##name params;                                                                        \
  int __wrap_##name params;                                                                        \
  int __wrap_##name params                                                                         \
  {                                                                                                \
    return starved_loses(false) ? MPI_ERR_OTHER : __real_##name args;                              \
  }
WRAP(MPI_Isend,
     (const void *from, int n, MPI_Datatype type, int to, int tag, MPI_Comm c, MPI_Request *r),
     (from, n, type, to, tag, c, r))
WRAP(MPI_Irecv, (void *to, int n, MPI_Datatype type, int from, int tag, MPI_Comm c, MPI_Request *r),
     (to, n, type, from, tag, c, r))
WRAP(MPI_Iallgather,
     (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype types, MPI_Comm c,
      MPI_Request *r),
     (from, n, type, to, m, types, c, r))
WRAP(MPI_Ibcast, (void *bytes, int n, MPI_Datatype type, int root, MPI_Comm c, MPI_Request *r),
     (bytes, n, type, root, c, r))

int __real_MPI_Test(MPI_Request *r, int *done, MPI_Status *st);
int __wrap_MPI_Test(MPI_Request *r, int *done, MPI_Status *st);

int __wrap_MPI_Test(MPI_Request *r, int *done, MPI_Status *st)
{
  const int code = __real_MPI_Test(r, done, st);

  return code == MPI_SUCCESS && *done && starved_loses(true) ? MPI_ERR_OTHER : code;
}
