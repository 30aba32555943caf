/* SPDX-License-Identifier: BSD-3-Clause */
/* A preloaded shim that makes an MPI accept device memory. It claims that MPI supports it, and
 * copies such messages through host memory. With SHIM_MODE=lie it claims so, and corrupts a bit of
 * every received message. With SHIM_MODE=tell each process prints at its end how many messages it
 * copied. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

enum { MOST = 64, MEMORY_TYPE = 2, DEVICE_MEMORY = 2 };

/* A pending message. */
static struct carried {
  MPI_Request request;
  unsigned char *host; /* NULL: free */
  unsigned long long device;
  size_t bytes;
  int incoming;
} carried[MOST];
static int messages;

static int (*attribute)(void *value, int which, unsigned long long address);
static int (*copy_out)(void *to, unsigned long long from, size_t bytes);
static int (*copy_in)(unsigned long long to, const void *from, size_t bytes);
static int (*synchronize)(void);

static void find(void *library, const char *name, void *function)
{
  void *address = dlsym(library, name);

  memcpy(function, &address, sizeof address);
}

static int is_device(const void *address)
{
  int type = 0;

  if (!attribute) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (!library) return 0;
    find(library, "cuPointerGetAttribute", &attribute);
    find(library, "cuMemcpyDtoH_v2", &copy_out);
    find(library, "cuMemcpyHtoD_v2", &copy_in);
    find(library, "cuCtxSynchronize", &synchronize);
  }
  return !attribute(&type, MEMORY_TYPE, (unsigned long long)(size_t)address) &&
         type == DEVICE_MEMORY;
}

static struct carried *take(const void *address, int count, MPI_Datatype type, int incoming)
{
  struct carried *c = carried;
  int size = 1;

  PMPI_Type_size(type, &size);
  while (c->host)
    c++; /* more than any test has pending */
  *c = (struct carried){.device = (unsigned long long)(size_t)address, .incoming = incoming};
  c->bytes = (size_t)count * (size_t)size;
  c->host = malloc(c->bytes + 1);
  messages++;
  return c;
}

static int mode_is(const char *word)
{
  const char *mode = getenv("SHIM_MODE");

  return mode && !strcmp(mode, word);
}

int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
  return 1;
}

int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  struct carried *c;
  int code;

  if (!is_device(bytes)) return PMPI_Isend(bytes, count, type, to, tag, comm, request);
  c = take(bytes, count, type, 0);
  copy_out(c->host, c->device, c->bytes);
  code = PMPI_Isend(c->host, count, type, to, tag, comm, request);
  c->request = *request;
  return code;
}

int MPI_Irecv(void *bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  struct carried *c;
  int code;

  if (!is_device(bytes)) return PMPI_Irecv(bytes, count, type, from, tag, comm, request);
  c = take(bytes, count, type, 1);
  code = PMPI_Irecv(c->host, count, type, from, tag, comm, request);
  c->request = *request;
  return code;
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
  const MPI_Request was = *request;
  const int code = PMPI_Test(request, done, status);

  for (int i = 0; code == MPI_SUCCESS && *done && i < MOST; i++) {
    struct carried *c = &carried[i];

    if (!c->host || c->request != was) continue;
    if (c->incoming && mode_is("lie")) c->host[c->bytes / 2] ^= 4;
    if (c->incoming) {
      copy_in(c->device, c->host, c->bytes);
      synchronize(); /* from pageable memory it may return before the copy is complete */
    }
    free(c->host);
    c->host = NULL;
    break;
  }
  return code;
}

int MPI_Finalize(void)
{
  if (mode_is("tell")) fprintf(stderr, "shim: %d messages\n", messages);
  return PMPI_Finalize();
}
