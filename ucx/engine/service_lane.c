// The service lane: messages for which a PE is likely to wait go from service worker to service worker.
//
// A lane goes from its channel's worker to the service worker of its PE. So what two PEs send each other takes
// two connections, and on each the data goes one way. TCP then answers every second message with a packet that
// holds nothing but an acknowledgement, and sending it costs time in which the receiver could poll: over veth
// that is 2 us of the 10 that a message takes. On the service lane, both directions share a connection, and what is
// sent back acknowledges what has come.
//
// A lane's messages go either way; their numbers put them in order at the target. A request for an
// answer does not go by the service lane, because answers come to the worker that sent it. Nor may it overtake the
// service lane, because the target can answer a message only when it arrives (lane_drain_service).
#include <stdlib.h>

#include "lane.h"

// service_lane is the connection from this PE's service worker to another PE's.
typedef struct service_lane {
    ucp_ep_h ep;
    uint32_t broken;
} service_lane_t;

static void on_service_lane_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    service_lane_t *x = arg;
    (void)ep;
    (void)status; // the lanes find out that the PE is lost: what has not been applied is not acknowledged
    x->broken = 1;
}

static void service_lane_open(engine_t *e, service_lane_t *x, const void *address)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_service_lane_error, .arg = x},
    };
    x->broken = !address || ucp_ep_create(e->worker, &params, &x->ep) != UCS_OK;
}

static void on_service_lane_sent(void *request, ucs_status_t status, void *arg)
{
    (void)status;
    free(arg);
    ucp_request_free(request);
}

static enum service_send send_by(service_lane_t *x, sendbuf_t *b, size_t n)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_AM_SEND_FLAG_EAGER,
        .cb.send = on_service_lane_sent,
        .user_data = b,
    };
    ucs_status_ptr_t r = ucp_am_send_nbx(x->ep, AM_REQUEST, NULL, 0, b->data, n, &param);
    if (r == NULL)
        return SENT;
    return UCS_PTR_IS_ERR(r) ? DECLINED : IN_FLIGHT;
}

// service_lane_send sends the n bytes of b, unless another thread holds the service worker or there is no service
// lane to the PE: then it returns DECLINED. No more than config.connections are opened, because none is ever closed. A
// buffer that is IN_FLIGHT is freed when it has been sent.
enum service_send service_lane_send(lane_t *l, sendbuf_t *b, size_t n)
{
    engine_t *e = l->channel->engine;
    enum service_send service_send = DECLINED;
    if (!try_lock(&e->serving))
        return DECLINED;
    if (!e->service_lane)
        e->service_lane = calloc(e->config.npes, sizeof *e->service_lane);
    if (e->service_lane) {
        service_lane_t *x = &e->service_lane[l->pe];
        if (!x->ep && !x->broken && e->service_lanes < e->config.connections) {
            e->service_lanes++;
            service_lane_open(e, x, l->address);
        }
        if (x->ep && !x->broken)
            service_send = send_by(x, b, n);
        e->service_lane_sent += service_send != DECLINED;
    }
    unlock(&e->serving);
    return service_send;
}
