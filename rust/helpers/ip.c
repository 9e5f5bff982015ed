// SPDX-License-Identifier: GPL-2.0
/* Routes and IP output, for IPv4 and IPv6. */
#include "helpers.h"

#include <linux/icmpv6.h>
#include <linux/security.h>
#include <net/icmp.h>
#include <net/ip6_route.h>
#include <net/route.h>

/*
 * Both look up the route from @local (all zero: any) to @remote and give back
 * a reference to it and the source address to use.
 */
int homa_route4(struct sock *sk, __be32 local, __be32 remote, int oif,
		struct dst_entry **dst, __be32 *source)
{
	struct flowi4 fl4 = {
		.flowi4_oif = oif,
		.flowi4_mark = READ_ONCE(sk->sk_mark),
		.flowi4_proto = IPPROTO_HOMA,
		.flowi4_flags = inet_sk_flowi_flags(sk),
		.flowi4_uid = sock_net_uid(sock_net(sk), sk),
		.saddr = local,
		.daddr = remote,
	};
	struct rtable *rt;

	security_sk_classify_flow(sk, flowi4_to_flowi_common(&fl4));
	rt = ip_route_output_flow(sock_net(sk), &fl4, sk);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	*dst = &rt->dst;
	*source = fl4.saddr;
	return 0;
}

int homa_route6(struct sock *sk, const struct in6_addr *local,
		const struct in6_addr *remote, int oif, struct dst_entry **dst,
		struct in6_addr *source)
{
	struct flowi6 fl6 = {
		.flowi6_oif = oif,
		.flowi6_mark = READ_ONCE(sk->sk_mark),
		.flowi6_proto = IPPROTO_HOMA,
		.flowi6_uid = sock_net_uid(sock_net(sk), sk),
		.saddr = *local,
		.daddr = *remote,
	};
	struct dst_entry *found;

	security_sk_classify_flow(sk, flowi6_to_flowi_common(&fl6));
	found = ip6_dst_lookup_flow(sock_net(sk), sk, &fl6, NULL);
	if (IS_ERR(found))
		return PTR_ERR(found);
	*dst = found;
	*source = fl6.saddr;
	return 0;
}

u32 homa_dst_cookie(struct dst_entry *dst)
{
	return dst->ops->family == AF_INET6 ?
		       rt6_get_cookie((struct rt6_info *)dst) :
		       0;
}

bool homa_dst_usable(struct dst_entry *dst, u32 cookie)
{
	return dst_check(dst, cookie);
}

void homa_dst_hold(struct dst_entry *dst)
{
	dst_hold(dst);
}

void homa_dst_release(struct dst_entry *dst)
{
	dst_release(dst);
}

u32 homa_dst_mtu(const struct dst_entry *dst)
{
	return dst_mtu(dst);
}

/* Both take over the packet and the reference to the route. */
int homa_xmit4(struct sock *sk, struct sk_buff *skb, struct dst_entry *dst,
	       __be32 source, __be32 remote, u8 tos)
{
	struct flowi fl = {
		.u.ip4 = {
			.flowi4_proto = IPPROTO_HOMA,
			.saddr = source,
			.daddr = remote,
		},
	};

	skb_dst_set(skb, dst);
	return __ip_queue_xmit(sk, skb, &fl, tos);
}

int homa_xmit6(struct sock *sk, struct sk_buff *skb, struct dst_entry *dst,
	       const struct in6_addr *source, const struct in6_addr *remote,
	       int oif, u8 tclass)
{
	struct flowi6 fl6 = {
		.flowi6_oif = oif,
		.flowi6_proto = IPPROTO_HOMA,
		.saddr = *source,
		.daddr = *remote,
	};

	skb_dst_set(skb, dst);
	return ip6_xmit(sk, skb, &fl6, READ_ONCE(sk->sk_mark), NULL, tclass,
			READ_ONCE(sk->sk_priority));
}

/* Tells the sender that nobody listens on the port; rate-limited by the core. */
void homa_port_unreachable(struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IPV6))
		icmpv6_send(skb, ICMPV6_DEST_UNREACH, ICMPV6_PORT_UNREACH, 0);
	else
		icmp_send(skb, ICMP_DEST_UNREACH, ICMP_PORT_UNREACH, 0);
}
