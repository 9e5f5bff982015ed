// SPDX-License-Identifier: GPL-2.0
/* What the stand-in for the kernel crate needs: memory, the log, bugs. */
#include "helpers.h"

#include <linux/bug.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

/*
 * Rust knows the size of what it resizes, so that all kernels zero the same
 * bytes, whatever their krealloc does with __GFP_ZERO.
 */
static void *homa_zero_rest(void *p, size_t old, size_t new, gfp_t flags)
{
	if (p && (flags & __GFP_ZERO) && new > old)
		memset(p + old, 0, new - old);
	return p;
}

/* Resizes @p, or allocates if it is NULL. @old bytes are in use. */
void *homa_krealloc(void *p, size_t old, size_t new, gfp_t flags)
{
	return homa_zero_rest(krealloc(p, new, flags), old, new, flags);
}

/* The same for memory that need not be contiguous. */
void *homa_kvrealloc(void *p, size_t old, size_t new, gfp_t flags)
{
	void *moved = kvmalloc(new, flags);

	if (!moved || !p)
		return moved;
	memcpy(moved, p, min(old, new));
	kvfree(p);
	return moved;
}

void homa_kfree(void *p)
{
	kfree(p);
}

void homa_kvfree(void *p)
{
	kvfree(p);
}

/* Logs @len bytes of @text. @level is the digit of KERN_EMERG to KERN_DEBUG. */
void homa_printk(int level, const char *prefix, const char *text, size_t len)
{
	printk(KERN_SOH "%c%s: %.*s", '0' + level, prefix, (int)len, text);
}

void homa_warn_saturated(void)
{
	WARN_ONCE(1, "homa: a saturated reference count; memory leaks\n");
}

void homa_bug(void)
{
	BUG();
}
