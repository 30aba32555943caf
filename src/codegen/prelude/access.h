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

/* Where to read: there, or where it does no harm. */
AMBIT_INLINE ambit_i64 ambit_place(ambit_fault *f, int access, int inside, ambit_i64 place,
                                   ambit_i64 first, ambit_i64 end)
{
  return ambit_may(f, AMBIT_FAULT_READ, access, inside, place, first, end) ? place : first;
}
