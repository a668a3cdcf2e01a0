// Endpoints: made, connected on first use, found to have failed, closed.

#include "objects.h"

#include <stdlib.h>

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
    // The handler is always installed: without one UCX logs failures that no user can act on.
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
