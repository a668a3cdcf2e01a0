// How a lane opens: its endpoint, and its first message, which auth.c describes.
#include <stdlib.h>

#include "lane.h"

// channel_reached reports whether another PE has answered on the channel.
int channel_reached(const channel_t *c)
{
    for (uint32_t i = 0; i < c->nopened; i++)
        if (c->opened[i]->pe != c->engine->config.pe && c->opened[i]->open)
            return 1;
    return c->reached;
}

// any_peer_reached reports whether another PE has answered this one. If one has, UCX's settings cannot be why a PE is
// out of reach.
static int any_peer_reached(const channel_t *c)
{
    return channel_reached(c) || engine_heard_from_any(c->engine);
}

static void on_endpoint_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    lane_t *l = arg;
    (void)ep;
    if (!l->channel->renewing)
        lane_fail(l, connection_status(status));
}

// opening is the first message of a lane.
struct opening {
    struct wire_head head;
    struct wire_open open;
};

// make_opening makes the first message of a lane to the engine with the given nonce, and the lane's tags.
static int make_opening(engine_t *e, const void *nonce, struct lane_name *name, struct opening *m, uint64_t tags[2])
{
    memcpy(name->target_nonce, nonce, sizeof name->target_nonce);
    if (!random_words(name->origin_nonce, 2))
        return 0;
    *m = (struct opening){.head = {.flags = WIRE_OPEN, .pe = name->origin, .lane = name->lane}};
    memcpy(m->open.nonce, name->origin_nonce, sizeof m->open.nonce);
    prove_lane(e, name, m->open.proof, tags);
    return 1;
}

// engine_opening makes the message with which PE pe would open a lane to the engine at address. For tests.
void engine_opening(engine_t *e, const void *address, uint32_t pe, uint32_t target, uint32_t lane, void *message, uint64_t tags[2])
{
    struct lane_name name = {.origin = pe, .target = target, .lane = lane};
    struct opening m;
    if (make_opening(e, address, &name, &m, tags))
        memcpy(message, &m, sizeof m);
}

// connect_lane creates the lane's endpoint and returns UCX's status.
static ucs_status_t connect_lane(lane_t *l)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = l->address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_endpoint_error, .arg = l},
    };
    return ucp_ep_create(l->channel->worker, &params, &l->ep);
}

// lane_number returns the next number after *last; 0 after the last: no number is ever used twice, so that a message
// which opens one lane cannot open another.
static uint32_t lane_number(uint32_t *last)
{
    uint32_t number = __atomic_load_n(last, __ATOMIC_RELAXED);
    while (number != UINT32_MAX && !__atomic_compare_exchange_n(last, &number, number + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return number == UINT32_MAX ? 0 : number + 1;
}

// engine_spend_lanes sets the number of lanes that this PE has opened to pe. For tests.
void engine_spend_lanes(engine_t *e, uint32_t pe, uint32_t lanes)
{
    __atomic_store_n(&e->lanes_to[pe], lanes, __ATOMIC_RELAXED);
}

// send_opening sends the lane's first message to the engine that has the given nonce.
static void send_opening(lane_t *l, const void *nonce)
{
    engine_t *e = l->channel->engine;
    struct lane_name name = {.origin = e->config.pe, .target = l->pe};
    struct opening m;
    sendbuf_t *b = take_buf(l->channel);
    l->number = name.lane = lane_number(&e->lanes_to[l->pe]);
    if (name.lane == 0) {
        lane_fail(l, UCS_ERR_EXCEEDS_LIMIT);
        free(b);
        return;
    }
    if (!b || !make_opening(e, nonce, &name, &m, l->tags)) {
        lane_fail(l, UCS_ERR_NO_MEMORY);
        free(b);
        return;
    }
    memcpy(b->data, &m, sizeof m);
    if (post_message(l, b, NULL, 0, b->data, sizeof m))
        give_buf(l->channel, b);
}

static lane_t *lane_new(channel_t *c, uint32_t pe, const void *address, size_t address_bytes)
{
    lane_t *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->channel = c;
    l->pe = pe;
    if (address_bytes > NONCE_BYTES && (l->address = malloc(address_bytes - NONCE_BYTES)))
        memcpy(l->address, (const char *)address + NONCE_BYTES, address_bytes - NONCE_BYTES);
    l->address_bytes = address_bytes - NONCE_BYTES;
    c->lanes[pe] = l;
    c->opened[c->nopened++] = l;
    return l;
}

// lane_open opens the lane of c to the engine of pe, which has the given address: for the first time, or again after
// channel_renew. It returns NULL only without memory; a lane that cannot reach pe is returned in the failed state, and
// one that has failed before stays so. Messages issued before pe has answered are queued.
lane_t *lane_open(channel_t *c, uint32_t pe, const void *address, size_t address_bytes)
{
    lane_t *l = c->lanes[pe] ? c->lanes[pe] : lane_new(c, pe, address, address_bytes);
    if (!l || !(l->out = take_buf(c)))
        return NULL;
    start_buffer(l);
    lane_begin(l, c->engine->config.first);
    if (l->status != UCS_OK)
        return l;
    l->status = address && l->address ? connect_lane(l) : UCS_ERR_NO_ELEM; // the exchange may have ended since
    if (l->status == UCS_OK) {
        c->connected++;
        send_opening(l, address);
    } else {
        l->ep = NULL;
        if (any_peer_reached(c))
            l->status = connection_status(l->status);
        engine_fail_peer(c->engine, pe, l->status, CUT);
    }
    return l;
}
