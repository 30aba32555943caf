/* SPDX-License-Identifier: BSD-3-Clause */
/* registered.h - registered code, which replaces generated code: functions for CPUs, source for
 * GPUs, written by `ambit gen` or by hand. The process has one table, indexed by language and by
 * the canonical text of the kernel. */
#ifndef AMBIT_DEVICE_REGISTERED_H
#define AMBIT_DEVICE_REGISTERED_H

#include "ambit_compiled.h"
#include "kernel/kernel.h"

/* The function registered for this rule, or NULL. */
ambit_cpu_fn ambit__registered_cpu(const ambit__rule *rule);

/* The source registered for this rule in a language, which has the name of its dialect: "cuda".
 * Returns a copy, to free(); NULL if there is none, or no memory. */
char *ambit__registered_source(const ambit__rule *rule, const char *language);

#endif
