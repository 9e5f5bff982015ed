// SPDX-License-Identifier: GPL-2.0
/* Pages of outgoing messages, and copies from and to user memory. */
#include "helpers.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sockptr.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

/*
 * Large blocks are tried for without reclaim: the caller has a smaller size to
 * fall back to.
 */
struct page *homa_page_alloc(unsigned int order)
{
	if (order)
		return alloc_pages((GFP_KERNEL_ACCOUNT | __GFP_COMP |
				    __GFP_NOWARN | __GFP_NORETRY) &
					   ~__GFP_DIRECT_RECLAIM,
				   order);
	return alloc_pages(GFP_KERNEL_ACCOUNT, 0);
}

void homa_page_put(struct page *page)
{
	put_page(page);
}

size_t homa_page_copy_from_msg(struct page *page, size_t offset, size_t len,
			       struct msghdr *msg)
{
	return copy_page_from_iter(page, offset, len, &msg->msg_iter);
}

unsigned long homa_copy_from_user(void *to, const void __user *from,
				  unsigned long len)
{
	return copy_from_user(to, from, len);
}

unsigned long homa_copy_to_user(void __user *to, const void *from,
				unsigned long len)
{
	return copy_to_user(to, from, len);
}

int homa_copy_from_sockptr(void *to, const sockptr_t *from, size_t len)
{
	return copy_from_sockptr(to, *from, len);
}

/* Copies packet bytes [@offset, @offset + @len) to user memory. */
int homa_skb_copy_to_user(const struct sk_buff *skb, int offset,
			  void __user *to, int len)
{
	struct iov_iter iter;
	int err;
#ifdef HOMA_HAVE_IMPORT_UBUF
	err = import_ubuf(READ, to, len, &iter);
#else
	struct iovec iov;

	err = import_single_range(READ, to, len, &iov, &iter);
#endif
	return err ?: skb_copy_datagram_iter(skb, offset, &iter, len);
}
