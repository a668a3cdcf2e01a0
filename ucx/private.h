// What the C files of this package share with each other, and not with Go.

#ifndef GOPGAS_UCX_PRIVATE_H
#define GOPGAS_UCX_PRIVATE_H

#include "shim.h"

#include <string.h>

static inline ucp_worker_h gx_ucp(const gx_worker *w)
{
    return (ucp_worker_h)w->worker;
}

// gx_word stores a word of the given size at the start of to, whatever the byte order.
static inline void gx_word(uint64_t *to, uint32_t bytes, uint64_t value)
{
    if (bytes == 4) {
        uint32_t low = (uint32_t)value;
        memcpy(to, &low, sizeof(low));
    } else {
        *to = value;
    }
}

// gx_finish records the outcome of an operation, and gx_sent does so as UCX's callback.
void gx_finish(gx_slot *s, ucs_status_t status);
void gx_sent(void *request, ucs_status_t status, void *user_data);

// gx_posted turns what a UCX call returned into a status, and completes the slot if there will be no
// callback.
static inline int32_t gx_posted(gx_slot *s, ucs_status_ptr_t posted)
{
    if (UCS_PTR_IS_PTR(posted)) {
        s->request = (uintptr_t)posted;
        return UCS_INPROGRESS;
    }
    gx_finish(s, UCS_PTR_RAW_STATUS(posted));
    return s->status;
}

// gx_post_fetch posts a fetching atomic.
ucs_status_ptr_t gx_post_fetch(ucp_ep_h ep, ucp_rkey_h key, uint64_t remote, uint32_t op,
                               uint32_t bytes, uint64_t *operand, uint64_t *result,
                               ucp_send_nbx_callback_t done, void *user_data);

// gx_bitwise_broken reports whether this UCX computes fetching and, or and xor wrongly; gx_chain_start
// then takes gx_post_fetch's place for them. The slot has begun and knows its word's size.
int     gx_bitwise_broken(void);
int32_t gx_chain_start(gx_ep *ep, gx_slot *s, uint32_t op, uint64_t operand, uint64_t remote,
                       gx_rkey *key);

#endif
