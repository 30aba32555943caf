/* SPDX-License-Identifier: BSD-3-Clause */
/* The fault record, written by a checked kernel for the runtime. 64-bit numbers; the library and
 * generated code of every language share this text. After the record come the limits of each
 * parameter of the kernel: the cells of a field that may be accessed. */
enum {
  AMBIT_FAULT_LOCK,   /* 0: free */
  AMBIT_FAULT_KIND,   /* one of the kinds below; 0: no fault */
  AMBIT_FAULT_ACCESS, /* number of the read or write, as plan/checked.h counts them */
  AMBIT_FAULT_SET,    /* NaN: position in the text of the assignment, offset + 1 */
  AMBIT_FAULT_SOURCE, /* NaN: lowest number of a read that returned NaN, or -1 */
  AMBIT_FAULT_POISON, /* NaN: the value read was never initialised */
  AMBIT_FAULT_CELL,   /* global index, AMBIT_FAULT_AXES numbers */
  AMBIT_FAULT_AXES = 6,
  AMBIT_FAULT_WORDS = AMBIT_FAULT_CELL + AMBIT_FAULT_AXES, /* the limits begin here */

  AMBIT_LIMIT_FIRST = 0, /* first element of the memory, relative to cell 0, 0, ... of the part */
  AMBIT_LIMIT_END = 1,   /* one past the last element */
  AMBIT_LIMIT_READ_LO =
      2, /* cells that may be read, global indices: AMBIT_FAULT_AXES numbers each */
  AMBIT_LIMIT_READ_HI = AMBIT_LIMIT_READ_LO + AMBIT_FAULT_AXES,
  AMBIT_LIMIT_WRITE_LO = AMBIT_LIMIT_READ_HI + AMBIT_FAULT_AXES, /* cells that may be written */
  AMBIT_LIMIT_WRITE_HI = AMBIT_LIMIT_WRITE_LO + AMBIT_FAULT_AXES,
  AMBIT_LIMIT_WORDS = AMBIT_LIMIT_WRITE_HI + AMBIT_FAULT_AXES, /* per parameter */

  AMBIT_FAULT_READ = 1, /* kinds: a read outside the limits */
  AMBIT_FAULT_WRITE,    /* a write outside the limits */
  AMBIT_FAULT_NAN       /* NaN was written */
};

/* The initial contents of memory with the option nan: a NaN that arithmetic does not produce. */
#define AMBIT_POISON_F32 0x7fe5e5e5u
#define AMBIT_POISON_F64 0x7ffce5e5e5e5e5e5ul
