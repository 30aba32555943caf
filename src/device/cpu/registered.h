/* registered.h - compiled functions that stand in for generated ones: what `ambit gen` wrote, or a
 * person. One table for the process, by the canonical text of the kernel. */
#ifndef AMBIT_DEVICE_CPU_REGISTERED_H
#define AMBIT_DEVICE_CPU_REGISTERED_H

#include "kernel/kernel.h"

/* The function registered for this rule, or NULL. */
ambit_cpu_fn ambit__registered_find(const ambit__rule *rule);

#endif
