// Workers, and progress on them.

#include "objects.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

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

// Progress.

static uint64_t gx_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

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
