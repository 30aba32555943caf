/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.c - pinned host memory for copies in and out: a few pieces, used in turn.
 *
 * If the copy of a piece is not complete when its turn comes again, the host waits for it. So a
 * copy of any size needs little memory, and the host fills or empties one piece while the device
 * moves the others.
 */
#include "device/gpu/gpu.h"

#include <string.h>

static ambit_status provide(ambit__gpu_device *d, ambit__gpu_staging *s, bool device)
{
  void *host;

  if (!s->done) AMBIT_TRY(d->driver->event_open(d->gpu, false, &s->done));
  if (!s->host) {
    AMBIT_TRY(d->driver->host_alloc(d->gpu, AMBIT__STAGE_BYTES, &host));
    s->host = host;
  }
  if (device && !s->device) return d->driver->alloc(d->gpu, AMBIT__STAGE_BYTES, &s->device);
  return AMBIT_OK;
}

ambit_status ambit__gpu_staging_take(ambit__gpu_lane *lane, bool device,
                                     ambit__gpu_staging **staging)
{
  ambit__gpu_device *d = lane->device;
  ambit__gpu_staging *s = &lane->staging[lane->next];

  if (s->done) AMBIT_TRY(d->driver->event_sync(s->done));
  AMBIT_TRY(provide(d, s, device));
  lane->next = (lane->next + 1) % AMBIT__GPU_STAGING;
  *staging = s;
  return AMBIT_OK;
}

ambit_status ambit__gpu_staging_pass(ambit__gpu_lane *lane, ambit__gpu_staging *staging)
{
  return lane->driver->event_record(staging->done, lane->queue);
}

ambit_status ambit__gpu_fetch(ambit__gpu_lane *lane, void *to, const ambit__gpu_memory *from,
                              size_t bytes)
{
  const ambit__gpu_driver *driver = lane->driver;
  ambit__gpu_staging *staging;

  for (size_t at = 0, n; at < bytes; at += n) {
    n = bytes - at < AMBIT__STAGE_BYTES ? bytes - at : AMBIT__STAGE_BYTES;
    AMBIT_TRY(ambit__gpu_staging_take(lane, false, &staging));
    AMBIT_TRY(driver->copy_out(lane->queue, staging->host, from, at, n));
    AMBIT_TRY(ambit__gpu_staging_pass(lane, staging));
    AMBIT_TRY(driver->event_sync(staging->done));
    memcpy((unsigned char *)to + at, staging->host, n);
  }
  return AMBIT_OK;
}

void ambit__gpu_staging_free(ambit__gpu_lane *lane)
{
  ambit__gpu_device *d = lane->device;

  for (int i = 0; i < AMBIT__GPU_STAGING; i++) {
    ambit__gpu_staging *s = &lane->staging[i];

    if (s->done) d->driver->event_close(s->done);
    if (s->host) d->driver->host_release(d->gpu, s->host);
    if (s->device) d->driver->release(s->device);
  }
}
