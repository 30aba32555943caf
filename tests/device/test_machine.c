/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of the machine: the real one, and made-up ones in a temporary folder. */
#define _GNU_SOURCE 1
#include "device/cpu/cgroup.h"
#include "device/cpu/limits.h"
#include "device/cpu/machine.h"
#include "device/tree.h"

#include <stdint.h>

static void put_cache(int index, const char *level, const char *type, const char *size,
                      const char *shared)
{
  const char *const names[] = {"level", "type", "size", "shared_cpu_list"};
  const char *const values[] = {level, type, size, shared};
  char path[256];

  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu0/cache/index%d/%s", index, names[i]);
    tree_put(path, values[i]);
  }
}

static void this_machine_has_sensible_facts(void)
{
  ambit__machine m;

  ambit__machine_probe("", &m);
  CHECK(m.name[0]);
  CHECK(m.cores >= 1);
  CHECK_EQ(ambit__machine_cores(), m.cores);
  CHECK_MSG(m.l1 >= 4096 && m.l1 <= 4 << 20, "l1 %zu", m.l1);
  CHECK_MSG(m.l2 >= m.l1, "l2 %zu", m.l2);
  CHECK(m.memory > 64 << 20);
  CHECK(m.available > 0 && m.available <= m.memory);
  CHECK(m.vector_bytes >= 16 && m.vector_bytes % 16 == 0);
}

static void a_known_arm_core_has_its_name_and_an_unknown_one_its_numbers(void)
{
  ambit__machine m;

  tree_make();
  tree_put("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd sve\n"
                           "CPU implementer\t: 0x41\nCPU variant\t: 0x1\nCPU part\t: 0xd40\n");
  ambit__machine_probe(folder, &m);
  CHECK_STR("Neoverse-V1", m.name);
  tree_put("proc/cpuinfo", "CPU implementer\t: 0x77\nCPU part\t: 0x123\n");
  ambit__machine_probe(folder, &m);
  CHECK_STR("ARM core 0x77/0x123", m.name);
  tree_remove();
}

static void the_model_name_is_not_taken_from_a_similar_line(void)
{
  ambit__machine m;

  tree_make();
  tree_put("proc/cpuinfo",
           "model\t\t: 143\nmodel name\t: Fast Processor 9000\nflags\t\t: sse avx\n");
  ambit__machine_probe(folder, &m);
  CHECK_STR("Fast Processor 9000", m.name);
  tree_remove();
}

static char *identity(void)
{
  ambit__text t = {0};

  ambit__machine_identity(folder, &t);
  return ambit__text_finish(&t);
}

static void processors_that_differ_in_one_feature_differ_in_identity(void)
{
  char *a, *b;

  tree_make();
  tree_put("proc/cpuinfo", "model name\t: X\ncpu MHz\t: 1000\nflags\t: sse avx\n");
  a = identity();
  tree_put("proc/cpuinfo", "model name\t: X\ncpu MHz\t: 2000\nflags\t: sse avx\n");
  b = identity();
  CHECK_STR(a, b);
  free(b);
  tree_put("proc/cpuinfo", "model name\t: X\ncpu MHz\t: 1000\nflags\t: sse avx avx2\n");
  b = identity();
  CHECK(strcmp(a, b));
  free(a);
  free(b);
  tree_remove();
}

static void caches_are_read_and_instructions_left_out(void)
{
  ambit__machine m;

  tree_make();
  put_cache(0, "1\n", "Instruction\n", "16K\n", "99999\n");
  put_cache(1, "1\n", "Data\n", "48K\n", "99999\n");
  put_cache(2, "2\n", "Unified\n", "2M\n", "99999\n");
  ambit__machine_probe(folder, &m);
  CHECK_EQ(48 << 10, m.l1);
  CHECK_EQ(2 << 20, m.l2);
  CHECK_EQ(0, m.l3);
  tree_remove();
}

/* All our cpus share one cache of each level: the small ones are divided, the large one is not. */
static void shared_caches_are_split(void)
{
  int n = (int)sysconf(_SC_NPROCESSORS_CONF);
  char all[32];
  ambit__machine m;

  tree_make();
  snprintf(all, sizeof all, "0-%d\n", n > 8000 ? n : 8000);
  put_cache(0, "1\n", "Data\n", "960K\n", all);
  put_cache(1, "3\n", "Unified\n", "32768K\n", all);
  ambit__machine_probe(folder, &m);
  CHECK_EQ((size_t)(960 << 10) / (size_t)m.cores, m.l1);
  CHECK_EQ(32 << 20, m.l3);
  tree_remove();
}

static void memory_comes_from_the_system_or_the_group_whichever_is_less(void)
{
  ambit__machine m;

  tree_make();
  tree_put("proc/meminfo", "MemTotal:        8000000 kB\nMemFree:          100000 kB\n"
                           "MemAvailable:    6000000 kB\n");
  ambit__machine_probe(folder, &m);
  CHECK_EQ((size_t)8000000 << 10, m.memory);
  CHECK_EQ((size_t)6000000 << 10, m.available);

  tree_put("proc/self/cgroup", "0::/job/step\n");
  tree_put("sys/fs/cgroup/job/step/memory.max", "max\n");
  tree_put("sys/fs/cgroup/job/memory.max", "1000000000\n");
  tree_put("sys/fs/cgroup/job/memory.current", "300000000\n");
  tree_put("sys/fs/cgroup/job/memory.stat", "anon 5\nactive_file 7\ninactive_file 100000000\n");
  ambit__machine_probe(folder, &m);
  CHECK_EQ(1000000000, m.memory);
  CHECK_EQ(800000000, m.available);
  tree_remove();
}

static void the_older_layout_of_groups_is_read_too(void)
{
  size_t limit, left;

  tree_make();
  tree_put("proc/self/cgroup", "9:memory:/box\n4:cpuacct,cpu:/box\n0::/\n");
  tree_put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "500000000\n");
  tree_put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "200000000\n");
  tree_put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  tree_put("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "250000\n");
  tree_put("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  ambit__cgroup_memory(folder, &limit, &left);
  CHECK_EQ(500000000, limit);
  CHECK_EQ(300000000, left);
  CHECK_EQ(3, ambit__cgroup_cores(folder));
  tree_put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
  tree_put("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  ambit__cgroup_memory(folder, &limit, &left);
  CHECK(limit == SIZE_MAX && left == SIZE_MAX);
  CHECK_EQ(0, ambit__cgroup_cores(folder));
  tree_remove();
}

static void the_tightest_quota_of_processor_time_counts(void)
{
  tree_make();
  CHECK_EQ(0, ambit__cgroup_cores(folder));
  tree_put("proc/self/cgroup", "0::/a/b\n");
  tree_put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  CHECK_EQ(0, ambit__cgroup_cores(folder));
  tree_put("sys/fs/cgroup/a/cpu.max", "400000 100000\n");
  CHECK_EQ(4, ambit__cgroup_cores(folder));
  tree_put("sys/fs/cgroup/cpu.max", "150000 100000\n");
  CHECK_EQ(2, ambit__cgroup_cores(folder));
  tree_put("sys/fs/cgroup/a/b/cpu.max", "20000 100000\n");
  CHECK_EQ(1, ambit__cgroup_cores(folder));
  tree_remove();
}

/* Lower bounds that any machine of the last twenty years exceeds, and upper bounds that none
 * reaches; a busy one takes longer. */
static void limits_are_those_of_a_real_machine(void)
{
  ambit__pool *pool = NULL;
  ambit__machine m;

  ambit__machine_probe("", &m);
  CHECK_EQ(AMBIT_OK, ambit__pool_open(NULL, 0, &pool));
  ambit__cpu_measure(pool, true, &m);
#define X(name, unit, least, most, meaning)                                                        \
  CHECK_MSG((!strcmp(#name, "launch") && !m.name) ||                                               \
                (m.name > 0.01 * (least) && m.name <= (strcmp(unit, "ns") ? 1 : 100) * (most)),    \
            "%s is %g %s", #name, m.name, unit);
  AMBIT__SPEED_MAP(X)
#undef X
  m.available = 1 << 20;
  ambit__cpu_measure(pool, false, &m);
  CHECK(m.copy > 0);
  ambit__pool_close(pool);
}

int main(int argc, char **argv)
{
#define T(name)                                                                                    \
  {                                                                                                \
#    name, name                                                                                    \
  }
  static const test_case tests[] = {T(this_machine_has_sensible_facts),
                                    T(a_known_arm_core_has_its_name_and_an_unknown_one_its_numbers),
                                    T(the_model_name_is_not_taken_from_a_similar_line),
                                    T(processors_that_differ_in_one_feature_differ_in_identity),
                                    T(caches_are_read_and_instructions_left_out),
                                    T(shared_caches_are_split),
                                    T(memory_comes_from_the_system_or_the_group_whichever_is_less),
                                    T(the_older_layout_of_groups_is_read_too),
                                    T(the_tightest_quota_of_processor_time_counts),
                                    T(limits_are_those_of_a_real_machine),
                                    {0}};
#undef T

  return test_main(argc, argv, tests);
}
