/* SPDX-License-Identifier: BSD-3-Clause */
/* told.h - the errors of the functions that a test calls, and a check of the last message. */
#ifndef AMBIT_TEST_TOLD_H
#define AMBIT_TEST_TOLD_H

#include "base/error.h"
#include "support/test.h"

static ambit__errors errors;

/* The last error had this status and a message that contains the words. Clears it. */
static void told(ambit_status want, const char *words)
{
  CHECK_EQ(want, errors.status);
  CHECK_MSG(errors.text && strstr(errors.text, words), "\"%s\" is not in: %s", words,
            errors.text ? errors.text : "");
  ambit__errors_clear(&errors);
}

#endif
