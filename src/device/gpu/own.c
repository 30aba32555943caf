/* SPDX-License-Identifier: BSD-3-Clause */
/* own.c - finds the registered source for a group, and checks whether it can be launched here. */
#include "device/gpu/gpu.h"
#include "device/registered.h"
#include "plan/gpu.h"

#include <stdlib.h>

void ambit__gpu_own_name(const ambit__gpu_device *d, const ambit__rule *rule, ambit__text *t)
{
  ambit__print(t, "the source registered for kernel %s on %s", rule->name, d->driver->name);
}

/* Registered kernels may rely on contiguous fields, each bound once, and on aligned rows, unless
 * these are very short. */
static bool can_walk(const ambit__group *g)
{
  const ambit__rule *rule = g->rule;

  for (int i = 0; i < rule->nparams; i++) {
    const ambit__binding *b = &g->bind[i];

    if (rule->params[i].kind != PARAM_FIELD) continue;
    if (!b->is_field || !b->contiguous || b->shared || (b->packed && g->ndims > 3)) return false;
  }
  return g->ndims > 0;
}

static ambit_status check_launch_line(const ambit__gpu_device *d, const ambit__group *g,
                                      const char *what, const ambit__launch_line *r)
{
  const ambit__rule *rule = g->rule;
  const int64_t threads = (int64_t)r->threads[0] * r->threads[1] * r->threads[2];

  AMBIT_CHECK(!rule->ndims || r->ndims == rule->ndims, d->head.errors, AMBIT_EINVAL,
              "%s says that it is for %d dimension%s, and the kernel has %d; write %dd", what,
              r->ndims, r->ndims == 1 ? "" : "s", rule->ndims, rule->ndims);
  AMBIT_CHECK(!d->info.max_threads || threads <= d->info.max_threads, d->head.errors,
              AMBIT_EUNSUPPORTED, "%s wants blocks of %lld threads; %s has at most %d", what,
              (long long)threads, d->info.name, d->info.max_threads);
  AMBIT_CHECK(
      !ambit__group_reduces(g) || (r->most > 0 && r->most <= AMBIT__GPUCODE_PARTIALS),
      d->head.errors, AMBIT_EINVAL,
      "%s reduces, so its blocks must be at most %d, and loop over the rest; write \"at most "
      "%d\" behind the blocks",
      what, AMBIT__GPUCODE_PARTIALS, AMBIT__GPUCODE_FEW);
  return AMBIT_OK;
}

bool ambit__gpu_has_own(const ambit__gpu_device *d, const ambit__group *g)
{
  char *source = ambit__registered_source(g->rule, d->driver->dialect->name);

  free(source);
  return source != NULL;
}

ambit_status ambit__gpu_own_find(const ambit__gpu_device *d, const ambit__group *g,
                                 ambit__gpu_own *own)
{
  const ambit__rule *rule = g->rule;
  ambit__text what = {0};
  ambit_status s;

  own->source = can_walk(g) ? ambit__registered_source(rule, d->driver->dialect->name) : NULL;
  if (!own->source) return AMBIT_OK;
  ambit__gpu_own_name(d, rule, &what);
  s = what.failed
          ? ambit__raise(d->head.errors, AMBIT_ENOMEM, "no memory for a name")
          : ambit__launch_line_read(d->head.errors, what.chars, own->source, &own->launch_line);
  if (!s) s = check_launch_line(d, g, what.chars, &own->launch_line);
  ambit__text_free(&what);
  if (s ||
      (own->launch_line.ndims == g->ndims && ambit__launch_line_fits(&own->launch_line, g->cells)))
    return s;
  free(own->source); /* it is for larger boxes, or for another number of dimensions */
  own->source = NULL;
  return AMBIT_OK;
}
