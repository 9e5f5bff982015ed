// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets: the tables that describe Homa sockets to the kernel, adapters that
 * give each callback one signature on every kernel, and wrappers of what
 * the headers define inline.
 */
#include "helpers.h"

#include <linux/icmp.h>
#include <linux/ip.h>
#include <linux/poll.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/protocol.h>
#include <net/transp_v6.h>

static struct homa_sock *homa_sk(struct sock *sk)
{
	return (struct homa_sock *)sk;
}

/* Callbacks of struct proto. */

static enum hrtimer_restart homa_timer(struct hrtimer *timer)
{
	homa_rs_timer(&container_of(timer, struct homa_sock, timer)->inet.sk);
	return HRTIMER_NORESTART;
}

static void homa_destruct(struct sock *sk)
{
	struct homa_sock *hsk = homa_sk(sk);

	hrtimer_cancel(&hsk->timer);
	homa_rs_destruct(sk);
	hsk->inherited_destruct(sk);
}

static int homa_init(struct sock *sk)
{
	struct homa_sock *hsk = homa_sk(sk);

	hsk->state = NULL;
	memset(hsk->links, 0, sizeof(hsk->links));
#ifdef HOMA_HAVE_HRTIMER_SETUP
	hrtimer_setup(&hsk->timer, homa_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(&hsk->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	hsk->timer.function = homa_timer;
#endif
	hsk->inherited_destruct = sk->sk_destruct;
	sk->sk_destruct = homa_destruct;
	/* Packet input finds sockets under RCU alone. */
	sock_set_flag(sk, SOCK_RCU_FREE);
	return homa_rs_init(sk);
}

static void homa_close(struct sock *sk, long timeout)
{
	homa_rs_close(sk);
	hrtimer_cancel(&homa_sk(sk)->timer);
	sk_common_release(sk);
}

/* The port table is not the kernel's: nothing to do when it asks. */
static int homa_hash(struct sock *sk)
{
	return 0;
}

static void homa_unhash(struct sock *sk)
{
}

static struct proto homa_proto = {
	.name = "HOMA",
	.owner = THIS_MODULE,
	.init = homa_init,
	.close = homa_close,
	.hash = homa_hash,
	.unhash = homa_unhash,
	.no_autobind = true,
	.obj_size = sizeof(struct homa_sock),
};

static struct proto homav6_proto = {
	.name = "HOMAv6",
	.owner = THIS_MODULE,
	.init = homa_init,
	.close = homa_close,
#ifndef HOMA_HAVE_INET6_SOCK_DESTRUCT
	.destroy = inet6_destroy_sock,
#endif
	.hash = homa_hash,
	.unhash = homa_unhash,
	.no_autobind = true,
	.obj_size = sizeof(struct homa6_sock),
#ifdef HOMA_HAVE_IPV6_PINFO_OFFSET
	.ipv6_pinfo_offset = offsetof(struct homa6_sock, inet6),
#endif
};

/* Callbacks of struct proto_ops. */

#ifdef HOMA_HAVE_SOCKADDR_UNSIZED
typedef struct sockaddr_unsized homa_sockaddr;
#else
typedef struct sockaddr homa_sockaddr;
#endif

static int homa_bind(struct socket *sock, homa_sockaddr *addr, int len)
{
	int err;

	lock_sock(sock->sk);
	err = homa_rs_bind(sock->sk, addr, len);
	release_sock(sock->sk);
	return err;
}

static int homa_shutdown(struct socket *sock, int how)
{
	return homa_rs_shutdown(sock->sk, how);
}

static int homa_setsockopt(struct socket *sock, int level, int name,
			   sockptr_t value, unsigned int len)
{
	return homa_rs_setsockopt(sock->sk, level, name, &value, len);
}

static int homa_getsockopt(struct socket *sock, int level, int name,
			   char __user *value, int __user *len)
{
	return homa_rs_getsockopt(sock->sk, level, name, value, len);
}

static int homa_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	return homa_rs_sendmsg(sock->sk, msg, len);
}

static int homa_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
			int flags)
{
	return homa_rs_recvmsg(sock->sk, msg, flags);
}

static __poll_t homa_poll(struct file *file, struct socket *sock,
			  poll_table *wait)
{
	sock_poll_wait(file, sock, wait);
	return (__force __poll_t)homa_rs_poll(sock->sk);
}

static const struct proto_ops homa_ops = {
	.family = PF_INET,
	.owner = THIS_MODULE,
	.release = inet_release,
	.bind = homa_bind,
	.connect = sock_no_connect,
	.socketpair = sock_no_socketpair,
	.accept = sock_no_accept,
	.getname = inet_getname,
	.poll = homa_poll,
	.ioctl = inet_ioctl,
	.listen = sock_no_listen,
	.shutdown = homa_shutdown,
	.setsockopt = homa_setsockopt,
	.getsockopt = homa_getsockopt,
	.sendmsg = homa_sendmsg,
	.recvmsg = homa_recvmsg,
	.mmap = sock_no_mmap,
};

static const struct proto_ops homav6_ops = {
	.family = PF_INET6,
	.owner = THIS_MODULE,
	.release = inet6_release,
	.bind = homa_bind,
	.connect = sock_no_connect,
	.socketpair = sock_no_socketpair,
	.accept = sock_no_accept,
	.getname = inet6_getname,
	.poll = homa_poll,
	.ioctl = inet6_ioctl,
	.listen = sock_no_listen,
	.shutdown = homa_shutdown,
	.setsockopt = homa_setsockopt,
	.getsockopt = homa_getsockopt,
	.sendmsg = homa_sendmsg,
	.recvmsg = homa_recvmsg,
	.mmap = sock_no_mmap,
};

static struct inet_protosw homa_protosw = {
	.type = SOCK_DGRAM,
	.protocol = IPPROTO_HOMA,
	.prot = &homa_proto,
	.ops = &homa_ops,
	.flags = INET_PROTOSW_REUSE,
};

static struct inet_protosw homav6_protosw = {
	.type = SOCK_DGRAM,
	.protocol = IPPROTO_HOMA,
	.prot = &homav6_proto,
	.ops = &homav6_ops,
	.flags = INET_PROTOSW_REUSE,
};

/* Callbacks of IP for packets of protocol 146. */

static int homa_receive(struct sk_buff *skb)
{
	homa_rs_receive(skb);
	return 0;
}

/* The packet begins with the IP header that the ICMP message quotes. */
static int homa_icmp_error(struct sk_buff *skb, u32 info)
{
	const struct iphdr *quoted = (const struct iphdr *)skb->data;
	struct in6_addr remote;

	ipv6_addr_set_v4mapped(quoted->daddr, &remote);
	homa_rs_icmp_error(skb, &remote, quoted->ihl * 4, false,
			   icmp_hdr(skb)->type, icmp_hdr(skb)->code);
	return 0;
}

static int homa_icmpv6_error(struct sk_buff *skb, struct inet6_skb_parm *opt,
			     u8 type, u8 code, int offset, __be32 info)
{
	const struct ipv6hdr *quoted = (const struct ipv6hdr *)skb->data;
	struct in6_addr remote = quoted->daddr;

	homa_rs_icmp_error(skb, &remote, offset, true, type, code);
	return 0;
}

static const struct net_protocol homa_protocol = {
	.handler = homa_receive,
	.err_handler = homa_icmp_error,
	.no_policy = 1,
#ifdef HOMA_HAVE_NETNS_OK
	.netns_ok = 1,
#endif
};

static const struct inet6_protocol homav6_protocol = {
	.handler = homa_receive,
	.err_handler = homa_icmpv6_error,
	.flags = INET6_PROTO_NOPOLICY | INET6_PROTO_FINAL,
};

/* Registration; each has its counterpart. */

int homa_register_proto(void)
{
	return proto_register(&homa_proto, 1);
}

void homa_unregister_proto(void)
{
	proto_unregister(&homa_proto);
}

int homa_register_proto6(void)
{
	return proto_register(&homav6_proto, 1);
}

void homa_unregister_proto6(void)
{
	proto_unregister(&homav6_proto);
}

int homa_add_protocol(void)
{
	return inet_add_protocol(&homa_protocol, IPPROTO_HOMA);
}

void homa_del_protocol(void)
{
	inet_del_protocol(&homa_protocol, IPPROTO_HOMA);
}

int homa_add_protocol6(void)
{
	return inet6_add_protocol(&homav6_protocol, IPPROTO_HOMA);
}

void homa_del_protocol6(void)
{
	inet6_del_protocol(&homav6_protocol, IPPROTO_HOMA);
}

void homa_register_protosw(void)
{
	inet_register_protosw(&homa_protosw);
}

void homa_unregister_protosw(void)
{
	inet_unregister_protosw(&homa_protosw);
}

int homa_register_protosw6(void)
{
	return inet6_register_protosw(&homav6_protosw);
}

void homa_unregister_protosw6(void)
{
	inet6_unregister_protosw(&homav6_protosw);
}

bool homa_ipv6_enabled(void)
{
	return ipv6_mod_enabled();
}

/* Wrappers. */

void homa_sock_hold(struct sock *sk)
{
	sock_hold(sk);
}

bool homa_sock_try_hold(struct sock *sk)
{
	return refcount_inc_not_zero(&sk->sk_refcnt);
}

void homa_sock_put(struct sock *sk)
{
	sock_put(sk);
}

bool homa_sock_is_ipv6(const struct sock *sk)
{
	return sk->sk_family == AF_INET6;
}

bool homa_sock_is_v6only(const struct sock *sk)
{
	return ipv6_only_sock(sk);
}

int homa_sock_bound_device(const struct sock *sk)
{
	return sk->sk_bound_dev_if;
}

struct net *homa_sock_net(const struct sock *sk)
{
	return sock_net(sk);
}

void homa_sock_set_port(struct sock *sk, u16 port)
{
	WRITE_ONCE(inet_sk(sk)->inet_num, port);
	inet_sk(sk)->inet_sport = htons(port);
}

u16 homa_sock_port(const struct sock *sk)
{
	return READ_ONCE(inet_sk(sk)->inet_num);
}

int homa_sock_sndbuf(const struct sock *sk)
{
	return READ_ONCE(sk->sk_sndbuf);
}

void homa_sock_set_sndbuf(struct sock *sk, int bytes)
{
	WRITE_ONCE(sk->sk_sndbuf, bytes);
}

void homa_sock_data_ready(struct sock *sk)
{
	sk->sk_data_ready(sk);
}

void homa_sock_state_change(struct sock *sk)
{
	sk->sk_state_change(sk);
}

void homa_sock_write_space(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM);
	rcu_read_unlock();
}

void homa_sock_timer_start(struct sock *sk, u64 deadline_ns)
{
	hrtimer_start(&homa_sk(sk)->timer, ns_to_ktime(deadline_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

long homa_sock_rcvtimeo(const struct sock *sk, bool noblock)
{
	return sock_rcvtimeo(sk, noblock);
}

long homa_sock_sndtimeo(const struct sock *sk, bool noblock)
{
	return sock_sndtimeo(sk, noblock);
}

void homa_wait_init(struct wait_queue_entry *entry)
{
	init_wait(entry);
}

void homa_wait_prepare(struct sock *sk, struct wait_queue_entry *entry)
{
	prepare_to_wait_exclusive(sk_sleep(sk), entry, TASK_INTERRUPTIBLE);
}

void homa_wait_finish(struct sock *sk, struct wait_queue_entry *entry)
{
	finish_wait(sk_sleep(sk), entry);
}

bool homa_signal_pending(void)
{
	return signal_pending(current);
}

int homa_sock_intr_errno(long timeout)
{
	return sock_intr_errno(timeout);
}

bool homa_msg_control_is_user(const struct msghdr *msg)
{
	return msg->msg_control_is_user;
}

void *homa_msg_control(const struct msghdr *msg)
{
	return msg->msg_control;
}

size_t homa_msg_controllen(const struct msghdr *msg)
{
	return msg->msg_controllen;
}
