// SPDX-License-Identifier: GPL-2.0
/* What module! has no key for: the version, and the names that load us. */
#include "helpers.h"

#include <linux/module.h>

#define HOMA_STR(x) __stringify(x)

MODULE_VERSION(HOMA_STR(HOMA_VERSION));
/* 2 is SOCK_DGRAM, which is no macro and so can't be made a string. */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, IPPROTO_HOMA, 2);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, IPPROTO_HOMA, 2);
