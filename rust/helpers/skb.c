// SPDX-License-Identifier: GPL-2.0
/* Packet buffers: what the headers define inline. */
#include "helpers.h"

#include <net/tcp.h>
#include <net/xfrm.h>

/* What rust/net/skb.rs relies on. */
static_assert(offsetof(struct sk_buff, next) == 0);
static_assert(offsetof(struct sk_buff, cb) % 8 == 0);

/* A packet with room for @header bytes, and for IP and the link before them. */
struct sk_buff *homa_skb_alloc(unsigned int header)
{
	struct sk_buff *skb = alloc_skb(MAX_TCP_HEADER + header, GFP_ATOMIC);

	if (skb)
		skb_reserve(skb, MAX_TCP_HEADER);
	return skb;
}

void homa_skb_free(struct sk_buff *skb)
{
	kfree_skb(skb);
}

void homa_skb_consume(struct sk_buff *skb)
{
	consume_skb(skb);
}

void *homa_skb_put(struct sk_buff *skb, unsigned int len)
{
	return skb_put(skb, len);
}

void homa_skb_reset_transport_header(struct sk_buff *skb)
{
	skb_reset_transport_header(skb);
}

bool homa_skb_may_pull(struct sk_buff *skb, unsigned int len)
{
	return pskb_may_pull(skb, len);
}

unsigned int homa_skb_headlen(const struct sk_buff *skb)
{
	return skb_headlen(skb);
}

unsigned int homa_skb_nr_frags(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->nr_frags;
}

void homa_skb_add_frag(struct sk_buff *skb, struct page *page,
		       unsigned int offset, unsigned int len,
		       unsigned int truesize)
{
	get_page(page);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, offset, len,
			truesize);
}

void homa_skb_set_owner(struct sk_buff *skb, struct sock *sk)
{
	skb_set_owner_w(skb, sk);
}

/*
 * Cuts the packet off from what it must not keep alive while it waits for the
 * application: its route, connection tracking and IPsec state.
 */
void homa_skb_detach(struct sk_buff *skb)
{
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	secpath_reset(skb);
}

struct net *homa_skb_net(const struct sk_buff *skb)
{
	return dev_net(skb->dev);
}

void homa_skb_addresses(const struct sk_buff *skb, struct in6_addr *source,
			struct in6_addr *destination)
{
	if (skb->protocol == htons(ETH_P_IPV6)) {
		*source = ipv6_hdr(skb)->saddr;
		*destination = ipv6_hdr(skb)->daddr;
	} else {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, source);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, destination);
	}
}

int homa_skb_interface(const struct sk_buff *skb)
{
	return skb->dev->ifindex;
}
