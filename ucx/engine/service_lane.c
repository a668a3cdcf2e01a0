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
//
// The connection of a service lane may break, or never come about, while that of the lane works. So the lane keeps a
// copy of each message until the target has applied it, and sends the copies itself when they are overdue. The target
// drops what comes twice, by its number.
#include <stdlib.h>

#include "lane.h"

// service_lane is the connection from this PE's service worker to another PE's.
typedef struct service_lane {
    ucp_ep_h ep;
    uint32_t broken; // set by any thread
} service_lane_t;

static int is_broken(const service_lane_t *x)
{
    return __atomic_load_n(&x->broken, __ATOMIC_RELAXED);
}

static void on_service_lane_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    service_lane_t *x = arg;
    (void)ep;
    (void)status; // the lanes find out whether the PE is lost
    __atomic_store_n(&x->broken, 1, __ATOMIC_RELAXED);
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

// room_to_keep makes room for a copy of n bytes behind a head, and reports whether there is some.
static int room_to_keep(lane_t *l, size_t n)
{
    enum { FIRST = 4 << 10 };
    size_t want = l->kept_bytes + sizeof(struct kept) + n;
    size_t room = l->kept_room ? l->kept_room : FIRST;
    while (room < want)
        room *= 2;
    if (room > KEPT_MAX)
        return 0;
    if (room > l->kept_room) {
        char *more = realloc(l->kept, room);
        if (!more)
            return 0;
        l->kept = more;
        l->kept_room = room;
    }
    return 1;
}

static void keep(lane_t *l, uint32_t seq, const void *data, size_t n)
{
    struct kept k = {.seq = seq, .bytes = n};
    if (l->kept_bytes == 0)
        l->kept_ns = 0;
    memcpy(l->kept + l->kept_bytes, &k, sizeof k);
    memcpy(l->kept + l->kept_bytes + sizeof k, data, n);
    l->kept_bytes += sizeof k + n;
}

// service_lane_send sends the n bytes of b, the message seq, and keeps a copy. It returns DECLINED if another thread
// holds the service worker, if there is no service lane to the PE, or no room for the copy. No more than
// config.connections service lanes are opened, because none is ever closed. A buffer that is IN_FLIGHT is freed when it
// has been sent.
enum service_send service_lane_send(lane_t *l, uint32_t seq, sendbuf_t *b, size_t n)
{
    engine_t *e = l->channel->engine;
    enum service_send service_send = DECLINED;
    if (!room_to_keep(l, n) || !try_lock(&e->serving))
        return DECLINED;
    if (!e->service_lane)
        e->service_lane = calloc(e->config.npes, sizeof *e->service_lane);
    if (e->service_lane) {
        service_lane_t *x = &e->service_lane[l->pe];
        if (!x->ep && !is_broken(x) && e->service_lanes < e->config.connections) {
            e->service_lanes++;
            service_lane_open(e, x, l->address);
        }
        if (x->ep && !is_broken(x)) {
            keep(l, seq, b->data, n); // first: b may be freed while it is sent
            service_send = send_by(x, b, n);
            if (service_send == DECLINED)
                l->kept_bytes -= sizeof(struct kept) + n;
        }
        e->service_lane_sent += service_send != DECLINED;
    }
    unlock(&e->serving);
    return service_send;
}

// overdue_ns returns how long the target may apply nothing before the copies are sent.
static int64_t overdue_ns(const engine_t *e)
{
    const int64_t most = 2000 * 1000 * 1000, part = e->config.peer_timeout_ns / 16;
    return part < most ? part : most;
}

// service_lane_overdue reports whether the service lane is broken, or the target has applied nothing for long, while
// there are copies of messages. The service lane is not used any more then.
int service_lane_overdue(lane_t *l)
{
    if (l->status != UCS_OK || l->kept_bytes == 0)
        return 0;
    engine_t *e = l->channel->engine;
    service_lane_t *x = &e->service_lane[l->pe];
    int64_t now = now_ns();
    if (l->kept_ns == 0 || l->kept_acked != l->acked) {
        l->kept_acked = l->acked;
        l->kept_ns = now;
    }
    if (now - l->kept_ns > overdue_ns(e))
        __atomic_store_n(&x->broken, 1, __ATOMIC_RELAXED);
    return is_broken(x);
}
