// Layer 2: endpoints, active messages, workers, memory.

#ifndef GOPGAS_UCX_OBJECTS_H
#define GOPGAS_UCX_OBJECTS_H

#include "base.h"

// endpoint.c
gx_ep  *gx_ep_create(gx_worker *w, const void *address, size_t len, int peer_errors);
void    gx_ep_free(gx_ep *ep);
int32_t gx_ep_open(gx_ep *ep);
int32_t gx_ep_connect(gx_ep *ep);
int32_t gx_ep_close(gx_ep *ep, gx_slot *s, int force);
int32_t gx_ep_print(gx_ep *ep, char **text, size_t *len);
gx_ep  *gx_next_failed(gx_worker *w);

// gx_ready makes sure that there is an endpoint to use, and that it has not failed.
static inline int32_t gx_ready(gx_ep *ep)
{
    if (__builtin_expect(ep->ep != 0 && ep->status == 0, 1)) {
        return UCS_OK;
    }
    return gx_ep_open(ep);
}

// messages.c
int32_t gx_am_drop_all(gx_worker *w);
int32_t gx_am_send_copy(gx_ep *ep, gx_slot *s, uint32_t id, const void *header, uint64_t header_len,
                        const void *data, uint64_t len, uint32_t flags);
int32_t gx_am_send_hold(gx_ep *ep, gx_slot *s, uint32_t id, const void *header, uint64_t header_len,
                        const void *data, uint64_t len, uint32_t flags);
gx_inbox *gx_inbox_create(gx_worker *w, uint32_t id, int32_t *status);
void      gx_inbox_destroy(gx_inbox *in, uint32_t id);
int32_t   gx_msg_recv_hold(gx_worker *w, gx_slot *s, gx_msg *m, void *dst);
void      gx_msg_free(gx_worker *w, gx_msg *m);

// worker.c
int32_t gx_worker_create(ucp_context_h context, int wakeup, int messages, const char *name,
                         gx_worker **worker, char *detail);
void    gx_worker_destroy(gx_worker *w);
int32_t gx_worker_address(gx_worker *w, int net_only, ucp_address_t **address, size_t *len);
void    gx_worker_release_address(gx_worker *w, ucp_address_t *address);
int32_t gx_worker_max_header(gx_worker *w, size_t *len);
int32_t gx_worker_print(gx_worker *w, char **text, size_t *len);
int32_t gx_worker_flush(gx_worker *w, gx_slot *s);
int32_t gx_worker_fence(gx_worker *w);
void    gx_request_cancel(gx_worker *w, gx_slot *s);
uint32_t gx_progress(gx_worker *w);
uint32_t gx_progress_until(gx_worker *w, const gx_slot *s, uint32_t spin_ns);
int32_t  gx_arm(gx_worker *w);
int32_t  gx_signal(gx_worker *w);
int32_t  gx_wait_efd(int32_t efd, int32_t timeout_ms);
void     gx_doze(uint32_t ns);

// memory.c
int32_t gx_mem_map(ucp_context_h context, void *address, size_t len, ucp_mem_h *memh, void **base,
                   size_t *mapped, char *detail);
int32_t gx_rkey_pack(ucp_context_h context, ucp_mem_h memh, void **buffer, size_t *len);
void    gx_rkey_buffer_release(void *buffer);
int32_t gx_rkey_unpack(gx_ep *ep, const void *packed, gx_rkey **key);
void    gx_rkey_free(gx_rkey *key);

#endif
