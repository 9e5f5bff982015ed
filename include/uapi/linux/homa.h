/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Interface between applications and the Homa transport protocol.
 *
 * A Homa socket is opened with socket(AF_INET or AF_INET6, SOCK_DGRAM,
 * IPPROTO_HOMA). Remote procedure calls are made with sendmsg() and recvmsg(),
 * whose msg_control points to one of the structs below instead of carrying
 * ancillary data.
 *
 * All integers are in the machine's byte order. The layouts are the same for
 * 32-bit and 64-bit programs.
 */
#ifndef _UAPI_LINUX_HOMA_H
#define _UAPI_LINUX_HOMA_H

#include <linux/ioctl.h>
#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>
#else
#include <netinet/in.h>
#include <sys/socket.h>
#endif

/* Protocol number of Homa: third argument of socket(), and the level of its
 * socket options.
 */
#ifndef IPPROTO_HOMA
#define IPPROTO_HOMA 146
#endif

/* Longest request or response, in bytes. The shortest is 1 byte. */
#define HOMA_MAX_MESSAGE_LENGTH 1000000

/* Unit in which the receive buffer region is handed out ("bpage"), in bytes. */
#define HOMA_BPAGE_SHIFT 16
#define HOMA_BPAGE_SIZE (1 << HOMA_BPAGE_SHIFT)

/* Most bpages that one message can occupy. */
#define HOMA_MAX_BPAGES \
	((HOMA_MAX_MESSAGE_LENGTH + HOMA_BPAGE_SIZE - 1) >> HOMA_BPAGE_SHIFT)

/* Ports from here to 65535 are given to sockets when they are opened. Ports
 * from 1 up to here, exclusive, can be chosen with bind().
 */
#define HOMA_MIN_DEFAULT_PORT 0x8000

/* Socket options, at level IPPROTO_HOMA. */

/* Sets (once) or gets the receive buffer region: struct homa_rcvbuf_args. */
#define SO_HOMA_RCVBUF 10

/* Sets or gets whether the socket takes requests: int, zero or nonzero.
 * A successful bind() to a port turns it on.
 */
#define SO_HOMA_SERVER 11

/* Bits of homa_sendmsg_args.flags. */

/* The response is delivered only to a recvmsg() that names this RPC's id, and
 * does not make the socket readable for poll().
 */
#define HOMA_SENDMSG_PRIVATE 0x01

/* Every bit that sendmsg() accepts. */
#define HOMA_SENDMSG_VALID_FLAGS 0x01

/**
 * struct homa_sendmsg_args - What sendmsg() finds at msg_control.
 * @id: In and out. 0 sends a request, and the id of the new RPC (an even
 *	number) is stored here. Otherwise a response is sent to the request that
 *	recvmsg() returned with this id (an odd number).
 * @completion_cookie: In. For a request any value, which recvmsg() gives back
 *	with the response. For a response 0.
 * @flags: In. HOMA_SENDMSG_* bits; all others must be 0.
 * @reserved: In. Must be 0.
 *
 * msg_name is the other party's address, msg_iov the message (1 to
 * HOMA_MAX_MESSAGE_LENGTH bytes), and msg_controllen must be 0. sendmsg()
 * returns 0 once the message is queued, not its length.
 */
struct homa_sendmsg_args {
	__aligned_u64 id;
	__aligned_u64 completion_cookie;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct homa_recvmsg_args - What recvmsg() finds at msg_control.
 * @id: In and out. In: 0 accepts any request, and the response to any RPC that
 *	is not private; otherwise the id of the private RPC to wait for. Out:
 *	the id of the RPC whose message (or whose failure) is returned, odd for a
 *	request and even for a response; 0 if there is none.
 * @completion_cookie: Out. For a response what sendmsg() was given with the
 *	request; for a request 0.
 * @num_bpages: In and out. In: number of leading entries of @bpage_offsets that
 *	are being given back, 0 to HOMA_MAX_BPAGES. Out: number of entries that
 *	the returned message occupies; 0 if there is no message.
 * @reserved: In. Must be 0.
 * @bpage_offsets: In and out. Places in the receive buffer region, in bytes from
 *	its start. In: places that earlier calls returned and the application
 *	needs no longer; each is given back exactly once, in any order, by any
 *	thread. Out: where the message lies. Each entry but the last stands for
 *	HOMA_BPAGE_SIZE bytes at a multiple of HOMA_BPAGE_SIZE; the last holds
 *	the rest and may begin at any byte. If the RPC failed (@id is not 0 and
 *	recvmsg() returns -1), the first 28 bytes hold the other party's address
 *	instead, as struct sockaddr_in or sockaddr_in6.
 *
 * msg_controllen must be the size of this struct; msg_iov is not used. recvmsg()
 * returns the length of the message in bytes and stores the other party's
 * address at msg_name.
 */
struct homa_recvmsg_args {
	__aligned_u64 id;
	__aligned_u64 completion_cookie;
	__u32 num_bpages;
	__u32 reserved;
	__u32 bpage_offsets[HOMA_MAX_BPAGES];
};

/**
 * struct homa_rcvbuf_args - Value of the socket option SO_HOMA_RCVBUF.
 * @start: Address of the region's first byte in the calling process, a multiple
 *	of the page size; writable. Reading the option gives 0 if there is none.
 * @length: Bytes in the region: at least 2,000,000 plus HOMA_BPAGE_SIZE for each
 *	possible CPU, at most 2^32. Only whole bpages are used; reading the
 *	option gives the bytes in use.
 *
 * Setting the option writes to the start of the region, so do it before
 * anything is kept there.
 */
struct homa_rcvbuf_args {
	__aligned_u64 start;
	__aligned_u64 length;
};

/**
 * struct homa_abort_args - Argument of HOMAIOCABORT.
 * @id: In. Id of the client RPC to abort, or 0 for all client RPCs of the
 *	socket.
 * @error: In. Positive errno with which recvmsg() returns the RPC, or 0 to
 *	discard it without a trace.
 * @_pad1: In. Must be 0.
 * @_pad2: In. Must be 0.
 */
struct homa_abort_args {
	__aligned_u64 id;
	__u32 error;
	__u32 _pad1;
	__aligned_u64 _pad2[2];
};

/* Size of homa_info.error_msg, in bytes, with the final NUL. */
#define HOMA_ERROR_MSG_SIZE 104

/**
 * struct homa_info - Argument of HOMAIOCINFO.
 * @rpc_info: In. Address of an array of struct homa_rpc_info to fill, or 0.
 * @rpc_info_length: In. Bytes at @rpc_info.
 * @bpool_avail_bytes: Out. Bytes of the receive buffer region that are free.
 * @port: Out. The socket's own port.
 * @num_rpcs: Out. RPCs that the socket has, whether or not all of them fitted
 *	into the array.
 * @error_msg: Out. Why the latest failed operation on the socket failed, in
 *	words, terminated by NUL; empty if nothing failed.
 */
struct homa_info {
	__aligned_u64 rpc_info;
	__aligned_u64 rpc_info_length;
	__aligned_u64 bpool_avail_bytes;
	__u32 port;
	__u32 num_rpcs;
	char error_msg[HOMA_ERROR_MSG_SIZE];
};

/* Bits of homa_rpc_info.flags. */

/* The incoming message waits for room in the receive buffer region. */
#define HOMA_RPC_BUF_STALL 1

/* The request was sent with HOMA_SENDMSG_PRIVATE. */
#define HOMA_RPC_PRIVATE 2

/* The incoming message is complete and waits for recvmsg(). */
#define HOMA_RPC_RX_READY 4

/* Received data is being copied to the receive buffer region. */
#define HOMA_RPC_RX_COPY 8

/**
 * struct homa_rpc_info - State of one RPC, as HOMAIOCINFO returns it.
 * @id: Id of the RPC; even where this socket is the client, odd where it is the
 *	server.
 * @peer: Address of the other party, in the socket's address family.
 * @peer.storage: Room for an address of either family.
 * @peer.in4: The address, if the family is AF_INET.
 * @peer.in6: The address, if the family is AF_INET6.
 * @completion_cookie: For a client RPC what sendmsg() was given, else 0.
 * @tx_length: Bytes in the outgoing message; -1 if there is none yet.
 * @tx_sent: Bytes of the outgoing message that were transmitted at least once.
 * @tx_granted: Bytes of the outgoing message that may be transmitted.
 * @tx_prio: Priority level of the scheduled part of the outgoing message.
 * @rx_length: Bytes in the incoming message; -1 if not known yet.
 * @rx_remaining: Bytes of the incoming message that have not arrived.
 * @rx_gaps: Number of gaps in what has arrived.
 * @rx_gap_bytes: Bytes in those gaps.
 * @rx_granted: Bytes of the incoming message that the sender may transmit.
 * @flags: HOMA_RPC_* bits.
 */
struct homa_rpc_info {
	__aligned_u64 id;
	union {
		struct sockaddr_storage storage;
		struct sockaddr_in in4;
		struct sockaddr_in6 in6;
	} peer;
	__aligned_u64 completion_cookie;
	__s32 tx_length;
	__u32 tx_sent;
	__u32 tx_granted;
	__u32 tx_prio;
	__s32 rx_length;
	__u32 rx_remaining;
	__u32 rx_gaps;
	__u32 rx_gap_bytes;
	__u32 rx_granted;
	__u16 flags;
};

/* ioctl() requests. */

/* Describes the socket and its RPCs. */
#define HOMAIOCINFO _IOWR('h', 0x90, struct homa_info)

/* Aborts client RPCs. */
#define HOMAIOCABORT _IOWR('h', 0x91, struct homa_abort_args)

/* Kept for programs that stop a kernel trace with it; returns 0. */
#define HOMAIOCFREEZE _IO('h', 0x92)

/* Bit of the sysctl net.homa.flags: packets are not paced. */
#define HOMA_FLAG_DONT_THROTTLE 2

#endif /* _UAPI_LINUX_HOMA_H */
