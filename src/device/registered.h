/* registered.h - code that stands in for generated code: what `ambit gen` wrote, or a person. Functions for processors, source
 * for GPUs. One table for the process, by language and by the canonical text of the kernel. */
#ifndef AMBIT_DEVICE_REGISTERED_H
#define AMBIT_DEVICE_REGISTERED_H

#include "kernel/kernel.h"

/* The function registered for this rule, or NULL. */
ambit_cpu_fn ambit__registered_cpu(const ambit__rule *rule);

/* The source registered for this rule in a language, named as its dialect is: "cuda". A copy, to free(); NULL if there is
 * none, or no memory. */
char *ambit__registered_source(const ambit__rule *rule, const char *language);

#endif
