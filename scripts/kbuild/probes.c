// SPDX-License-Identifier: GPL-2.0
/*
 * The differences between kernels that this module has to know, one a line.
 * Version numbers would lie: distributions backport.
 *
 * PROBE(NAME, CODE...): the kernel has NAME if CODE compiles as the body of a
 * function. EXPORTED(NAME, SYMBOL): it has NAME if modules may link to SYMBOL.
 * Either way C code gets `#define HOMA_HAVE_NAME 1` from "features.h" and Rust
 * code `cfg(have_name)`. The file is compiled once; a line that fails takes
 * only its own NAME away.
 */
#include <linux/hrtimer.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/sysctl.h>
#include <linux/timer.h>
#include <linux/uio.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/protocol.h>
#include <net/sock.h>
#include <net/transp_v6.h>
#include <net/udp_tunnel.h>
#if __has_include(<net/dropreason.h>)
#include <net/dropreason.h>
#endif

/* One line each. */
/* clang-format off */
#define PROBE(name, ...) static void __maybe_unused probe_##name(void) { __VA_ARGS__; }
#define EXPORTED(name, symbol)
#define FIELD(type, field) (void)((type *)0)->field
#define SAME(what, ...) _Static_assert(__builtin_types_compatible_p(typeof(what), typeof(__VA_ARGS__)), "")
#define MEMBER(type, field) (((type *)0)->field)

/* The probes of the probe itself. */
PROBE(PRESENT, (void)jiffies)
PROBE(ABSENT, (void)homa_no_such_thing)

/* Sockets. */
PROBE(SOCKADDR_UNSIZED, SAME(MEMBER(struct proto_ops, bind), int (*)(struct socket *, struct sockaddr_unsized *, int)))
PROBE(PROTO_RECVMSG_NONBLOCK, SAME(MEMBER(struct proto, recvmsg), int (*)(struct sock *, struct msghdr *, size_t, int, int, int *)))
PROBE(PROTO_RECVMSG_ADDR_LEN, SAME(MEMBER(struct proto, recvmsg), int (*)(struct sock *, struct msghdr *, size_t, int, int *)))
PROBE(PROTO_BIND_UNSIZED, SAME(MEMBER(struct proto, bind), int (*)(struct sock *, struct sockaddr_unsized *, int)))
PROBE(PROTO_IOCTL_KARG, SAME(MEMBER(struct proto, ioctl), int (*)(struct sock *, int, int *)))
PROBE(PROTO_MEMORY_PER_CPU, FIELD(struct proto, per_cpu_fw_alloc))
PROBE(PROTO_SENDPAGE, FIELD(struct proto, sendpage))
PROBE(PROTO_OPS_SENDPAGE, FIELD(struct proto_ops, sendpage))
PROBE(SKB_RECV_DATAGRAM_FLAGS, SAME(skb_recv_datagram, struct sk_buff *(struct sock *, unsigned int, int *)))

/* IPv6. */
PROBE(IPV6_PINFO_OFFSET, FIELD(struct proto, ipv6_pinfo_offset))
PROBE(INET6_DESTROY_SOCK, (void)&inet6_destroy_sock)
PROBE(INET6_SOCK_DESTRUCT, (void)&inet6_sock_destruct)

/* Packets. */
PROBE(KFREE_SKB_REASON, kfree_skb_reason((struct sk_buff *)0, (enum skb_drop_reason)0))
PROBE(SK_SKB_REASON_DROP, (void)&sk_skb_reason_drop)
PROBE(DROP_REASON_SUBSYS, (void)&drop_reasons_register_subsys)
PROBE(NETNS_OK, ((struct net_protocol *)0)->netns_ok = 1)
PROBE(INET_DSCP_FLOWI, FIELD(struct flowi4, flowi4_dscp))
EXPORTED(UDP_GSO_SEGMENT, __udp_gso_segment)

/* UDP tunnels. */
PROBE(UDP_ENCAP_ERR_RCV, FIELD(struct udp_tunnel_sock_cfg, encap_err_rcv))
PROBE(UDP_ENCAP_ERR_RCV_PORT, SAME(MEMBER(struct udp_tunnel_sock_cfg, encap_err_rcv), void (*)(struct sock *, struct sk_buff *, int, __be16, u32, u8 *)))

/* Time, memory, sysctl. */
PROBE(HRTIMER_SETUP, (void)&hrtimer_setup)
PROBE(TIMER_CONTAINER_OF, struct { struct timer_list t; } *p = timer_container_of(p, (struct timer_list *)0, t); (void)p)
PROBE(IMPORT_UBUF, (void)import_ubuf(0, (void __user *)0, 0, (struct iov_iter *)0))
PROBE(REGISTER_NET_SYSCTL_SZ, (void)&register_net_sysctl_sz)
PROBE(SYSCTL_HANDLER_CONST, SAME(MEMBER(struct ctl_table, proc_handler), int (*)(const struct ctl_table *, int, void *, size_t *, loff_t *)))
