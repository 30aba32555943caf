/* SPDX-License-Identifier: BSD-3-Clause */
/* The fault record, written by a checked kernel for the runtime. 64-bit numbers; the library and
 * generated code of every language share this text. In builds with access checks, limits follow the
 * record (limits.h). */
enum {
  AMBIT_FAULT_LOCK,   /* 0: free */
  AMBIT_FAULT_KIND,   /* one of the kinds below; 0: no fault */
  AMBIT_FAULT_ACCESS, /* number of the read or write, as nest/checked.h counts them */
  AMBIT_FAULT_SET,    /* NaN: position in the text of the assignment, offset + 1 */
  AMBIT_FAULT_SOURCE, /* NaN: lowest number of a read that returned NaN, or -1 */
  AMBIT_FAULT_POISON, /* NaN: the value read was never initialised */
  AMBIT_FAULT_CELL,   /* global index, AMBIT_FAULT_AXES numbers */
  AMBIT_FAULT_AXES = 6,
  AMBIT_FAULT_WORDS = AMBIT_FAULT_CELL + AMBIT_FAULT_AXES,

  AMBIT_FAULT_NAN = 1 /* kinds: NaN was written */
};

/* The initial contents of memory with the option nan: a NaN that arithmetic does not produce. */
#define AMBIT_POISON_F16  0x7ee5u
#define AMBIT_POISON_BF16 0x7fe5u
#define AMBIT_POISON_F32  0x7fe5e5e5u
#define AMBIT_POISON_F64  0x7ffce5e5e5e5e5e5ul
