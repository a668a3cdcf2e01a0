// Active messages: sending, and the inboxes that what arrives is linked to.

#include "objects.h"

#include <stdlib.h>

static void gx_received(void *request, ucs_status_t status, size_t length, void *user_data)
{
    (void)length;
    ucp_request_free(request);
    gx_finish(user_data, status);
}

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
// one before it follows the pointer, so that an unexpected message would crash the receiver.
int32_t gx_am_drop_all(gx_worker *w)
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
