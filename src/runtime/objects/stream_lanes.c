/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_lanes.c - the option lanes: the devices of each lane of a stream.
 *
 *   cuda:0,cuda:1,cpu                    three lanes of one device each
 *   (cuda:0,cuda:1),(cuda:2,cuda:3)      two lanes of two devices each
 *   all                                  each CUDA GPU of this process, or the cores
 */
#include "base/memory.h"
#include "runtime/objects/objects.h"

#include <stdlib.h>
#include <string.h>

const char *ambit__lane_next(const char *at, const char **devices, size_t *length)
{
  const bool group = *at == '(';
  const char *end;

  *devices = at + group;
  *length = strcspn(*devices, group ? ")" : ",");
  end = *devices + *length;
  if (group && *end) end++;
  return *end ? end + 1 : NULL; /* a comma, which ambit__lanes_check has seen */
}

static ambit_status bad(ambit *a, const char *text, const char *why)
{
  return ambit__raise(&a->errors, AMBIT_EOPTION,
                      "lanes=%s: %s; a list of lanes looks like cpu, cuda:0,cuda:1,cpu or "
                      "(cuda:0,cuda:1),(cuda:2,cuda:3)",
                      text, why);
}

/* The devices of one lane, as the option devices would have them. */
static ambit_status check_lane(ambit *a, const char *text, const char *devices, size_t length)
{
  char *copy;
  ambit_status s;

  if (!length) return bad(a, text, "a lane has no device");
  if (memchr(devices, '(', length)) return bad(a, text, "a group stands in another one");
  copy = ambit__new(&a->errors, length + 1, 1);
  if (!copy) return AMBIT_ENOMEM;
  memcpy(copy, devices, length);
  s = ambit__devices_check(a, copy);
  free(copy);
  return s;
}

ambit_status ambit__lanes_check(ambit *a, const char *text)
{
  if (!*text || !strcmp(text, "all")) return AMBIT_OK;
  for (const char *at = text; at;) {
    const bool group = *at == '(';
    const char *devices, *next;
    size_t length;

    next = ambit__lane_next(at, &devices, &length);
    if (group && devices[length] != ')') return bad(a, text, "a ')' is missing");
    if (group && devices[length + 1] && devices[length + 1] != ',')
      return bad(a, text, "after ')' there must be a comma or the end");
    AMBIT_TRY(check_lane(a, text, devices, length));
    at = next;
  }
  return AMBIT_OK;
}
