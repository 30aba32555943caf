/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h - warnings and optional log output. */
#ifndef AMBIT_BASE_LOG_H
#define AMBIT_BASE_LOG_H

#include "base/settings.h"

/* Prints "ambit: ..." to stderr if settings->verbose is at least `level`: 0 warnings, 1 plans, 2
 * compilation and loading. */
void ambit__log(const ambit__settings *settings, int level, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Prints "ambit: ..." unless settings->verbose is negative: news that is not a warning. */
void ambit__say(const ambit__settings *settings, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif
