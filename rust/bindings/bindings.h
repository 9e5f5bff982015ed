/* SPDX-License-Identifier: GPL-2.0 */
/* Everything that bindgen reads. */
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/poll.h>
#include <linux/socket.h>

#include "../helpers/helpers.h"

/* Macros with casts, which bindgen does not evaluate. */
static const gfp_t HOMA_GFP_KERNEL = GFP_KERNEL;
static const gfp_t HOMA_GFP_ATOMIC = GFP_ATOMIC;
static const gfp_t HOMA_GFP_NOWAIT = GFP_NOWAIT;
static const gfp_t HOMA_GFP_KERNEL_ACCOUNT = GFP_KERNEL_ACCOUNT;
static const gfp_t HOMA_GFP_ZERO = __GFP_ZERO;
static const gfp_t HOMA_GFP_NOWARN = __GFP_NOWARN;
static const __u16 HOMA_AF_INET = AF_INET;
static const __u16 HOMA_AF_INET6 = AF_INET6;
static const __u32 HOMA_EPOLLIN = (__force __u32)EPOLLIN;
static const __u32 HOMA_EPOLLRDNORM = (__force __u32)EPOLLRDNORM;
static const __u32 HOMA_EPOLLOUT = (__force __u32)EPOLLOUT;
static const __u32 HOMA_EPOLLWRNORM = (__force __u32)EPOLLWRNORM;
