/* SPDX-License-Identifier: BSD-3-Clause */
/* The greatest values along an axis, for maximum projections (device/gpu/boxes.c).
 *
 * Compiled behind prelude/moves.h, once per size of a value. REAL is the type of real numbers of
 * this size, if there is one in kernels.
 *
 * Values are compared by keys, unsigned numbers in the same order: of whole numbers with a sign the
 * highest bit is inverted, of negative real numbers all bits are. NaN does not count.
 */
#define TOP       ((T)((T)1 << (8 * sizeof(T) - 1)))
#define WITH_SIGN 1
#define IS_REAL   2

/* `kind` of a value: 0 is a whole number without a sign. `infinity`: its bits, if it is real. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_most(FROM_TO, ambit_i64 planes, ambit_i64 apart,
                                                    ambit_i64 kind, ambit_i64 infinity)
{
  EACH_PLACE(T best = 0; int found = 0; for (ambit_i64 k = 0; k < planes; k++) {
    const T bits = from[from_at + k * apart];
    T key = bits;

    if (kind == IS_REAL && (T)(bits & (T)~TOP) > (T)infinity) continue;
    if (kind == WITH_SIGN) key = (T)(bits ^ TOP);
    if (kind == IS_REAL) key = (bits & TOP) != 0 ? (T)~bits : (T)(bits | TOP);
    if (!found || key > best) best = key;
    found = 1;
  } if (kind == WITH_SIGN) best = (T)(best ^ TOP);
             if (kind == IS_REAL) best = (best & TOP) != 0 ? (T)(best ^ TOP) : (T)~best;
             to[to_at] = found ? best : (T)(infinity | 1);)
}

#ifdef REAL
/* The greatest norm of cells of `parts` components, `part` apart, as a REAL. */
KERNEL AMBIT_THREADS(THREADS, 1, 1) void ambit_most_norm(FROM_TO, ambit_i64 planes, ambit_i64 apart,
                                                         ambit_i64 parts, ambit_i64 part)
{
  GLOBAL const REAL *values = (GLOBAL const REAL *)from;
  GLOBAL REAL *norms = (GLOBAL REAL *)to;

  EACH_PLACE(REAL best = -1; for (ambit_i64 k = 0; k < planes; k++) {
    REAL sum = 0;

    for (ambit_i64 c = 0; c < parts; c++) {
      const REAL x = values[from_at + k * apart + c * part];

      sum += x * x;
    }
    if (sum > best) best = sum;
  } norms[to_at] = sqrt(best);) /* of -1: NaN */
}
#endif
