/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/measure.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "device/cache.h"

#include <stdlib.h>

enum { MOST_BYTES = 1 << 16 };

/* ---- the option ---- */

ambit_status ambit__machine_load(ambit__errors *errors, const char *option, ambit__machine *m)
{
  const ambit__machine *recorded = ambit__machine_recorded(option);
  ambit_status s;
  char *text;

  if (recorded) {
    *m = *recorded;
    return AMBIT_OK;
  }
  AMBIT_CHECK(!ambit__file_read_text(NULL, option, MOST_BYTES, &text), errors, AMBIT_EOPTION,
              "option machine is '%s'; it must be neoverse2, xeon16, xeon64, h200, laptop, or a "
              "file that describes a machine, as `ambit devices` prints it",
              option);
  s = ambit__machine_read(errors, option, text, m);
  free(text);
  return s;
}

/* Takes the description of the option, if it is of the same kind of device. Code is still made for
 * the processor that it runs on. */
static bool take_option(ambit__device *dev)
{
  const ambit__machine own = dev->machine;
  const char *option = dev->settings->machine;
  ambit__machine given = own;

  if (!option || !*option || ambit__machine_load(NULL, option, &given)) return false;
  if (given.is_gpu != own.is_gpu) return false;
  given.vector_bytes = own.vector_bytes;
  given.has_nontemporal = own.has_nontemporal;
  given.memory = own.memory;
  given.available = own.available;
  given.measured = true;
  dev->machine = given;
  return true;
}

/* ---- the note ---- */

/* All that its speeds depend on. */
static ambit__hash hash_of(ambit__device *dev)
{
  const int sharers = dev->settings->sharers > 1 ? dev->settings->sharers : 1;
  const int numbers[] = {dev->machine.cores, sharers, AMBIT_VERSION_MAJOR, AMBIT_VERSION_MINOR,
                         AMBIT_VERSION_PATCH};
  ambit__device_info info = {0};
  ambit__hash h;

  dev->backend->info(dev, &info);
  ambit__hash_init(&h);
  ambit__hash_text(&h, dev->backend->name);
  ambit__hash_text(&h, info.identity);
  ambit__hash_bytes(&h, numbers, sizeof numbers);
  return h;
}

static bool recall(ambit__device *dev)
{
  const ambit__hash h = hash_of(dev);
  char *text = ambit__note_recall(dev->settings, "machine", &h);
  ambit__machine known = dev->machine;
  const bool found = text && !ambit__machine_read(NULL, "", text, &known) && known.measured &&
                     known.cores == dev->machine.cores;

  free(text);
  if (found) ambit__machine_take_speeds(&dev->machine, &known);
  return found;
}

static void note(ambit__device *dev)
{
  const ambit__hash h = hash_of(dev);
  ambit__text t = {0};
  char *text;

  ambit__machine_print(&dev->machine, &t);
  text = ambit__text_finish(&t);
  ambit__note_keep(dev->settings, "machine", &h, text);
  free(text);
}

/* ---- */

void ambit__device_describe(ambit__device *dev)
{
  if (!take_option(dev)) recall(dev);
  ambit__machine_complete(&dev->machine);
}

void ambit__device_measure(ambit__device *dev, bool again)
{
  const double start = ambit__clock();
  ambit__machine m = dev->machine;
  int missing;

  if (!ambit__can(dev->backend, measure) || ((m.measured || dev->is_tried) && !again)) return;
  dev->is_tried = true;
  ambit__ask(dev, measure, true, &m);
  dev->copies = 1e9 * m.copy;
  m.measured = m.copy > 0; /* without that, shares of the grid cannot be told from it */
  missing = ambit__machine_complete(&m);
  dev->machine = m;
  ambit__log(dev->settings, 1, "%s: copies %.4g GB/s, %.4g G/s multiply-adds, measured in %.2g s",
             m.name, m.copy, m.fma32, ambit__clock() - start);
  if (missing)
    ambit__log(dev->settings, 1, "%s: %d speeds could not be measured; recorded ones are used",
               m.name, missing);
  if (m.measured) note(dev);
}

double ambit__device_copies(ambit__device *dev)
{
  ambit__machine m = dev->machine;

  if (dev->copies > 0 || !ambit__can(dev->backend, measure)) return dev->copies;
  ambit__ask(dev, measure, false, &m);
  return dev->copies = 1e9 * m.copy;
}
