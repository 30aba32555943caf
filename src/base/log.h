/* log.h - what the library says beside its results: warnings and, when asked, what it does. */
#ifndef AMBIT_BASE_LOG_H
#define AMBIT_BASE_LOG_H

#include "base/settings.h"

/* Prints "ambit: ..." on standard error when settings->verbose is at least `level`:
 * 0 warnings, 1 plans, 2 what is compiled and loaded. */
void ambit__log(const ambit__settings *settings, int level, const char *fmt, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

#endif
