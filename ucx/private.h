// What the C files of this package share with each other, and not with Go.

#ifndef GOPGAS_UCX_PRIVATE_H
#define GOPGAS_UCX_PRIVATE_H

#include "shim.h"

#include <stdio.h>
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

// GX_TEXT runs a UCX print function into a malloc'ed string.
#define GX_TEXT(text, len, print)                      \
    do {                                               \
        FILE *stream = open_memstream((text), (len));  \
        if (stream == NULL) {                          \
            return UCS_ERR_NO_MEMORY;                  \
        }                                              \
        print;                                         \
        fclose(stream);                                \
        return UCS_OK;                                 \
    } while (0)

// gx_detail_begin makes this thread's UCX warnings and errors go to detail instead of the log, until
// gx_detail_end.
void gx_detail_begin(char *detail);
void gx_detail_end(void);

// gx_ep_open connects an endpoint, or says why it cannot be used.
int32_t gx_ep_open(gx_ep *ep);

// gx_am_drop_all gives every active message id a handler.
int32_t gx_am_drop_all(gx_worker *w);

// gx_ready makes sure that there is an endpoint to use, and that it has not failed.
static inline int32_t gx_ready(gx_ep *ep)
{
    if (__builtin_expect(ep->ep != 0 && ep->status == 0, 1)) {
        return UCS_OK;
    }
    return gx_ep_open(ep);
}

// gx_copy is memcpy that may be given nowhere when there is nothing to copy.
static inline void gx_copy(void *to, const void *from, size_t len)
{
    if (len > 0) {
        memcpy(to, from, len);
    }
}

// gx_begin readies a slot for a new operation.
static inline void gx_begin(gx_slot *s)
{
    s->status    = UCS_INPROGRESS;
    s->request   = 0;
    s->abandoned = 0;
    s->word      = 0;
    s->flush     = 0;
}

// gx_finish records the outcome of an operation, and gx_sent does so as UCX's callback.
void gx_finish(gx_slot *s, ucs_status_t status);
void gx_sent(void *request, ucs_status_t status, void *user_data);

// gx_param asks for gx_sent to be called with the slot.
static inline void gx_param(ucp_request_param_t *param, gx_slot *s)
{
    param->op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param->cb.send      = gx_sent;
    param->user_data    = s;
}

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
