// SPDX-License-Identifier: GPL-2.0
/* Network namespaces: the registration, and the slot for our state in each. */
#include "helpers.h"

#include <net/netns/generic.h>

static unsigned int homa_net_id;

static int __net_init homa_net_init(struct net *net)
{
	return homa_rs_net_init(net);
}

static void __net_exit homa_net_exit(struct net *net)
{
	homa_rs_net_exit(net);
}

static struct pernet_operations homa_net_ops = {
	.init = homa_net_init,
	.exit = homa_net_exit,
	.id = &homa_net_id,
	.size = sizeof(void *),
};

/*
 * Devices go before the state of namespaces does, and wait for routes that
 * refer to them: those must be given up first.
 */
static void __net_exit homa_net_pre_exit(struct net *net)
{
	homa_rs_net_pre_exit(net);
}

static struct pernet_operations homa_net_device_ops = {
	.exit = homa_net_pre_exit,
};

int homa_register_net_device(void)
{
	return register_pernet_device(&homa_net_device_ops);
}

void homa_unregister_net_device(void)
{
	unregister_pernet_device(&homa_net_device_ops);
}

int homa_register_net(void)
{
	return register_pernet_subsys(&homa_net_ops);
}

void homa_unregister_net(void)
{
	unregister_pernet_subsys(&homa_net_ops);
}

void **homa_net_slot(const struct net *net)
{
	return net_generic(net, homa_net_id);
}
