// SPDX-License-Identifier: GPL-2.0
/*
 * Pins the ABI of Homa sockets: compiles, as C11 and as C++11, only if every
 * size, offset and constant of the uapi header is what programs in the field
 * were built with. Compiling it is the whole test; nothing has to run.
 *
 * The header is included first and alone, so it must stand on its own.
 */
#include <linux/homa.h>
#include <stddef.h>

#ifdef __cplusplus
#define CHECK(cond) static_assert(cond, #cond)
#else
#define CHECK(cond) _Static_assert(cond, #cond)
#endif

#define FIELD(type, field, offset, size)                 \
	CHECK(offsetof(struct type, field) == (offset)); \
	CHECK(sizeof(((struct type *)0)->field) == (size))

CHECK(IPPROTO_HOMA == 146);
CHECK(HOMA_MAX_MESSAGE_LENGTH == 1000000);
CHECK(HOMA_BPAGE_SHIFT == 16);
CHECK(HOMA_BPAGE_SIZE == 65536);
CHECK(HOMA_MAX_BPAGES == 16);
CHECK(HOMA_MIN_DEFAULT_PORT == 32768);
CHECK(SO_HOMA_RCVBUF == 10);
CHECK(SO_HOMA_SERVER == 11);
CHECK(HOMA_SENDMSG_PRIVATE == 0x01);
CHECK(HOMA_SENDMSG_VALID_FLAGS == 0x01);
CHECK(HOMA_FLAG_DONT_THROTTLE == 2);
CHECK(HOMA_ERROR_MSG_SIZE == 104);
CHECK(HOMA_RPC_BUF_STALL == 1);
CHECK(HOMA_RPC_PRIVATE == 2);
CHECK(HOMA_RPC_RX_READY == 4);
CHECK(HOMA_RPC_RX_COPY == 8);
CHECK(HOMAIOCINFO == 0xC0886890);
CHECK(HOMAIOCABORT == 0xC0206891);
CHECK(HOMAIOCFREEZE == 0x6892);

CHECK(sizeof(struct homa_sendmsg_args) == 24);
FIELD(homa_sendmsg_args, id, 0, 8);
FIELD(homa_sendmsg_args, completion_cookie, 8, 8);
FIELD(homa_sendmsg_args, flags, 16, 4);
FIELD(homa_sendmsg_args, reserved, 20, 4);

CHECK(sizeof(struct homa_recvmsg_args) == 88);
FIELD(homa_recvmsg_args, id, 0, 8);
FIELD(homa_recvmsg_args, completion_cookie, 8, 8);
FIELD(homa_recvmsg_args, num_bpages, 16, 4);
FIELD(homa_recvmsg_args, reserved, 20, 4);
FIELD(homa_recvmsg_args, bpage_offsets, 24, 64);

CHECK(sizeof(struct homa_rcvbuf_args) == 16);
FIELD(homa_rcvbuf_args, start, 0, 8);
FIELD(homa_rcvbuf_args, length, 8, 8);

CHECK(sizeof(struct homa_abort_args) == 32);
FIELD(homa_abort_args, id, 0, 8);
FIELD(homa_abort_args, error, 8, 4);
FIELD(homa_abort_args, _pad1, 12, 4);
FIELD(homa_abort_args, _pad2, 16, 16);

CHECK(sizeof(struct homa_info) == 136);
FIELD(homa_info, rpc_info, 0, 8);
FIELD(homa_info, rpc_info_length, 8, 8);
FIELD(homa_info, bpool_avail_bytes, 16, 8);
FIELD(homa_info, port, 24, 4);
FIELD(homa_info, num_rpcs, 28, 4);
FIELD(homa_info, error_msg, 32, 104);

CHECK(sizeof(struct homa_rpc_info) == 184);
FIELD(homa_rpc_info, id, 0, 8);
FIELD(homa_rpc_info, peer, 8, 128);
FIELD(homa_rpc_info, peer.storage, 8, 128);
FIELD(homa_rpc_info, peer.in4, 8, 16);
FIELD(homa_rpc_info, peer.in6, 8, 28);
FIELD(homa_rpc_info, completion_cookie, 136, 8);
FIELD(homa_rpc_info, tx_length, 144, 4);
FIELD(homa_rpc_info, tx_sent, 148, 4);
FIELD(homa_rpc_info, tx_granted, 152, 4);
FIELD(homa_rpc_info, tx_prio, 156, 4);
FIELD(homa_rpc_info, rx_length, 160, 4);
FIELD(homa_rpc_info, rx_remaining, 164, 4);
FIELD(homa_rpc_info, rx_gaps, 168, 4);
FIELD(homa_rpc_info, rx_gap_bytes, 172, 4);
FIELD(homa_rpc_info, rx_granted, 176, 4);
FIELD(homa_rpc_info, flags, 180, 2);
