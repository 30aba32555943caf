/* net_test.h - what the tests of nets share: errors that are kept, not printed. */
#ifndef AMBIT_TEST_NET_H
#define AMBIT_TEST_NET_H

#include "support/test.h"

#include "net/net.h"

static ambit__errors errors;

#endif
