// What targets answer: acknowledgements, bytes and old values.
#include "lane.h"

// lane_opened sends the messages that have waited for the lane to open.
static void lane_opened(lane_t *l)
{
    l->open = 1;
    l->silent_ns = 0;
    while (l->waiting) {
        sendbuf_t *b = l->waiting;
        uint64_t handle = b->handle;
        l->waiting = b->next;
        int over = post_message(l, b, b->header_bytes ? b->data : NULL, b->header_bytes, b->rest, b->rest_bytes);
        l->pending--;
        source_release(l, handle);
        if (over)
            give_buf(l->channel, b);
    }
}

// expected returns the slot that an answer on the lane with the given token completes, or NULL if the slot was
// abandoned. Tokens come again after 2^21 uses of a slot. By then the lane's answer to the first use has come,
// because its answers come in order; that of another lane may not have.
static slot_t *expected(channel_t *c, const lane_t *l, uint32_t token)
{
    slot_t *s = &c->slots[token % SLOTS];
    return s->token == token && s->status == UCS_INPROGRESS && s->pe == l->pe ? s : NULL;
}

static void take_value(channel_t *c, const lane_t *l, uint32_t token, uint64_t value)
{
    slot_t *s = expected(c, l, token);
    if (!s)
        return;
    s->value = value;
    slot_end(c, s, UCS_OK);
}

static void take_bytes(channel_t *c, lane_t *l, const struct wire_get *get, const char *from, uint32_t n)
{
    slot_t *s = expected(c, l, get->slot);
    if (!s)
        return;
    if (n > s->left || get->pos > s->bytes || n > s->bytes - get->pos)
        return; // not an answer of the engine's
    if (s->block)
        slot_scatter(s, get->pos, from, n);
    else
        memcpy(s->dst + get->pos, from, n);
    s->left -= n;
    l->get_bytes -= n;
    if (s->left == 0)
        slot_end(c, s, UCS_OK);
}

// take_record applies the record at p and returns where the next one starts, NULL if there is none.
static const char *take_record(channel_t *c, lane_t *l, const char *p, const char *end, const char *body, size_t body_n)
{
    struct wire_rec rec;
    struct wire_get get;
    if ((size_t)(end - p) < sizeof rec)
        return NULL;
    memcpy(&rec, p, sizeof rec);
    p += sizeof rec;
    if (rec.kind == REC_VALUE) {
        take_value(c, l, rec.n, rec.off);
        return p;
    }
    if ((size_t)(end - p) < sizeof get)
        return NULL;
    memcpy(&get, p, sizeof get);
    p += sizeof get;
    if (rec.kind == REC_STREAM && rec.n == body_n) {
        take_bytes(c, l, &get, body, rec.n);
        return p;
    }
    if (rec.kind != REC_BYTES || WIRE_PAD(rec.n) > (size_t)(end - p))
        return NULL;
    take_bytes(c, l, &get, p, rec.n);
    return p + WIRE_PAD(rec.n);
}

// lane_of returns the lane that a reply belongs to, or NULL if it is none of this job's. The tags of a lane that is not
// connected are 0.
static lane_t *lane_of(channel_t *c, const struct wire_head *head)
{
    lane_t *l = head->pe < c->engine->config.npes ? c->lanes[head->pe] : NULL;
    return l && l->ep && l->tags[1] == head->tag ? l : NULL;
}

static void take_reply(channel_t *c, const void *header, size_t header_n, const void *data, size_t n)
{
    struct wire_head head;
    const char *p = header_n ? header : data, *end = p + (header_n ? header_n : n);
    lane_t *l = NULL;
    if ((size_t)(end - p) >= sizeof head) {
        memcpy(&head, p, sizeof head);
        p += sizeof head;
        l = lane_of(c, &head);
    }
    if (!l) {
        refuse(c->engine);
        return;
    }
    if (l->status != UCS_OK)
        return;
    if (!l->open)
        lane_opened(l); // an answer with the lane's tag says that the target knows it
    if (head.flags & WIRE_OPEN)
        return;
    for (uint32_t i = 0; i < head.records && p; i++)
        p = take_record(c, l, p, end, header_n ? data : NULL, header_n ? n : 0);
    if (head.flags & WIRE_REJECTED) { // before the request counts as applied: its loss is to be reported
        lane_fail(l, UCS_ERR_OUT_OF_RANGE);
        return;
    }
    lane_acked(l, head.seq);
    if (before(l->notes_credited, head.lane))
        l->notes_credited = head.lane;
}

// on_reply handles answers. UCX calls it on the channel's worker, under the channel's lock.
ucs_status_t on_reply(void *arg, const void *header, size_t header_n, void *data, size_t n, const ucp_am_recv_param_t *param)
{
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        refuse(((channel_t *)arg)->engine); // answers are always sent eagerly
    else
        take_reply(arg, header, header_n, data, n);
    return UCS_OK;
}

// channel_deliver passes an answer to the channel as if it had come by the network, and returns the number
// of completed operations. For tests.
int channel_deliver(channel_t *c, const void *message, size_t bytes)
{
    take_reply(c, NULL, 0, message, bytes);
    return (int)c->answered;
}
