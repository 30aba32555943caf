/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/cpu/cgroup.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_CHARS = 1024 };

int ambit__read_small(char *out, size_t cap, const char *root, const char *path)
{
  char name[2 * PATH_CHARS];
  size_t n = 0;
  FILE *f;

  out[0] = '\0';
  if (snprintf(name, sizeof name, "%s%s", root, path) >= (int)sizeof name) return 0;
  f = fopen(name, "re");
  if (!f) return 0;
  n = fread(out, 1, cap - 1, f);
  fclose(f);
  out[n] = '\0';
  return n > 0;
}

/* One layout of limits in files. */
typedef struct layout {
  const char *controller; /* its name in /proc/self/cgroup; "" is version 2 */
  const char *mount;
} layout;

static const layout cpu_layouts[] = {
    {"", "/sys/fs/cgroup"}, {"cpu", "/sys/fs/cgroup/cpu"}, {NULL, NULL}};
static const layout memory_layouts[] = {
    {"", "/sys/fs/cgroup"}, {"memory", "/sys/fs/cgroup/memory"}, {NULL, NULL}};

/* Whether `name` is one of the comma-separated controllers of a line "4:cpu,cpuacct:/path". */
static bool line_has(const char *list, const char *end, const char *name)
{
  size_t n = strlen(name);

  if (!n) return list == end;
  while (list < end) {
    size_t word = strcspn(list, ",:");

    if (word == n && !strncmp(list, name, n)) return true;
    list += word + 1;
  }
  return false;
}

/* The path of this process below the mount of a controller; false if it has none. */
static bool own_path(const char *root, const char *controller, char path[PATH_CHARS])
{
  char text[8192];

  if (!ambit__read_small(text, sizeof text, root, "/proc/self/cgroup")) return false;
  for (char *line = text; line && *line;) {
    char *next = strchr(line, '\n'), *list, *place;

    if (next) *next++ = '\0';
    list = strchr(line, ':');
    place = list ? strchr(list + 1, ':') : NULL;
    if (place && line_has(list + 1, place, controller)) {
      snprintf(path, PATH_CHARS, "%s", place + 1);
      return true;
    }
    line = next;
  }
  return false;
}

/* Calls look for the group of this process and for every group above it, the mount point last. */
static void walk(const char *root, const layout *layouts,
                 void (*look)(const char *root, const char *group, void *result), void *result)
{
  for (; layouts->controller; layouts++) {
    char path[PATH_CHARS], group[2 * PATH_CHARS];

    if (!own_path(root, layouts->controller, path)) continue;
    for (;;) {
      char *slash = strrchr(path, '/');

      if (slash && !slash[1]) *slash = '\0';
      snprintf(group, sizeof group, "%s%s", layouts->mount, path);
      look(root, group, result);
      slash = strrchr(path, '/');
      if (!slash) break;
      *slash = '\0';
    }
  }
}

static bool read_in(char *out, size_t cap, const char *root, const char *group, const char *file)
{
  char path[2 * PATH_CHARS + 64];

  snprintf(path, sizeof path, "%s/%s", group, file);
  return ambit__read_small(out, cap, root, path);
}

/* A number of bytes or microseconds; false for "max", -1 and missing files. */
static bool read_number(const char *root, const char *group, const char *file, uint64_t *out)
{
  char text[64];

  if (!read_in(text, sizeof text, root, group, file)) return false;
  if (text[0] < '0' || text[0] > '9') return false;
  *out = strtoull(text, NULL, 10);
  return true;
}

/* ---- processor time ---- */

static void look_cpu(const char *root, const char *group, void *result)
{
  unsigned long long quota = 0, period = 0;
  uint64_t q, p;
  double *least = result;
  char text[64];

  if (read_in(text, sizeof text, root, group, "cpu.max"))
    sscanf(text, "%llu %llu", &quota, &period);
  else if (read_number(root, group, "cpu.cfs_quota_us", &q) &&
           read_number(root, group, "cpu.cfs_period_us", &p))
    quota = q, period = p;
  if (quota && period && (double)quota / (double)period < *least)
    *least = (double)quota / (double)period;
}

int ambit__cgroup_cores(const char *root)
{
  double least = 1e6;
  int whole;

  walk(root, cpu_layouts, look_cpu, &least);
  if (least >= 1e6) return 0;
  whole = (int)least;
  return whole + ((double)whole < least);
}

/* ---- memory ---- */

typedef struct memory {
  uint64_t limit, left;
} memory;

/* The number after "name " at the start of a line of memory.stat. */
static uint64_t stat_value(const char *root, const char *group, const char *name)
{
  char text[8192], *at = text;
  size_t n = strlen(name);

  if (!read_in(text, sizeof text, root, group, "memory.stat")) return 0;
  while (at && strncmp(at, name, n)) {
    at = strchr(at, '\n');
    if (at) at++;
  }
  return at ? strtoull(at + n, NULL, 10) : 0;
}

static void look_memory(const char *root, const char *group, void *result)
{
  memory *m = result;
  uint64_t limit, used = 0, cached, left;

  if (read_number(root, group, "memory.max", &limit)) {
    read_number(root, group, "memory.current", &used);
    cached = stat_value(root, group, "inactive_file ");
  } else if (read_number(root, group, "memory.limit_in_bytes", &limit)) {
    read_number(root, group, "memory.usage_in_bytes", &used);
    cached = stat_value(root, group, "total_inactive_file ");
  } else {
    return;
  }
  used -= cached < used ? cached : used;
  left = used < limit ? limit - used : 0;
  if (limit < m->limit) m->limit = limit;
  if (left < m->left) m->left = left;
}

void ambit__cgroup_memory(const char *root, size_t *limit, size_t *left)
{
  memory m = {SIZE_MAX, SIZE_MAX};

  walk(root, memory_layouts, look_memory, &m);
  /* Version 1 writes "no limit" as the largest multiple of a page. */
  *limit = m.limit >= SIZE_MAX / 4 ? SIZE_MAX : (size_t)m.limit;
  *left = *limit == SIZE_MAX ? SIZE_MAX : (size_t)m.left;
}
