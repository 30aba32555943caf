/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_messages.c - calls of MPI that fail: part of the MPI module made for starved.c.
 *
 * A message or a collective operation that fails to begin was not begun. One that fails to complete
 * has completed in MPI, and only this process has the error. MPI_Test counts when it completes a
 * request, so that the number of calls does not depend on time.
 */
#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

typedef enum starved_call { BEGINS, COMPLETES, OPENS } starved_call;

bool starved_loses(int call); /* starved.c */

/* name, parameters, arguments, kind of call */
#define WRAP(name, params, args, kind)                                                             \
  int __real_##name params;                                                                        \
  int __wrap_##name params;                                                                        \
  int __wrap_##name params                                                                         \
  {                                                                                                \
    return starved_loses(kind) ? MPI_ERR_OTHER : __real_##name args;                               \
  }
WRAP(MPI_Isend,
     (const void *from, int n, MPI_Datatype type, int to, int tag, MPI_Comm c, MPI_Request *r),
     (from, n, type, to, tag, c, r), BEGINS)
WRAP(MPI_Irecv, (void *to, int n, MPI_Datatype type, int from, int tag, MPI_Comm c, MPI_Request *r),
     (to, n, type, from, tag, c, r), BEGINS)
WRAP(MPI_Iallgather,
     (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype types, MPI_Comm c,
      MPI_Request *r),
     (from, n, type, to, m, types, c, r), BEGINS)
WRAP(MPI_Ibcast, (void *bytes, int n, MPI_Datatype type, int root, MPI_Comm c, MPI_Request *r),
     (bytes, n, type, root, c, r), BEGINS)
WRAP(MPI_Comm_dup, (MPI_Comm c, MPI_Comm *new_c), (c, new_c), OPENS)
WRAP(MPI_Comm_set_errhandler, (MPI_Comm c, MPI_Errhandler h), (c, h), OPENS)
WRAP(MPI_Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm *new_c),
     (c, type, key, info, new_c), OPENS)

int __real_MPI_Iallreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op,
                          MPI_Comm c, MPI_Request *r);
int __wrap_MPI_Iallreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op,
                          MPI_Comm c, MPI_Request *r);
int __real_MPI_Test(MPI_Request *r, int *done, MPI_Status *st);
int __wrap_MPI_Test(MPI_Request *r, int *done, MPI_Status *st);

static MPI_Request *agreement; /* of opening a context */

int __wrap_MPI_Iallreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op,
                          MPI_Comm c, MPI_Request *r)
{
  agreement = r;
  return starved_loses(OPENS) ? MPI_ERR_OTHER : __real_MPI_Iallreduce(from, to, n, type, op, c, r);
}

int __wrap_MPI_Test(MPI_Request *r, int *done, MPI_Status *st)
{
  const int code = __real_MPI_Test(r, done, st);
  const starved_call kind = r == agreement ? OPENS : COMPLETES;

  if (*done && kind == OPENS) agreement = NULL;
  return code == MPI_SUCCESS && *done && starved_loses((int)kind) ? MPI_ERR_OTHER : code;
}
