/* SPDX-License-Identifier: BSD-3-Clause */
/* no_stream.c - the calls of streams in a build without them (AMBIT_STREAMS=OFF): no stream can be
 * created, with an error that says why, and the other calls get NULL.
 */
#include "ambit_stream.h"
#include "runtime/run/run.h"

ambit_stream *ambit_stream_create(ambit_program *p, ambit_field *in, ambit_field *out)
{
  (void)in;
  (void)out;
  if (p && !ambit__failed(p->grid->context))
    (void)ambit__raise(&p->grid->context->errors, AMBIT_EUNSUPPORTED,
                       "this libambit has no streams: it was configured with AMBIT_STREAMS=OFF");
  return NULL;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A call that does nothing. */
#define NOTHING(result, name, value, ...)                                                          \
  result ambit_stream_##name(__VA_ARGS__)                                                          \
  {                                                                                                \
    return value;                                                                                  \
  }
NOTHING(void, destroy, , ambit_stream *s)
NOTHING(ambit_status, before, AMBIT_EINVAL, ambit_stream *s, ambit_program *p)
NOTHING(ambit_status, repeat, AMBIT_EINVAL, ambit_stream *s, int64_t iterations)
NOTHING(ambit_status, repeat_until, AMBIT_EINVAL, ambit_stream *s, ambit_scalar *x,
        ambit_condition when, double value, int64_t most)
NOTHING(ambit_status, in_flight, AMBIT_EINVAL, ambit_stream *s, int64_t items)
NOTHING(ambit_status, planes, AMBIT_EINVAL, ambit_stream *s, ambit_planes planes)
NOTHING(ambit_status, run_with, AMBIT_EINVAL, ambit_stream *s, ambit_source_fn source,
        ambit_sink_fn sink, void *user)
NOTHING(ambit_status, run, AMBIT_EINVAL, ambit_stream *s, const char *in, const char *out)
NOTHING(void, stop, , ambit_stream *s)
NOTHING(int64_t, items, 0, const ambit_stream *s)
NOTHING(int64_t, unmet, 0, const ambit_stream *s)
#pragma GCC diagnostic pop
