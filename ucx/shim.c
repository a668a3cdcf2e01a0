// Implementation of shim.h. Functions come in the order of the header.

#include "private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <ucs/debug/log_def.h>

// status.go spells these numbers out, because it is also built without C.
_Static_assert(UCS_OK == 0 && UCS_INPROGRESS == 1 && UCS_ERR_NO_MESSAGE == -1, "status.go");
_Static_assert(UCS_ERR_UNREACHABLE == -6 && UCS_ERR_NO_DEVICE == -14, "status.go");
_Static_assert(UCS_ERR_CANCELED == -16 && UCS_ERR_CONNECTION_RESET == -25, "status.go");
_Static_assert(UCS_ERR_FIRST_LINK_FAILURE == -40 && UCS_ERR_ENDPOINT_TIMEOUT == -80, "status.go");
_Static_assert(UCP_ATOMIC_OP_ADD == 0 && UCP_ATOMIC_OP_SWAP == 1 && UCP_ATOMIC_OP_CSWAP == 2 &&
               UCP_ATOMIC_OP_AND == 3 && UCP_ATOMIC_OP_OR == 4 && UCP_ATOMIC_OP_XOR == 5, "types.go");
_Static_assert(UCP_FEATURE_RMA == 2 && UCP_FEATURE_AMO32 == 4 && UCP_FEATURE_AMO64 == 8 &&
               UCP_FEATURE_WAKEUP == 16 && UCP_FEATURE_AM == 64, "types.go");
_Static_assert(UCP_AM_SEND_FLAG_EAGER == 2 && UCP_AM_SEND_FLAG_RNDV == 4, "types.go");

// ---- What UCX says while it fails -----------------------------------------------------------------
//
// UCX explains failures of set-up calls in its log, on stdout, and returns a bare status. While a
// thread is inside a set-up call its warnings and errors are collected here instead, so that the
// error that the caller gets can carry the explanation. All other messages go where they always went.

static _Thread_local char *gx_detail;

static ucs_log_func_rc_t gx_log(const char *file, unsigned line, const char *function,
                                ucs_log_level_t level, const ucs_log_component_config_t *component,
                                const char *format, va_list args)
{
    (void)file; (void)line; (void)function; (void)component;
    char *to = gx_detail;
    if (to == NULL || level > UCS_LOG_LEVEL_WARN) {
        return UCS_LOG_FUNC_RC_CONTINUE;
    }
    size_t used = strlen(to);
    if (used + 4 < GX_DETAIL) {
        if (used > 0) {
            memcpy(to + used, "; ", 3);
            used += 2;
        }
        va_list copy;
        va_copy(copy, args);
        vsnprintf(to + used, GX_DETAIL - used, format, copy);
        va_end(copy);
    }
    return UCS_LOG_FUNC_RC_STOP;
}

static void gx_log_install(void)
{
    ucs_log_push_handler(gx_log);
}

static void gx_detail_begin(char *detail)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, gx_log_install);
    detail[0] = '\0';
    gx_detail = detail;
}

static void gx_detail_end(void)
{
    gx_detail = NULL;
}

// gx_text runs a UCX print function into a malloc'ed string.
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

// ---- Configuration and context --------------------------------------------------------------------

int32_t gx_config_read(const char *prefix, const char *file, ucp_config_t **config, char *detail)
{
    gx_detail_begin(detail);
    ucs_status_t status = ucp_config_read(prefix, file, config);
    gx_detail_end();
    return status;
}

int32_t gx_config_modify(ucp_config_t *config, const char *name, const char *value, char *detail)
{
    gx_detail_begin(detail);
    ucs_status_t status = ucp_config_modify(config, name, value);
    gx_detail_end();
    return status;
}

int32_t gx_config_print(const ucp_config_t *config, const char *title, int flags, char **text, size_t *len)
{
    GX_TEXT(text, len, ucp_config_print(config, stream, title, (ucs_config_print_flags_t)flags));
}

int32_t gx_context_create(uint64_t features, uint64_t endpoints, uint64_t per_node, const char *name,
                          const ucp_config_t *config, ucp_context_h *context, char *detail)
{
    ucp_params_t params = {
        .field_mask        = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features          = features,
        .mt_workers_shared = 1, // goroutines on different threads use different workers of a context
    };
    if (endpoints > 0) {
        params.field_mask       |= UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
        params.estimated_num_eps = endpoints;
    }
    if (per_node > 0) {
        params.field_mask       |= UCP_PARAM_FIELD_ESTIMATED_NUM_PPN;
        params.estimated_num_ppn = per_node;
    }
    if (name != NULL) {
        params.field_mask |= UCP_PARAM_FIELD_NAME;
        params.name        = name;
    }
    gx_detail_begin(detail);
    ucs_status_t status = ucp_init(&params, config, context);
    gx_detail_end();
    return status;
}

int32_t gx_context_print(ucp_context_h context, char **text, size_t *len)
{
    GX_TEXT(text, len, ucp_context_print_info(context, stream));
}

static uint64_t gx_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// ---- Workers --------------------------------------------------------------------------------------

static int32_t gx_am_drop_all(gx_worker *w);

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

static __attribute__((noinline)) int32_t gx_ep_open(gx_ep *ep)
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

// gx_ready makes sure that there is an endpoint to use, and that it has not failed.
static inline int32_t gx_ready(gx_ep *ep)
{
    if (__builtin_expect(ep->ep != 0 && ep->status == 0, 1)) {
        return UCS_OK;
    }
    return gx_ep_open(ep);
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

static void gx_received(void *request, ucs_status_t status, size_t length, void *user_data)
{
    (void)length;
    ucp_request_free(request);
    gx_finish(user_data, status);
}

static void gx_param(ucp_request_param_t *param, gx_slot *s)
{
    param->op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param->cb.send      = gx_sent;
    param->user_data    = s;
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

// ---- Active messages ------------------------------------------------------------------------------

int32_t gx_am_send_hold(gx_ep *ep, gx_slot *s, uint32_t id, const void *header, uint64_t header_len,
                        const void *data, uint64_t len, uint32_t flags)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    ucp_request_param_t param;
    gx_param(&param, s);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags         = flags;
    return gx_posted(s, ucp_am_send_nbx((ucp_ep_h)ep->ep, id, header, header_len, data, len, &param));
}

int32_t gx_am_send_copy(gx_ep *ep, gx_slot *s, uint32_t id, const void *header, uint64_t header_len,
                        const void *data, uint64_t len, uint32_t flags)
{
    uint8_t *to = s->copy + header_len;
    gx_copy(s->copy, header, header_len);
    gx_copy(to, data, len);
    return gx_am_send_hold(ep, s, id, s->copy, header_len, to, len, flags);
}

enum { GX_MSG_COPY = 2048 }; // eager payloads up to this size are copied, larger ones held

static ucs_status_t gx_am_arrived(void *arg, const void *header, size_t header_len, void *data,
                                  size_t len, const ucp_am_recv_param_t *param)
{
    gx_inbox *in   = arg;
    int rendezvous = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
    int can_hold   = rendezvous || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    int hold       = can_hold && (rendezvous || len > GX_MSG_COPY);
    size_t copied  = hold ? 0 : len;
    size_t align   = (header_len + 15) & ~(size_t)15; // a copied payload starts aligned
    gx_msg *m      = malloc(sizeof(*m) + align + copied);
    if (m == NULL) {
        in->lost++;
        return UCS_ERR_NO_MEMORY; // refuses a rendezvous; an eager message is gone
    }
    char *tail    = (char *)(m + 1);
    m->next       = NULL;
    m->data       = hold ? data : tail + align;
    m->data_len   = len;
    m->header_len = (uint32_t)header_len;
    m->rendezvous = (uint32_t)rendezvous;
    m->held       = (uint32_t)hold;
    gx_copy(tail, header, header_len);
    gx_copy(m->data, data, copied);
    if (in->tail != NULL) {
        in->tail->next = m;
    } else {
        in->head = m;
    }
    in->tail = m;
    __atomic_fetch_add(&in->queued, 1, __ATOMIC_RELEASE);
    return hold ? UCS_INPROGRESS : UCS_OK;
}

// gx_am_dropped takes messages for which there is no inbox. A rendezvous completes at its sender.
static ucs_status_t gx_am_dropped(void *arg, const void *header, size_t header_len, void *data, size_t len,
                                  const ucp_am_recv_param_t *param)
{
    (void)header; (void)header_len; (void)data; (void)len; (void)param;
    gx_worker *w = arg;
    w->dropped++;
    return UCS_OK;
}

static int32_t gx_am_handle(gx_worker *w, uint32_t id, ucp_am_recv_callback_t cb, void *arg)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
        .id         = id,
        .flags      = UCP_AM_FLAG_WHOLE_MSG,
        .cb         = cb,
        .arg        = arg,
    };
    return ucp_worker_set_am_recv_handler(gx_ucp(w), &param);
}

// gx_am_drop_all gives every id a handler. UCX 1.13 does not check whether an arriving message's id has
// one before it looks at it, so that a message nobody waits for would crash the receiver.
static int32_t gx_am_drop_all(gx_worker *w)
{
    int32_t status = UCS_OK;
    for (int id = GX_AM_IDS - 1; id >= 0 && status == UCS_OK; id--) {
        status = gx_am_handle(w, (uint32_t)id, gx_am_dropped, w);
    }
    return status;
}

gx_inbox *gx_inbox_create(gx_worker *w, uint32_t id, int32_t *status)
{
    gx_inbox *in = calloc(1, sizeof(*in));
    if (in == NULL) {
        *status = UCS_ERR_NO_MEMORY;
        return NULL;
    }
    in->worker = w;
    *status    = gx_am_handle(w, id, gx_am_arrived, in);
    if (*status != UCS_OK) {
        free(in);
        return NULL;
    }
    return in;
}

void gx_inbox_destroy(gx_inbox *in, uint32_t id)
{
    gx_worker *w = in->worker;
    gx_am_handle(w, id, gx_am_dropped, w);
    while (in->head != NULL) {
        gx_msg *m = in->head;
        in->head  = m->next;
        gx_msg_free(w, m);
    }
    free(in);
}

int32_t gx_msg_recv_hold(gx_worker *w, gx_slot *s, gx_msg *m, void *dst)
{
    gx_begin(s);
    ucp_request_param_t param;
    gx_param(&param, s);
    param.cb.recv_am = gx_received;
    ucs_status_ptr_t posted = ucp_am_recv_data_nbx(gx_ucp(w), m->data, dst, m->data_len, &param);
    if (!UCS_PTR_IS_ERR(posted)) {
        m->held = 0; // the descriptor now belongs to the operation
        m->data = NULL;
    }
    return gx_posted(s, posted);
}

void gx_msg_free(gx_worker *w, gx_msg *m)
{
    if (m->held) {
        ucp_am_data_release(gx_ucp(w), m->data);
    }
    free(m);
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
