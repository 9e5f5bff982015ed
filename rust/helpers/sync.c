// SPDX-License-Identifier: GPL-2.0
/* Locks, RCU, clock and random numbers: what the headers define inline. */
#include "helpers.h"

#include <linux/random.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

static struct lock_class_key homa_lock_keys[HOMA_LOCK_CLASSES];
static const char *const homa_lock_names[HOMA_LOCK_CLASSES] = {
	[HOMA_LOCK_TABLE] = "homa_table",
	[HOMA_LOCK_SHARD] = "homa_shard",
	[HOMA_LOCK_LEAF] = "homa_leaf",
};

void homa_spin_lock_init(spinlock_t *lock, unsigned int class)
{
	spin_lock_init(lock);
	lockdep_set_class_and_name(lock, &homa_lock_keys[class],
				   homa_lock_names[class]);
}

void homa_spin_lock_bh(spinlock_t *lock)
{
	spin_lock_bh(lock);
}

void homa_spin_unlock_bh(spinlock_t *lock)
{
	spin_unlock_bh(lock);
}

void homa_rcu_read_lock(void)
{
	rcu_read_lock();
}

void homa_rcu_read_unlock(void)
{
	rcu_read_unlock();
}

void homa_synchronize_rcu(void)
{
	synchronize_rcu();
}

void homa_rcu_barrier(void)
{
	rcu_barrier();
}

u64 homa_ktime_get_ns(void)
{
	return ktime_get_ns();
}

void homa_random_bytes(void *to, size_t len)
{
	get_random_bytes(to, len);
}

unsigned int homa_nr_cpu_ids(void)
{
	return nr_cpu_ids;
}
