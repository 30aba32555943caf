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

void ambit_stream_destroy(ambit_stream *s)
{
  (void)s;
}

ambit_status ambit_stream_before(ambit_stream *s, ambit_program *p)
{
  (void)s;
  (void)p;
  return AMBIT_EINVAL;
}

ambit_status ambit_stream_repeat(ambit_stream *s, int64_t iterations)
{
  (void)s;
  (void)iterations;
  return AMBIT_EINVAL;
}

ambit_status ambit_stream_repeat_until(ambit_stream *s, ambit_scalar *x, ambit_condition when,
                                       double value, int64_t most)
{
  (void)s;
  (void)x;
  (void)when;
  (void)value;
  (void)most;
  return AMBIT_EINVAL;
}

ambit_status ambit_stream_in_flight(ambit_stream *s, int64_t items)
{
  (void)s;
  (void)items;
  return AMBIT_EINVAL;
}

ambit_status ambit_stream_planes(ambit_stream *s, ambit_planes planes)
{
  (void)s;
  (void)planes;
  return AMBIT_EINVAL;
}

ambit_status ambit_stream_run_with(ambit_stream *s, ambit_source_fn source, ambit_sink_fn sink,
                                   void *user)
{
  (void)s;
  (void)source;
  (void)sink;
  (void)user;
  return AMBIT_EINVAL;
}

ambit_status ambit_stream_run(ambit_stream *s, const char *in, const char *out)
{
  (void)s;
  (void)in;
  (void)out;
  return AMBIT_EINVAL;
}

void ambit_stream_stop(ambit_stream *s)
{
  (void)s;
}

int64_t ambit_stream_items(const ambit_stream *s)
{
  (void)s;
  return 0;
}

int64_t ambit_stream_unmet(const ambit_stream *s)
{
  (void)s;
  return 0;
}
