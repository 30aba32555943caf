/* SPDX-License-Identifier: BSD-3-Clause */
/* The call of a function that Ambit compiles itself; the library and generated code share this
 * text. Registered functions see its head alone, and so does generated code that needs no more. */
typedef struct ambit_full_call {
  ambit_compiled_call call;
  int64_t *faults; /* the record of a checked launch; NULL: there is none */
  /* on a sparse grid, in place of the box: some chunks of a table (grid/chunks.h) */
  const int32_t *chunks;
  const int64_t *cells; /* by chunk: the number of its first cell in the box */
  int64_t first, end;
} ambit_full_call;
