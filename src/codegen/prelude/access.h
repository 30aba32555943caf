/* SPDX-License-Identifier: BSD-3-Clause */
/* Access checks: reads and writes outside the limits are noted, and not made. */
/* Whether an access may be made, if need be after having noted that it may not. */
AMBIT_INLINE int ambit_may(ambit_fault *f, int kind, int access, int inside, ambit_i64 place,
                           ambit_i64 first, ambit_i64 end)
{
  if (inside && place >= first && place < end) return 1;
  if (!f->kind) {
    f->kind = kind;
    f->access = access;
  }
  return 0;
}

/* Whether a position of a sparse grid holds the cell of a number, or its value if it is inactive;
 * AMBIT_PLACE_FACE: a cell beyond a face, which can be any other. */
AMBIT_INLINE int ambit_holds(AMBIT_GLOBAL const ambit_i64 *places, ambit_i64 at, ambit_i64 number)
{
  if (at < 0 || at >= places[0] || places[1 + at] == AMBIT_PLACE_NONE) return 0;
  return number == AMBIT_PLACE_FACE || places[1 + at] == number ||
         places[1 + at] == AMBIT_PLACE_INACTIVE;
}

/* Where to read: there, or where it does no harm. */
AMBIT_FORMULA(ambit_i64, ambit_place,
              (ambit_fault * f, int access, int inside, ambit_i64 place, ambit_i64 first,
               ambit_i64 end),
              ambit_may(f, AMBIT_FAULT_READ, access, inside, place, first, end) ? place : first)
