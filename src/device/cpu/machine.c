/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1
#include "device/cpu/machine.h"

#include "device/cpu/cgroup.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__aarch64__)
#  include <sys/auxv.h>
#  include <sys/prctl.h>
#endif

/* The first cpus suffice, and reading all of them is slow on large machines. */
enum { CPUINFO_BYTES = 8192, MOST_CPUS = 8192 };

/* ---- name and features ---- */

/* The value after "key :" if this line starts with it, else NULL. */
static const char *value_of(const char *line, const char *key)
{
  size_t n = strlen(key);

  if (strncmp(line, key, n)) return NULL;
  line += n + strspn(line + n, " \t");
  return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* The value of the first line "key : value"; false and "" if there is none. */
static bool find_value(const char *text, const char *key, char *out, size_t cap)
{
  size_t len;

  out[0] = '\0';
  for (const char *line = text; line; line = strchr(line, '\n')) {
    const char *value = value_of(line += *line == '\n', key);

    if (!value) continue;
    len = strcspn(value, "\n");
    if (len >= cap) len = cap - 1;
    memcpy(out, value, len);
    out[len] = '\0';
    return len > 0;
  }
  return false;
}

/* From the main ID register: manufacturer and model of the core. */
static const struct {
  unsigned implementer, part;
  const char *name;
} arm_cores[] = {
    {0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd07, "Cortex-A57"},  {0x41, 0xd08, "Cortex-A72"},
    {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"}, {0x41, 0xd40, "Neoverse-V1"},
    {0x41, 0xd49, "Neoverse-N2"}, {0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd83, "Neoverse-V3AE"},
    {0x41, 0xd84, "Neoverse-V3"}, {0x41, 0xd8e, "Neoverse-N3"}, {0x43, 0x0af, "ThunderX2"},
    {0x46, 0x001, "A64FX"},       {0x48, 0xd01, "Kunpeng-920"}, {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1a"},
};

static bool arm_name(const char *cpuinfo, char *out, size_t cap)
{
  char implementer[32], part[32];
  unsigned long i, p;

  if (!find_value(cpuinfo, "CPU implementer", implementer, sizeof implementer)) return false;
  if (!find_value(cpuinfo, "CPU part", part, sizeof part)) return false;
  i = strtoul(implementer, NULL, 0);
  p = strtoul(part, NULL, 0);
  snprintf(out, cap, "ARM core 0x%02lx/0x%03lx", i, p);
  for (size_t k = 0; k < sizeof arm_cores / sizeof *arm_cores; k++)
    if (arm_cores[k].implementer == i && arm_cores[k].part == p)
      snprintf(out, cap, "%s", arm_cores[k].name);
  return true;
}

static void probe_name(const char *cpuinfo, char *out, size_t cap)
{
  struct utsname u;

  if (find_value(cpuinfo, "model name", out, cap) || arm_name(cpuinfo, out, cap)) return;
  snprintf(out, cap, "%s", uname(&u) ? "unknown processor" : u.machine);
}

void ambit__machine_identity(const char *root, ambit__text *t)
{
  static const char *const keys[] = {"vendor_id",  "cpu family",  "model",
                                     "model name", "flags",       "CPU implementer",
                                     "CPU part",   "CPU variant", "Features"};
  char cpuinfo[CPUINFO_BYTES], value[4096];
  struct utsname u;

  ambit__print(t, "machine %s\n", uname(&u) ? "unknown" : u.machine);
  ambit__read_small(cpuinfo, sizeof cpuinfo, root, "/proc/cpuinfo");
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
    if (find_value(cpuinfo, keys[k], value, sizeof value))
      ambit__print(t, "%s %s\n", keys[k], value);
}

/* ---- cores ---- */

/* The affinity mask, in a set of MOST_CPUS; free it with CPU_FREE. NULL if unavailable. */
static cpu_set_t *own_cpus(void)
{
  cpu_set_t *set = CPU_ALLOC(MOST_CPUS);

  if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(MOST_CPUS), set)) {
    CPU_FREE(set);
    set = NULL;
  }
  return set;
}

static int affinity_cores(void)
{
  cpu_set_t *set = own_cpus();
  long n = set ? CPU_COUNT_S(CPU_ALLOC_SIZE(MOST_CPUS), set) : sysconf(_SC_NPROCESSORS_ONLN);

  if (set) CPU_FREE(set);
  return n < 1 ? 1 : (int)n;
}

int ambit__machine_cores(void)
{
  int n = affinity_cores(), quota = ambit__cgroup_cores("");

  return quota && quota < n ? quota : n;
}

/* ---- caches ---- */

/* The number of our cpus in a list such as "0-3,8"; at least 1. */
static int count_own(const char *list)
{
  cpu_set_t *set = own_cpus();
  int n = 0;

  while (set && *list >= '0' && *list <= '9') {
    char *end;
    unsigned long first = strtoul(list, &end, 10), last = first;

    if (*end == '-') last = strtoul(end + 1, &end, 10);
    for (unsigned long c = first; c <= last && c < MOST_CPUS; c++)
      n += CPU_ISSET_S(c, CPU_ALLOC_SIZE(MOST_CPUS), set) != 0;
    list = *end == ',' ? end + 1 : end;
  }
  if (set) CPU_FREE(set);
  return n ? n : 1;
}

static bool cache_file(const char *root, int index, const char *file, char *out, size_t cap)
{
  char path[128];

  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file);
  return ambit__read_small(out, cap, root, path) != 0;
}

static size_t parse_size(const char *text)
{
  char *unit;
  size_t n = strtoull(text, &unit, 10);

  return *unit == 'K' ? n << 10 : *unit == 'M' ? n << 20 : n;
}

/* Small caches are divided among the cpus that share them; the last level is added up over the
 * cpus. */
static void read_caches(const char *root, ambit__machine *m)
{
  char level[16], type[32], size[32], shared[4096];

  for (int i = 0; cache_file(root, i, "level", level, sizeof level); i++) {
    size_t bytes;
    int sharers;

    if (!cache_file(root, i, "type", type, sizeof type) || type[0] == 'I') continue;
    if (!cache_file(root, i, "size", size, sizeof size)) continue;
    cache_file(root, i, "shared_cpu_list", shared, sizeof shared);
    bytes = parse_size(size);
    sharers = count_own(shared);
    switch (level[0]) {
    case '1': m->l1 = bytes / (size_t)sharers; break;
    case '2': m->l2 = bytes / (size_t)sharers; break;
    case '3': m->l3 = bytes * (size_t)((affinity_cores() + sharers - 1) / sharers); break;
    }
  }
}

static size_t positive(long n)
{
  return n > 0 ? (size_t)n : 0;
}

static void probe_caches(const char *root, ambit__machine *m)
{
  read_caches(root, m);
#ifdef _SC_LEVEL1_DCACHE_SIZE
  if (!m->l1) {
    m->l1 = positive(sysconf(_SC_LEVEL1_DCACHE_SIZE));
    m->l2 = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
    m->l3 = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
  }
#endif
  if (!m->l1) m->l1 = 32 << 10;
  if (!m->l2) m->l2 = 512 << 10;
}

/* ---- memory ---- */

static size_t meminfo(const char *text, const char *key)
{
  char value[64];

  return find_value(text, key, value, sizeof value) ? (size_t)strtoull(value, NULL, 10) << 10 : 0;
}

void ambit__machine_memory(const char *root, size_t *memory, size_t *available)
{
  char text[4096];
  size_t limit, left;

  ambit__read_small(text, sizeof text, root, "/proc/meminfo");
  *memory = meminfo(text, "MemTotal");
  *available = meminfo(text, "MemAvailable");
  if (!*memory) *memory = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
  if (!*available) *available = *memory / 2;
  ambit__cgroup_memory(root, &limit, &left);
  if (limit < *memory) *memory = limit;
  if (left < *available) *available = left;
}

/* ---- vectors ---- */

size_t ambit__machine_vector_bytes(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16;
#elif defined(__aarch64__) && defined(HWCAP_SVE) && defined(PR_SVE_GET_VL)
  if (getauxval(AT_HWCAP) & HWCAP_SVE) {
    int length = prctl(PR_SVE_GET_VL);

    if (length > 0 && (length & PR_SVE_VL_LEN_MASK) > 16)
      return (size_t)(length & PR_SVE_VL_LEN_MASK);
  }
  return 16;
#else
  return 16;
#endif
}

static bool has_nontemporal(void)
{
#if defined(__x86_64__) || defined(__i386__)
  return true;
#else
  return false;
#endif
}

void ambit__machine_probe(const char *root, ambit__machine *m)
{
  char cpuinfo[CPUINFO_BYTES];
  int quota = ambit__cgroup_cores(root);

  *m = (ambit__machine){.cores = affinity_cores(),
                        .vector_bytes = ambit__machine_vector_bytes(),
                        .has_nontemporal = has_nontemporal()};
  if (quota && quota < m->cores) m->cores = quota;
  ambit__read_small(cpuinfo, sizeof cpuinfo, root, "/proc/cpuinfo");
  probe_name(cpuinfo, m->name, sizeof m->name);
  probe_caches(root, m);
  ambit__machine_memory(root, &m->memory, &m->available);
}
