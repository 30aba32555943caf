/* SPDX-License-Identifier: BSD-3-Clause */
/* slow_net.h - a net whose messages come late, for tests and benchmarks. */
#ifndef AMBIT_TEST_SLOW_NET_H
#define AMBIT_TEST_SLOW_NET_H

#include "net/net.h"

/* Makes a net as slow as `speed` says, such as "200us,1GB/s": a latency, a rate, or both. NULL
 * and "" leave it as it is. The new net owns the old one. For the net of a context, before its
 * first grid. Collective, and all processes must say the same. */
ambit_status slow_net_wrap(ambit__net **net, const char *speed);

#endif
