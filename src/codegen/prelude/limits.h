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
  AMBIT_FAULT_WRITE     /* a write outside the limits */
};
