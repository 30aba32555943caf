/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.c - work of a queue that is recorded, and run again at once. */
#include "device/gpu/gpu.h"

#include "base/memory.h"

#include <stdlib.h>

struct ambit__recording {
  const ambit__gpu_driver *driver;
  ambit__gpu_recording *recording;
};

ambit_status ambit__gpu_record(ambit__queue *q)
{
  return ambit__gpu_device_of(q->device)->driver->record(((ambit__gpu_lane *)q)->queue);
}

ambit_status ambit__gpu_recorded(ambit__queue *q, ambit__recording **out)
{
  const ambit__gpu_driver *driver = ambit__gpu_device_of(q->device)->driver;
  ambit__gpu_recording *recording;
  ambit__recording *r;

  *out = NULL;
  AMBIT_TRY(driver->recorded(((ambit__gpu_lane *)q)->queue, &recording));
  r = ambit__new(q->device->errors, 1, sizeof *r);
  if (!r) {
    driver->recording_close(recording);
    return AMBIT_ENOMEM;
  }
  *r = (ambit__recording){driver, recording};
  *out = r;
  return AMBIT_OK;
}

ambit_status ambit__gpu_replay(ambit__queue *q, ambit__recording *r)
{
  return r->driver->replay(((ambit__gpu_lane *)q)->queue, r->recording);
}

void ambit__gpu_recording_close(ambit__recording *r)
{
  if (!r) return;
  r->driver->recording_close(r->recording);
  free(r);
}
