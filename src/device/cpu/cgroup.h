/* cgroup.h - what a container or a batch system leaves to this process.
 *
 * Both layouts are read: version 2 (one tree, cpu.max and memory.max) and version 1 (a tree per
 * controller, cpu.cfs_quota_us and memory.limit_in_bytes). A limit may stand at any level above the process, so all
 * levels are looked at and the tightest counts. `root` is put before every path: "" here, a made-up
 * tree in tests.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef AMBIT_DEVICE_CPU_CGROUP_H
#define AMBIT_DEVICE_CPU_CGROUP_H

#include <stddef.h>

/* Processor time per time, rounded up, at least 1; 0: no limit. */
int ambit__cgroup_cores(const char *root);

/* Bytes of the tightest memory limit, and what is left below the fullest one; SIZE_MAX: no limit. File pages that the
 * system would drop count as free. */
void ambit__cgroup_memory(const char *root, size_t *limit, size_t *left);

/* Reads the start of a small file, up to cap - 1 bytes, as text; false and "" if it is not there. */
int ambit__read_small(char *out, size_t cap, const char *root, const char *path);

#endif
