/* The fault record: what a checked kernel leaves for the runtime, and what it is told. 64-bit numbers; the library and
 * generated code of every language share this text. In builds with access checks, limits follow the record (limits.h). */
enum {
  AMBIT_FAULT_LOCK,   /* 0: free */
  AMBIT_FAULT_KIND,   /* one of the kinds below; 0: nothing happened */
  AMBIT_FAULT_ACCESS, /* number of the read or write, as plan/checked.h counts them */
  AMBIT_FAULT_SET,    /* NaN: where in the text the value was set, offset + 1 */
  AMBIT_FAULT_SOURCE, /* NaN: least number of a read that gave one, or -1 */
  AMBIT_FAULT_POISON, /* NaN: that one was never given a value */
  AMBIT_FAULT_CELL,   /* global index, AMBIT_FAULT_AXES numbers */
  AMBIT_FAULT_AXES = 6,
  AMBIT_FAULT_WORDS = AMBIT_FAULT_CELL + AMBIT_FAULT_AXES,

  AMBIT_FAULT_NAN = 1 /* kinds: NaN was written */
};

/* What memory that nobody gave a value holds when NaN is looked for: NaN of a kind that no arithmetic makes. */
#define AMBIT_POISON_F32 0x7fe5e5e5u
#define AMBIT_POISON_F64 0x7ffce5e5e5e5e5e5ul
