// The C side of package ucx: everything that UCX must be told through structures and callbacks, so
// that Go crosses into C at most once per operation and C never calls Go.
//
// Callbacks only write down what happened: a completion stores a status in its operation's slot, an
// error handler stores a status in its endpoint, a received active message is linked to its inbox. Go
// reads those words from C memory without crossing.
//
// Each of the three layers has a header, which includes that of the layer below and lists the functions of its files. A
// function calls functions of its own file, of files listed before its own, and of layers below.
//
// Layer 3: one-sided operations. The status is UCS_INPROGRESS when the slot will be told the outcome, otherwise it is
// the outcome. The functions named _hold keep the buffer until then; the others copy what they need.

#ifndef GOPGAS_UCX_SHIM_H
#define GOPGAS_UCX_SHIM_H

#include "objects.h"

// gx_post_fetch posts a fetching atomic.
static inline ucs_status_ptr_t gx_post_fetch(ucp_ep_h ep, ucp_rkey_h key, uint64_t remote, uint32_t op,
                               uint32_t bytes, uint64_t *operand, uint64_t *result,
                               ucp_send_nbx_callback_t done, void *user_data)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
        .cb.send      = done,
        .user_data    = user_data,
        .datatype     = ucp_dt_make_contig(bytes),
        .reply_buffer = result,
    };
    return ucp_atomic_op_nbx(ep, (ucp_atomic_op_t)op, operand, 1, remote, key, &param);
}

// bitwise.c
//
// gx_bitwise_broken reports whether this UCX computes fetching and, or and xor wrongly; gx_chain_start
// then takes gx_post_fetch's place for them. The slot has begun and knows its word's size.
int     gx_bitwise_broken(void);
int32_t gx_chain_start(gx_ep *ep, gx_slot *s, uint32_t op, uint64_t operand, uint64_t remote,
                       gx_rkey *key);

// rma.c
int32_t gx_put_copy(gx_ep *ep, gx_slot *s, const void *src, uint64_t len, uint64_t remote, gx_rkey *key);
int32_t gx_put_hold(gx_ep *ep, gx_slot *s, const void *src, uint64_t len, uint64_t remote, gx_rkey *key);
int32_t gx_get_hold(gx_ep *ep, gx_slot *s, void *dst, uint64_t len, uint64_t remote, gx_rkey *key);
int32_t gx_atomic(gx_ep *ep, gx_slot *s, uint32_t op, uint32_t bytes, uint64_t operand, uint64_t remote,
                  gx_rkey *key);
int32_t gx_fetch_atomic(gx_ep *ep, gx_slot *s, uint32_t op, uint32_t bytes, uint64_t operand,
                        uint64_t swap, uint64_t remote, gx_rkey *key);
int32_t gx_ep_flush(gx_ep *ep, gx_slot *s);

#endif
