/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.h - for tests of devices that hold several parts of a grid: a device, random parts, and
 * twins.
 *
 * A twin is a store on the device and the same store in the test's own memory, where all operations
 * run value by value. Whole buffers are compared, so that no other byte may change.
 */
#ifndef AMBIT_TEST_PARTS_H
#define AMBIT_TEST_PARTS_H

#include "device/driven.h"
#include "device/host.h"
#include "support/devices.h"
#include "support/draw.h"
#include "support/test.h"

#include <stdlib.h>

enum { MOST_PARTS = 4 };

/* ---- the device under test ---- */

static const ambit__backend *backend;
static ambit__errors errors;
static ambit__settings settings = {
    .cache = "none", .dump = "", .devices = "", .threads = 3, .verbose = -1};
static ambit__device *device;
static ambit__queue *queue;
static ambit__device host = {.errors = &errors, .settings = &settings};

/* Driven: by a thread of its own. */
static void open_device(const char *name, bool drive)
{
  backend = ambit__backend_find(&errors, name, strlen(name));
  if (drive ? ambit__driven_open(backend, &errors, &settings, 0, &device)
            : backend->open(&errors, &settings, 0, &device)) {
    printf("Bail out! %s\n", errors.text);
    exit(EXIT_FAILURE);
  }
  backend = device->backend;
  CHECK_EQ(AMBIT_OK, ambit__ask(device, queue_open, false, &queue));
}

static void close_device(void)
{
  CHECK_MSG(!errors.status, "%s: %s", backend->name, errors.text);
  ambit__ask(queue->device, queue_close, queue);
  backend->close(device);
  ambit__errors_clear(&errors);
}

static void on_device(const char *name, bool drive, void (*test)(void))
{
  open_device(name, drive);
  CHECK(ambit__can(backend, pack) && ambit__can(backend, ghosts));
  test();
  close_device();
}

/* Runs a test on every device here that can hold several parts, and on cores driven by a thread. */
static void on_each_device(void (*test)(void))
{
  EACH_DEVICE(name)
  {
    if (!strcmp(*name, "ref")) continue; /* one part only */
    on_device(*name, false, test);
  }
  on_device("cpu", true, test);
}

/* Cuts one box into n, some of which may be empty. */
static void draw_cuts(const ambit__box *whole, int n, ambit__box *parts)
{
  parts[0] = *whole;
  for (int i = 1; i < n; i++) {
    ambit__box *p = &parts[draw(i)];
    int axis = (int)draw(p->ndims);
    int64_t at = p->lo[axis] + draw(p->hi[axis] - p->lo[axis] + 1);

    parts[i] = *p;
    p->hi[axis] = parts[i].lo[axis] = at;
  }
}

/* ---- twins ---- */

typedef struct twin {
  ambit__store there, here;
} twin;

/* From a layout without the values that ambit__layout_make fills in; filled with random bytes. */
static twin new_twin(ambit__layout layout)
{
  twin t;

  CHECK(ambit__layout_make(&layout));
  t.there.layout = t.here.layout = layout;
  CHECK_EQ(AMBIT_OK, ambit__host_alloc(&host, layout.bytes, NULL, &t.here.buffer));
  CHECK_EQ(AMBIT_OK, ambit__ask(device, alloc, layout.bytes, &layout, &t.there.buffer));
  draw_bytes(ambit__host_base(t.here.buffer), layout.bytes);
  CHECK_EQ(AMBIT_OK,
           ambit__do(queue, put, t.there.buffer, ambit__host_base(t.here.buffer), layout.bytes));
  return t;
}

static void free_twin(twin *t)
{
  ambit__host_release(&host, t->here.buffer);
  ambit__ask(device, release, t->there.buffer);
}

static bool is_the_same(const twin *t)
{
  const size_t bytes = t->here.layout.bytes;
  unsigned char *got = malloc(bytes);
  bool same;

  CHECK_EQ(AMBIT_OK, ambit__do(queue, get, got, t->there.buffer, bytes));
  same = !memcmp(got, ambit__host_base(t->here.buffer), bytes);
  free(got);
  return same;
}

#endif
