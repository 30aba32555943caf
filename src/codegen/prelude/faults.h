/* The fault record: what a checked kernel leaves for the runtime, and what it is told. 64-bit numbers; the library and
 * generated code of every language share this text. After the record come, for each parameter of the kernel, the limits
 * within which a field may be touched. */
enum {
  AMBIT_FAULT_LOCK,   /* 0: free */
  AMBIT_FAULT_KIND,   /* one of the kinds below; 0: nothing happened */
  AMBIT_FAULT_ACCESS, /* number of the read or write, as plan/checked.h counts them */
  AMBIT_FAULT_SET,    /* NaN: where in the text the value was set, offset + 1 */
  AMBIT_FAULT_SOURCE, /* NaN: least number of a read that gave one, or -1 */
  AMBIT_FAULT_POISON, /* NaN: that one was never given a value */
  AMBIT_FAULT_CELL,   /* global index, AMBIT_FAULT_AXES numbers */
  AMBIT_FAULT_AXES = 6,
  AMBIT_FAULT_WORDS = AMBIT_FAULT_CELL + AMBIT_FAULT_AXES, /* here the limits begin */

  AMBIT_LIMIT_FIRST = 0, /* first element of the memory, counted from cell 0, 0, ... of the part */
  AMBIT_LIMIT_END = 1,   /* and one past its last */
  AMBIT_LIMIT_READ_LO = 2, /* cells that may be read, global: AMBIT_FAULT_AXES numbers each */
  AMBIT_LIMIT_READ_HI = AMBIT_LIMIT_READ_LO + AMBIT_FAULT_AXES,
  AMBIT_LIMIT_WRITE_LO = AMBIT_LIMIT_READ_HI + AMBIT_FAULT_AXES, /* cells that may be written */
  AMBIT_LIMIT_WRITE_HI = AMBIT_LIMIT_WRITE_LO + AMBIT_FAULT_AXES,
  AMBIT_LIMIT_WORDS = AMBIT_LIMIT_WRITE_HI + AMBIT_FAULT_AXES, /* per parameter */

  AMBIT_FAULT_READ = 1, /* kinds: a read outside the limits */
  AMBIT_FAULT_WRITE,    /* a write outside the limits */
  AMBIT_FAULT_NAN       /* NaN was written */
};

/* What memory that nobody gave a value holds when NaN is looked for: NaN of a kind that no arithmetic makes. */
#define AMBIT_POISON_F32 0x7fe5e5e5u
#define AMBIT_POISON_F64 0x7ffce5e5e5e5e5e5ul
