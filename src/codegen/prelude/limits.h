/* SPDX-License-Identifier: BSD-3-Clause */
/* Access checks: the limits within which a launch may touch each field. They follow the fault
 * record (faults.h), for each parameter of the kernel; the library and generated code of every
 * language share this text. */
enum {
  AMBIT_LIMIT_FIRST = 0, /* first element of the memory, counted from cell 0, 0, ... of the part */
  AMBIT_LIMIT_END = 1,   /* and one past its last */
  AMBIT_LIMIT_READ_LO = 2, /* cells that may be read, global: AMBIT_FAULT_AXES numbers each */
  AMBIT_LIMIT_READ_HI = AMBIT_LIMIT_READ_LO + AMBIT_FAULT_AXES,
  AMBIT_LIMIT_WRITE_LO = AMBIT_LIMIT_READ_HI + AMBIT_FAULT_AXES, /* cells that may be written */
  AMBIT_LIMIT_WRITE_HI = AMBIT_LIMIT_WRITE_LO + AMBIT_FAULT_AXES,
  AMBIT_LIMIT_WORDS = AMBIT_LIMIT_WRITE_HI + AMBIT_FAULT_AXES, /* per parameter */

  AMBIT_FAULT_READ = 2, /* kinds: a read outside the limits */
  AMBIT_FAULT_WRITE,    /* a write outside the limits */

  /* On a sparse grid a table of positions follows the limits of all parameters that there can be:
   * the number of positions, and for each the number of its cell in the box, row-major, or: */
  AMBIT_PLACE_NONE = -1,     /* nothing is kept there */
  AMBIT_PLACE_INACTIVE = -2, /* the value of inactive cells */
  AMBIT_PLACE_FACE = -3      /* the value of cells beyond a face */
};
