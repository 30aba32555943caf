/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h - the limits that a container or a batch system sets for this process.
 *
 * Both layouts are read: version 2 (one tree, cpu.max and memory.max) and version 1 (a tree per
 * controller, cpu.cfs_quota_us and memory.limit_in_bytes). A limit may be set at any level above
 * the process, so all levels are read and the tightest applies. `root` is put before every path: ""
 * for this machine, a made-up tree in tests.
 */
#ifndef AMBIT_DEVICE_CPU_CGROUP_H
#define AMBIT_DEVICE_CPU_CGROUP_H

#include <stddef.h>

/* CPU time per wall time, rounded up, at least 1; 0: no limit. */
int ambit__cgroup_cores(const char *root);

/* Bytes of the tightest memory limit, and the least that is left below any limit; SIZE_MAX: no
 * limit. Inactive file pages count as free. */
void ambit__cgroup_memory(const char *root, size_t *limit, size_t *left);

/* Reads the start of a small file, up to cap - 1 bytes, as text; 0 and "" if there is none. */
int ambit__read_small(char *out, size_t cap, const char *root, const char *path);

#endif
