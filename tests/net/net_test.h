/* SPDX-License-Identifier: BSD-3-Clause */
/* net_test.h - common to the tests of nets: errors are kept, not printed. */
#ifndef AMBIT_TEST_NET_H
#define AMBIT_TEST_NET_H

#include "support/test.h"

#include "net/net.h"

static ambit__errors errors;

#endif
