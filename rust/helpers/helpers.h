/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Rust and C see of each other. bindgen reads this file.
 *
 * homa_rs_*: implemented in Rust, called by the kernel through the adapters in
 * sock.c and net_ns.c. All others: implemented in C, called from Rust.
 */
#ifndef _HOMA_HELPERS_H
#define _HOMA_HELPERS_H

#include <linux/hrtimer.h>
#include <linux/ipv6.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/sockptr.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <net/inet_sock.h>
#include <net/sock.h>

#include "features.h"
#include "../../include/uapi/linux/homa.h"

/* Entry of the port table; read under RCU. */
struct homa_link {
	struct homa_link *next;
	struct homa_sock *sock;
	u16 port;
	bool linked;
};

/*
 * A Homa socket. The kernel allocates it, with @inet first because it takes it
 * for a struct sock.
 */
struct homa_sock {
	struct inet_sock inet;
	/* The Rust value of the socket, on the heap. */
	void *state;
	/*
	 * Two, so that a change of port can enter the new one while readers
	 * may still stand on the old one.
	 */
	struct homa_link links[2];
	/* sk_destruct as the socket family had set it. */
	void (*inherited_destruct)(struct sock *sk);
	struct hrtimer timer;
};

/* Up to Linux 6.1 the core finds @inet6 by its being last. */
struct homa6_sock {
	struct homa_sock homa;
	struct ipv6_pinfo inet6;
};

/* Lock classes, outermost first; no lock nests in one of its own class. */
enum homa_lock_class {
	HOMA_LOCK_TABLE,
	HOMA_LOCK_SHARD,
	HOMA_LOCK_LEAF,
	HOMA_LOCK_CLASSES,
};

/* alloc.c */
void *homa_krealloc(void *p, size_t old, size_t new, gfp_t flags);
void *homa_kvrealloc(void *p, size_t old, size_t new, gfp_t flags);
void homa_kfree(void *p);
void homa_kvfree(void *p);
void homa_printk(int level, const char *prefix, const char *text, size_t len);
void homa_warn_saturated(void);
void homa_bug(void);

/* mm.c */
struct page *homa_page_alloc(unsigned int order);
void homa_page_put(struct page *page);
size_t homa_page_copy_from_msg(struct page *page, size_t offset, size_t len,
			       struct msghdr *msg);
unsigned long homa_copy_from_user(void *to, const void __user *from,
				  unsigned long len);
unsigned long homa_copy_to_user(void __user *to, const void *from,
				unsigned long len);
int homa_copy_from_sockptr(void *to, const sockptr_t *from, size_t len);
int homa_skb_copy_to_user(const struct sk_buff *skb, int offset,
			  void __user *to, int len);

/* net_ns.c */
int homa_register_net(void);
void homa_unregister_net(void);
int homa_register_net_device(void);
void homa_unregister_net_device(void);
void **homa_net_slot(const struct net *net);
int homa_rs_net_init(struct net *net);
void homa_rs_net_pre_exit(struct net *net);
void homa_rs_net_exit(struct net *net);

/* sync.c */
void homa_spin_lock_init(spinlock_t *lock, unsigned int class);
void homa_spin_lock_bh(spinlock_t *lock);
void homa_spin_unlock_bh(spinlock_t *lock);
void homa_rcu_read_lock(void);
void homa_rcu_read_unlock(void);
void homa_synchronize_rcu(void);
void homa_rcu_barrier(void);
u64 homa_ktime_get_ns(void);
void homa_random_bytes(void *to, size_t len);
unsigned int homa_nr_cpu_ids(void);

/* skb.c */
struct sk_buff *homa_skb_alloc(unsigned int header);
void homa_skb_free(struct sk_buff *skb);
void homa_skb_consume(struct sk_buff *skb);
void *homa_skb_put(struct sk_buff *skb, unsigned int len);
void homa_skb_reset_transport_header(struct sk_buff *skb);
bool homa_skb_may_pull(struct sk_buff *skb, unsigned int len);
unsigned int homa_skb_headlen(const struct sk_buff *skb);
unsigned int homa_skb_nr_frags(const struct sk_buff *skb);
void homa_skb_add_frag(struct sk_buff *skb, struct page *page,
		       unsigned int offset, unsigned int len,
		       unsigned int truesize);
void homa_skb_set_owner(struct sk_buff *skb, struct sock *sk);
void homa_skb_detach(struct sk_buff *skb);
struct net *homa_skb_net(const struct sk_buff *skb);
void homa_skb_addresses(const struct sk_buff *skb, struct in6_addr *source,
			struct in6_addr *destination);
int homa_skb_interface(const struct sk_buff *skb);

/* ip.c */
int homa_route4(struct sock *sk, __be32 local, __be32 remote, int oif,
		struct dst_entry **dst, __be32 *source);
int homa_route6(struct sock *sk, const struct in6_addr *local,
		const struct in6_addr *remote, int oif, struct dst_entry **dst,
		struct in6_addr *source);
u32 homa_dst_cookie(struct dst_entry *dst);
bool homa_dst_usable(struct dst_entry *dst, u32 cookie);
void homa_dst_hold(struct dst_entry *dst);
void homa_dst_release(struct dst_entry *dst);
u32 homa_dst_mtu(const struct dst_entry *dst);
int homa_xmit4(struct sock *sk, struct sk_buff *skb, struct dst_entry *dst,
	       __be32 source, __be32 remote, u8 tos);
int homa_xmit6(struct sock *sk, struct sk_buff *skb, struct dst_entry *dst,
	       const struct in6_addr *source, const struct in6_addr *remote,
	       int oif, u8 tclass);
void homa_port_unreachable(struct sk_buff *skb);

/* sock.c: registration */
int homa_register_proto(void);
void homa_unregister_proto(void);
int homa_register_proto6(void);
void homa_unregister_proto6(void);
int homa_add_protocol(void);
void homa_del_protocol(void);
int homa_add_protocol6(void);
void homa_del_protocol6(void);
void homa_register_protosw(void);
void homa_unregister_protosw(void);
int homa_register_protosw6(void);
void homa_unregister_protosw6(void);
bool homa_ipv6_enabled(void);

/* sock.c: wrappers */
void homa_sock_hold(struct sock *sk);
bool homa_sock_try_hold(struct sock *sk);
void homa_sock_put(struct sock *sk);
bool homa_sock_is_ipv6(const struct sock *sk);
bool homa_sock_is_v6only(const struct sock *sk);
int homa_sock_bound_device(const struct sock *sk);
struct net *homa_sock_net(const struct sock *sk);
void homa_sock_set_port(struct sock *sk, u16 port);
u16 homa_sock_port(const struct sock *sk);
int homa_sock_sndbuf(const struct sock *sk);
void homa_sock_set_sndbuf(struct sock *sk, int bytes);
void homa_sock_data_ready(struct sock *sk);
void homa_sock_state_change(struct sock *sk);
void homa_sock_write_space(struct sock *sk);
void homa_sock_timer_start(struct sock *sk, u64 deadline_ns);
long homa_sock_rcvtimeo(const struct sock *sk, bool noblock);
long homa_sock_sndtimeo(const struct sock *sk, bool noblock);
void homa_wait_init(struct wait_queue_entry *entry);
void homa_wait_prepare(struct sock *sk, struct wait_queue_entry *entry);
void homa_wait_finish(struct sock *sk, struct wait_queue_entry *entry);
bool homa_signal_pending(void);
int homa_sock_intr_errno(long timeout);
bool homa_msg_control_is_user(const struct msghdr *msg);
void *homa_msg_control(const struct msghdr *msg);
size_t homa_msg_controllen(const struct msghdr *msg);

/* sock.c: callbacks */
int homa_rs_init(struct sock *sk);
void homa_rs_close(struct sock *sk);
void homa_rs_destruct(struct sock *sk);
int homa_rs_bind(struct sock *sk, const void *addr, int len);
int homa_rs_shutdown(struct sock *sk, int how);
int homa_rs_setsockopt(struct sock *sk, int level, int name,
		       const sockptr_t *value, unsigned int len);
int homa_rs_getsockopt(struct sock *sk, int level, int name, char __user *value,
		       int __user *len);
int homa_rs_sendmsg(struct sock *sk, struct msghdr *msg, size_t len);
int homa_rs_recvmsg(struct sock *sk, struct msghdr *msg, int flags);
unsigned int homa_rs_poll(struct sock *sk);
void homa_rs_receive(struct sk_buff *skb);
void homa_rs_icmp_error(struct sk_buff *skb, const struct in6_addr *remote,
			unsigned int offset, bool ipv6, u8 type, u8 code);
void homa_rs_timer(struct sock *sk);

#endif /* _HOMA_HELPERS_H */
