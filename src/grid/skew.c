/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/skew.h"

static void at_least(int64_t *a, int64_t b)
{
  if (*a < b) *a = b;
}

static ambit__skew skew_of(const ambit__access *accesses, int n, const int64_t *unit,
                           const ambit__skew_buffer *buffers)
{
  ambit__skew s = {{0}, {0}};

  for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
    for (int i = 0; i < n; i++) {
      const ambit__access *a = &accesses[i];
      const ambit__skew_buffer *b = &buffers[a->buffer];
      const ambit__skew *least = a->writes ? &b->to_write : &b->to_read;

      if (!(a->writes ? b->used : b->written)) continue;
      at_least(&s.lag[d], least->lag[d] + a->high[d]);
      at_least(&s.lead[d], least->lead[d] + a->low[d]);
    }
    s.lag[d] = (s.lag[d] + unit[d] - 1) / unit[d] * unit[d];
  }
  return s;
}

ambit__skew ambit__skew_next(const ambit__access *accesses, int n, const int64_t *unit,
                             ambit__skew_buffer *buffers)
{
  const ambit__skew s = skew_of(accesses, n, unit, buffers);

  for (int i = 0; i < n; i++) {
    const ambit__access *a = &accesses[i];
    ambit__skew_buffer *b = &buffers[a->buffer];

    b->used = true;
    b->written |= a->writes;
    for (int d = 0; d < AMBIT_MAX_DIMS; d++) {
      at_least(&b->to_write.lag[d], s.lag[d] + a->low[d]);
      at_least(&b->to_write.lead[d], s.lead[d] + a->high[d]);
      if (!a->writes) continue;
      at_least(&b->to_read.lag[d], s.lag[d] + a->low[d]);
      at_least(&b->to_read.lead[d], s.lead[d] + a->high[d]);
    }
  }
  return s;
}
