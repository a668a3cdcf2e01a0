// Workers, endpoints, memory, operations and progress, in the order of shim.h. The rest of it is in
// setup.c (configuration, context), messages.c (active messages) and bitwise.c.

#include "private.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t gx_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// ---- Workers --------------------------------------------------------------------------------------

int32_t gx_worker_create(ucp_context_h context, int wakeup, int messages, const char *name,
                         gx_worker **worker, char *detail)
{
    // Serialized, always: Go holds its own lock where several goroutines share a worker, and a
    // goroutine moves between threads.
    ucp_worker_params_t params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
        .flags       = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK,
    };
    if (name != NULL) {
        params.field_mask |= UCP_WORKER_PARAM_FIELD_NAME;
        params.name        = name;
    }
    gx_worker *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_worker_h h;
    gx_detail_begin(detail);
    ucs_status_t status = ucp_worker_create(context, &params, &h);
    if (status == UCS_OK) {
        int efd = -1;
        w->worker = (uintptr_t)h;
        if (wakeup) {
            status = ucp_worker_get_efd(h, &efd);
        }
        if (status == UCS_OK && messages) {
            status = (ucs_status_t)gx_am_drop_all(w);
        }
        if (status != UCS_OK) {
            ucp_worker_destroy(h);
        }
        w->efd = efd;
    }
    gx_detail_end();
    if (status != UCS_OK) {
        free(w);
        return status;
    }
    *worker = w;
    return UCS_OK;
}

void gx_worker_destroy(gx_worker *w)
{
    ucp_worker_destroy(gx_ucp(w));
    free(w);
}

int32_t gx_worker_address(gx_worker *w, int net_only, ucp_address_t **address, size_t *len)
{
    ucp_worker_attr_t attr = {
        .field_mask    = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
        .address_flags = net_only ? UCP_WORKER_ADDRESS_FLAG_NET_ONLY : 0,
    };
    ucs_status_t status = ucp_worker_query(gx_ucp(w), &attr);
    if (status == UCS_OK) {
        *address = attr.address;
        *len     = attr.address_length;
    }
    return status;
}

void gx_worker_release_address(gx_worker *w, ucp_address_t *address)
{
    ucp_worker_release_address(gx_ucp(w), address);
}

int32_t gx_worker_max_header(gx_worker *w, size_t *len)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER};
    ucs_status_t status    = ucp_worker_query(gx_ucp(w), &attr);
    *len = status == UCS_OK ? attr.max_am_header : 0;
    return status;
}

int32_t gx_worker_print(gx_worker *w, char **text, size_t *len)
{
    GX_TEXT(text, len, ucp_worker_print_info(gx_ucp(w), stream));
}

gx_slot *gx_slots_create(gx_worker *w, uint32_t first_index)
{
    gx_slot *slots = calloc(GX_SLOT_CHUNK, sizeof(*slots));
    for (uint32_t i = 0; slots != NULL && i < GX_SLOT_CHUNK; i++) {
        slots[i].index  = first_index + i;
        slots[i].worker = (uintptr_t)w;
    }
    return slots;
}

// ---- Endpoints ------------------------------------------------------------------------------------

gx_ep *gx_ep_create(gx_worker *w, const void *address, size_t len, int peer_errors)
{
    gx_ep *ep  = calloc(1, sizeof(*ep));
    void *copy = malloc(len);
    if (ep == NULL || copy == NULL) {
        free(ep);
        free(copy);
        return NULL;
    }
    memcpy(copy, address, len);
    ep->worker      = (uintptr_t)w;
    ep->address     = (uintptr_t)copy;
    ep->peer_errors = peer_errors != 0;
    return ep;
}

// gx_ep_mend takes an endpoint off its worker's books of failed ones.
static void gx_ep_mend(gx_ep *ep)
{
    gx_worker *w = (gx_worker *)ep->worker;
    if (ep->status < 0) {
        w->broken--;
    }
    uintptr_t *link = &w->failed_eps;
    while (*link != 0) {
        gx_ep *at = (gx_ep *)*link;
        if (at == ep) {
            *link = ep->next_failed;
            return;
        }
        link = &at->next_failed;
    }
}

void gx_ep_free(gx_ep *ep)
{
    gx_ep_mend(ep);
    free((void *)ep->address);
    free(ep);
}

static void gx_ep_failed(void *arg, ucp_ep_h h, ucs_status_t status)
{
    (void)h;
    gx_ep *ep    = arg;
    gx_worker *w = (gx_worker *)ep->worker;
    if (ep->status < 0) {
        return;
    }
    ep->next_failed = w->failed_eps;
    w->failed_eps   = (uintptr_t)ep;
    w->last         = status;
    w->broken++;
    __atomic_store_n(&ep->status, (int32_t)status, __ATOMIC_RELEASE);
    __atomic_fetch_add(&w->failures, 1, __ATOMIC_RELEASE);
}

int32_t gx_ep_open(gx_ep *ep)
{
    if (ep->status < 0) {
        return ep->status;
    }
    // The handler is always installed: without one UCX logs failures that nobody can act on.
    ucp_ep_params_t params = {
        .field_mask      = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                           UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_USER_DATA,
        .address         = (const ucp_address_t *)ep->address,
        .err_mode        = ep->peer_errors ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
        .err_handler.cb  = gx_ep_failed,
        .err_handler.arg = ep,
        .user_data       = ep,
    };
    gx_worker *w = (gx_worker *)ep->worker;
    ucp_ep_h h;
    gx_detail_begin(w->detail);
    ucs_status_t status = ucp_ep_create(gx_ucp(w), &params, &h);
    gx_detail_end();
    if (status == UCS_OK) {
        w->detail[0] = '\0';
        ep->ep       = (uintptr_t)h;
    }
    return status;
}

int32_t gx_ep_connect(gx_ep *ep)
{
    return gx_ready(ep);
}

int32_t gx_ep_print(gx_ep *ep, char **text, size_t *len)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    GX_TEXT(text, len, ucp_ep_print_info((ucp_ep_h)ep->ep, stream));
}

gx_ep *gx_next_failed(gx_worker *w)
{
    gx_ep *ep = (gx_ep *)w->failed_eps;
    if (ep != NULL) {
        w->failed_eps   = ep->next_failed;
        ep->next_failed = 0;
    }
    return ep;
}

// ---- Completion -----------------------------------------------------------------------------------

// gx_finish records the outcome of an operation. The status is stored last: whoever sees it sees the
// result too.
void gx_finish(gx_slot *s, ucs_status_t status)
{
    gx_worker *w = (gx_worker *)s->worker;
    if (s->word == 4) {
        uint32_t low;
        memcpy(&low, &s->result, sizeof(low));
        s->result = low;
    }
    if (s->flush && status == UCS_OK && w->broken > 0) {
        // UCX reports a worker's flush as a success when an endpoint's own flush failed.
        status = (ucs_status_t)w->last;
    }
    s->request = 0;
    __atomic_store_n(&s->status, (int32_t)status, __ATOMIC_RELEASE);
    if (s->abandoned) {
        s->next_done = w->done;
        w->done      = s->index;
    }
}

void gx_sent(void *request, ucs_status_t status, void *user_data)
{
    ucp_request_free(request);
    gx_finish(user_data, status);
}

// ---- Closing --------------------------------------------------------------------------------------

int32_t gx_ep_close(gx_ep *ep, gx_slot *s, int force)
{
    gx_begin(s);
    if (ep->ep == 0) {
        gx_finish(s, UCS_OK);
        return UCS_OK;
    }
    ucp_request_param_t param;
    gx_param(&param, s);
    if (force) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags         = UCP_EP_CLOSE_FLAG_FORCE;
    }
    ucs_status_ptr_t posted = ucp_ep_close_nbx((ucp_ep_h)ep->ep, &param);
    ep->ep = 0;
    return gx_posted(s, posted);
}

// ---- Memory ---------------------------------------------------------------------------------------

int32_t gx_mem_map(ucp_context_h context, void *address, size_t len, ucp_mem_h *memh, void **at,
                   size_t *mapped, char *detail)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address    = address,
        .length     = len,
        .flags      = address == NULL ? UCP_MEM_MAP_ALLOCATE : 0,
    };
    gx_detail_begin(detail);
    ucs_status_t status = ucp_mem_map(context, &params, memh);
    gx_detail_end();
    if (status != UCS_OK) {
        return status;
    }
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    status = ucp_mem_query(*memh, &attr);
    if (status != UCS_OK) {
        ucp_mem_unmap(context, *memh);
        return status;
    }
    *at     = attr.address;
    *mapped = attr.length;
    return UCS_OK;
}

#if UCP_API_VERSION >= UCP_VERSION(1, 14)
int32_t gx_rkey_pack(ucp_context_h context, ucp_mem_h memh, void **buffer, size_t *len)
{
    (void)context;
    ucp_memh_pack_params_t params = {.field_mask = 0};
    return ucp_memh_pack(memh, &params, buffer, len);
}

void gx_rkey_buffer_release(void *buffer)
{
    ucp_memh_buffer_release_params_t params = {.field_mask = 0};
    ucp_memh_buffer_release(buffer, &params);
}
#else
int32_t gx_rkey_pack(ucp_context_h context, ucp_mem_h memh, void **buffer, size_t *len)
{
    return ucp_rkey_pack(context, memh, buffer, len);
}

void gx_rkey_buffer_release(void *buffer)
{
    ucp_rkey_buffer_release(buffer);
}
#endif

int32_t gx_rkey_unpack(gx_ep *ep, const void *packed, gx_rkey **key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_rkey *k = calloc(1, sizeof(*k));
    if (k == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_rkey_h h;
    status = ucp_ep_rkey_unpack((ucp_ep_h)ep->ep, packed, &h);
    if (status != UCS_OK) {
        free(k);
        return status;
    }
    k->rkey = (uintptr_t)h;
    *key    = k;
    return UCS_OK;
}

void gx_rkey_free(gx_rkey *key)
{
    ucp_rkey_destroy((ucp_rkey_h)key->rkey);
    free(key);
}

// ---- Put, get, atomics ----------------------------------------------------------------------------

int32_t gx_put_hold(gx_ep *ep, gx_slot *s, const void *src, uint64_t len, uint64_t remote, gx_rkey *key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    ucp_request_param_t param;
    gx_param(&param, s);
    return gx_posted(s, ucp_put_nbx((ucp_ep_h)ep->ep, src, len, remote, (ucp_rkey_h)key->rkey, &param));
}

int32_t gx_put_copy(gx_ep *ep, gx_slot *s, const void *src, uint64_t len, uint64_t remote, gx_rkey *key)
{
    gx_copy(s->copy, src, len);
    return gx_put_hold(ep, s, s->copy, len, remote, key);
}

int32_t gx_get_hold(gx_ep *ep, gx_slot *s, void *dst, uint64_t len, uint64_t remote, gx_rkey *key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    ucp_request_param_t param;
    gx_param(&param, s);
    return gx_posted(s, ucp_get_nbx((ucp_ep_h)ep->ep, dst, len, remote, (ucp_rkey_h)key->rkey, &param));
}

int32_t gx_atomic(gx_ep *ep, gx_slot *s, uint32_t op, uint32_t bytes, uint64_t operand, uint64_t remote,
                  gx_rkey *key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    gx_word(&s->operand, bytes, operand);
    // No callback: UCX takes the operand at once, keeps no request of ours, and completes the
    // operation before the next flush does.
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(bytes),
    };
    ucs_status_ptr_t posted = ucp_atomic_op_nbx((ucp_ep_h)ep->ep, (ucp_atomic_op_t)op, &s->operand, 1,
                                                remote, (ucp_rkey_h)key->rkey, &param);
    if (UCS_PTR_IS_PTR(posted)) {
        ucp_request_free(posted);
        posted = NULL;
    }
    return gx_posted(s, posted);
}

ucs_status_ptr_t gx_post_fetch(ucp_ep_h ep, ucp_rkey_h key, uint64_t remote, uint32_t op,
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

// ---- Fetching atomics -----------------------------------------------------------------------------

int32_t gx_fetch_atomic(gx_ep *ep, gx_slot *s, uint32_t op, uint32_t bytes, uint64_t operand,
                        uint64_t swap, uint64_t remote, gx_rkey *key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    s->word = bytes;
    if (op >= UCP_ATOMIC_OP_AND && gx_bitwise_broken()) {
        return gx_chain_start(ep, s, op, operand, remote, key);
    }
    gx_word(&s->operand, bytes, operand);
    gx_word(&s->result, bytes, swap);
    return gx_posted(s, gx_post_fetch((ucp_ep_h)ep->ep, (ucp_rkey_h)key->rkey, remote, op, bytes,
                                      &s->operand, &s->result, gx_sent, s));
}

// ---- Order and completion -------------------------------------------------------------------------

int32_t gx_ep_flush(gx_ep *ep, gx_slot *s)
{
    gx_begin(s);
    if (ep->status < 0 || ep->ep == 0) {
        gx_finish(s, (ucs_status_t)ep->status); // failed, or never used: nothing is outstanding
        return ep->status;
    }
    ucp_request_param_t param;
    gx_param(&param, s);
    return gx_posted(s, ucp_ep_flush_nbx((ucp_ep_h)ep->ep, &param));
}

int32_t gx_worker_flush(gx_worker *w, gx_slot *s)
{
    gx_begin(s);
    s->flush = 1;
    ucp_request_param_t param;
    gx_param(&param, s);
    return gx_posted(s, ucp_worker_flush_nbx(gx_ucp(w), &param));
}

int32_t gx_worker_fence(gx_worker *w)
{
    return ucp_worker_fence(gx_ucp(w));
}

void gx_request_cancel(gx_worker *w, gx_slot *s)
{
    if (s->status == UCS_INPROGRESS && s->request != 0) {
        ucp_request_cancel(gx_ucp(w), (void *)s->request);
    }
}

// ---- Progress -------------------------------------------------------------------------------------

uint32_t gx_progress(gx_worker *w)
{
    return ucp_worker_progress(gx_ucp(w));
}

// gx_progress_until makes progress until the slot completes (with no slot: until anything happened),
// but not much longer than spin_ns. It returns how much happened.
uint32_t gx_progress_until(gx_worker *w, const gx_slot *s, uint32_t spin_ns)
{
    ucp_worker_h h = gx_ucp(w);
    uint32_t total = 0;
    uint64_t until = 0;
    for (uint32_t round = 1;; round++) {
        total += ucp_worker_progress(h);
        if (s != NULL ? s->status != UCS_INPROGRESS : total > 0) {
            return total;
        }
        if (round % 8 == 0) {
            uint64_t now = gx_now();
            if (until == 0) {
                until = now + spin_ns;
            } else if (now >= until) {
                return total;
            }
        }
    }
}

int32_t gx_arm(gx_worker *w)
{
    return ucp_worker_arm(gx_ucp(w));
}

int32_t gx_signal(gx_worker *w)
{
    return ucp_worker_signal(gx_ucp(w));
}

// gx_wait_efd sleeps until the armed event descriptor is readable (1) or the time is over (0).
int32_t gx_wait_efd(int32_t efd, int32_t timeout_ms)
{
    struct pollfd p = {.fd = efd, .events = POLLIN};
    int n           = poll(&p, 1, timeout_ms);
    if (n < 0) {
        return errno == EINTR ? 0 : UCS_ERR_IO_ERROR;
    }
    return n;
}

void gx_doze(uint32_t ns)
{
    struct timespec t = {.tv_sec = 0, .tv_nsec = (long)ns};
    nanosleep(&t, NULL);
}
