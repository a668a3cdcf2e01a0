// The origin's side: a channel, its lanes, and the answers that come back.
//
// Order. Everything that a channel does to one PE goes through one lane, is numbered there, and is
// applied by the target in that order by one handler at a time. So a fence has nothing to do, and a
// signal that follows its payload is seen after it.
//
// Small operations are gathered in the lane's buffer. It leaves when it is full, when somebody waits,
// and otherwise at the second tick of the service thread that finds it; in a batch, at one much later.
#include <stdlib.h>

#include "private.h"

static const uint32_t head_bytes = sizeof(struct wire_head);

static void put_rec(char **at, struct wire_rec rec)
{
    memcpy(*at, &rec, sizeof rec);
    *at += sizeof rec;
}

// Buffers.

sendbuf_t *take_buf(channel_t *c)
{
    sendbuf_t *b = c->free_bufs;
    if (b) {
        c->free_bufs = b->next;
        c->free_count--;
    } else if (!(b = malloc(sizeof *b))) {
        return NULL;
    }
    b->loan = 0;
    b->piece = NULL;
    return b;
}

void give_buf(channel_t *c, sendbuf_t *b)
{
    enum { KEEP = 16 };
    free(b->piece);
    b->piece = NULL;
    if (c->free_count >= KEEP) {
        free(b);
        return;
    }
    b->next = c->free_bufs;
    c->free_bufs = b;
    c->free_count++;
}

// Slots.

static slot_t *take_slot(channel_t *c, uint32_t pe, char *dst, uint64_t bytes)
{
    slot_t *s = c->free_slots;
    c->free_slots = s->next;
    s->status = UCS_INPROGRESS;
    s->pe = pe;
    s->detached = AWAITED;
    s->native = 0;
    s->left = s->bytes = bytes;
    s->dst = dst ? dst : s->room;
    s->block = 0;
    return s;
}

// slot_release gives a slot back; an answer to its present use that still comes finds nobody.
void slot_release(channel_t *c, slot_t *s)
{
    free(s->shelter);
    s->shelter = NULL;
    s->token += SLOTS;
    s->status = UCS_OK;
    s->next = c->free_slots;
    c->free_slots = s;
}

// span_of is how far the destination of a slot reaches.
static uint64_t span_of(const slot_t *s)
{
    return s->block ? (s->bytes / s->block - 1) * s->step + s->block : s->bytes;
}

// slot_shelter lets the rest of an answer go to memory that does not move, as dst may: what is smaller
// than STACK_MAX can be on the stack of the goroutine, which Go moves when it likes once it is back in Go.
int slot_shelter(slot_t *s, const char *dst)
{
    uint64_t n = span_of(s);
    if (s->shelter || n > STACK_MAX || s->dst == s->room)
        return 1;
    if (!(s->shelter = malloc(n)))
        return 0;
    memcpy(s->shelter, dst, n);
    s->dst = s->shelter;
    return 1;
}

// slot_deliver copies what has not gone to dst itself there, and nothing between blocks.
void slot_deliver(const slot_t *s, char *dst)
{
    if (s->dst == s->room)
        memcpy(dst, s->room, s->bytes);
    else if (s->shelter && s->block)
        move_blocks(dst, s->step, s->shelter, s->step, s->block, s->bytes / s->block);
    else if (s->shelter)
        memcpy(dst, s->shelter, s->bytes);
}

// slot_abandon is slot_release for a slot that may not have been answered.
void slot_abandon(channel_t *c, slot_t *s)
{
    if (s->status == UCS_INPROGRESS && c->lanes[s->pe])
        c->lanes[s->pe]->reading -= s->left;
    slot_release(c, s);
}

// slot_end notes that the answer is complete, or lost.
void slot_end(channel_t *c, slot_t *s, int32_t status)
{
    c->answered++;
    s->status = status;
    if (s->detached)
        c->lanes[s->pe]->detached--;
    if (s->detached == DETACHED)
        slot_release(c, s);
}

static int slot_free(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)l;
    (void)arg;
    return c->free_slots != NULL;
}

// need_slot waits until a slot is free. One always is in the end: those that Go keeps are at most half of
// all.
void need_slot(lane_t *l)
{
    if (!l->channel->free_slots) {
        lane_send(l, 1);
        drive(l->channel, l, slot_free, 0, INT64_MAX, 0);
    }
}

// Lanes.

static void start_buffer(lane_t *l)
{
    l->used = head_bytes;
    l->records = 0;
    l->asks = 0;
}

// lane_clean says that nothing of the lane is on its way.
int lane_clean(const lane_t *l)
{
    return l->status != UCS_OK || (l->used == head_bytes && l->sent == l->acked && l->detached == 0 && l->native == 0 && !l->native_dirty && l->returned == l->lent);
}

static void fail_slots(channel_t *c, uint32_t pe, int32_t status)
{
    for (int i = 0; i < SLOTS; i++)
        if (c->slots[i].status == UCS_INPROGRESS && c->slots[i].pe == pe && !c->slots[i].native)
            slot_end(c, &c->slots[i], status);
}

// lane_fail gives up a lane: what was on its way is lost, what is issued later is dropped.
void lane_fail(lane_t *l, int32_t status)
{
    if (l->status != UCS_OK)
        return;
    if (!lane_clean(l)) {
        l->lost = 1;
        if (status == UCS_ERR_TIMED_OUT || status == UCS_ERR_NOT_CONNECTED || status == UCS_ERR_ENDPOINT_TIMEOUT)
            engine_give_up(l->channel->engine, l->pe, status, status == UCS_ERR_TIMED_OUT ? SILENT : CUT);
    }
    l->status = status;
    start_buffer(l);
    lane_drop_waiting(l);
    fail_slots(l->channel, l->pe, status);
    l->reading = 0;
}

// lane_drop_waiting frees the messages that wait for the lane to open.
void lane_drop_waiting(lane_t *l)
{
    while (l->waiting) {
        sendbuf_t *b = l->waiting;
        l->waiting = b->next;
        l->pending--;
        loan_part_end(l, b->loan);
        give_buf(l->channel, b);
    }
}

// came_loose converts the status of an endpoint that was connected and has failed. UCX's "unreachable" then
// means a lost connection, not a wrong setting.
static int32_t came_loose(ucs_status_t status)
{
    return status == UCS_ERR_UNREACHABLE ? UCS_ERR_NOT_CONNECTED : status;
}

// has_met reports whether another PE has answered this one. If one has, UCX's settings cannot be why a PE is out of
// reach.
static int has_met(const channel_t *c)
{
    for (uint32_t i = 0; i < c->nopened; i++)
        if (c->opened[i]->pe != c->engine->config.pe && c->opened[i]->open)
            return 1;
    return engine_has_met(c->engine);
}

static void on_endpoint_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    lane_fail(arg, came_loose(status));
}

// lane_reap closes the endpoint of a failed lane, so that UCX lets go of the memory it was sending.
void lane_reap(lane_t *l)
{
    if (l->status == UCS_OK || l->closing || !l->ep)
        return;
    l->closing = 1;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t r = ucp_ep_close_nbx(l->ep, &param);
    if (UCS_PTR_IS_PTR(r))
        ucp_request_free(r);
}

// Sending.

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    sendbuf_t *b = arg;
    lane_t *l = b->lane;
    l->pending--;
    loan_part_end(l, b->loan);
    give_buf(l->channel, b);
    ucp_request_free(request);
    if (status != UCS_OK)
        lane_fail(l, came_loose(status));
    else
        l->silent_ns = 0; // the network accepts messages
}

// hand_over gives one message to UCX and reports whether b is free again; otherwise on_sent frees it.
static int hand_over(lane_t *l, sendbuf_t *b, const void *header, size_t header_n, const void *data, size_t n)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER,
        .cb.send = on_sent,
        .user_data = b,
    };
    b->lane = l;
    ucs_status_ptr_t r = ucp_am_send_nbx(l->ep, AM_REQUEST, header, header_n, data, n, &param);
    if (r == NULL)
        return 1;
    if (UCS_PTR_IS_ERR(r)) {
        lane_fail(l, came_loose(UCS_PTR_STATUS(r)));
        return 1;
    }
    l->pending++;
    loan_part(l, b->loan);
    return 0;
}

// keep_waiting queues a message until the lane is open.
static void keep_waiting(lane_t *l, sendbuf_t *b, size_t header_n, const void *data, size_t n)
{
    if (!l->waiting)
        l->waiting_end = &l->waiting;
    *l->waiting_end = b;
    l->waiting_end = &b->next;
    b->next = NULL;
    b->lane = l;
    b->header_bytes = header_n;
    b->rest = data;
    b->rest_bytes = n;
    l->pending++;
    loan_part(l, b->loan);
}

// transmit sends or queues one message and reports whether b is free again; otherwise it is freed later.
// header is the beginning of b's data, if there is one.
static int transmit(lane_t *l, sendbuf_t *b, const void *header, size_t header_n, const void *data, size_t n)
{
    if (l->open)
        return hand_over(l, b, header, header_n, data, n);
    keep_waiting(l, b, header_n, data, n);
    return 0;
}

// lane_opened sends the messages that have waited for the lane to open.
static void lane_opened(lane_t *l)
{
    l->open = 1;
    l->silent_ns = 0;
    while (l->waiting) {
        sendbuf_t *b = l->waiting;
        uint64_t loan = b->loan;
        l->waiting = b->next;
        int over = hand_over(l, b, b->header_bytes ? b->data : NULL, b->header_bytes, b->rest, b->rest_bytes);
        l->pending--;
        loan_part_end(l, loan);
        if (over)
            give_buf(l->channel, b);
    }
}

// Opening.

// opening is the first message of a lane.
struct opening {
    struct wire_head head;
    struct wire_open open;
};

// make_opening makes the first message of a lane to the engine whose nonce is given, and the lane's tags.
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
    return l->address ? ucp_ep_create(l->channel->worker, &params, &l->ep) : UCS_ERR_NO_ELEM;
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

// introduce sends the lane's first message to the engine that has the given nonce.
static void introduce(lane_t *l, const void *nonce)
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
    if (hand_over(l, b, NULL, 0, b->data, sizeof m))
        give_buf(l->channel, b);
}

// lane_open makes the lane of c to pe, whose engine has the given address. It returns NULL only without
// memory; a lane that cannot reach pe is returned in the failed state. Messages issued before pe has
// answered are queued.
lane_t *lane_open(channel_t *c, uint32_t pe, const void *address, size_t address_bytes)
{
    lane_t *l = calloc(1, sizeof *l);
    if (!l || !(l->out = take_buf(c))) {
        free(l);
        return NULL;
    }
    l->channel = c;
    l->pe = pe;
    start_buffer(l);
    lane_begin(l, c->engine->config.first);
    if (address_bytes > NONCE_BYTES && (l->address = malloc(address_bytes - NONCE_BYTES)))
        memcpy(l->address, (const char *)address + NONCE_BYTES, address_bytes - NONCE_BYTES);
    l->address_bytes = address_bytes - NONCE_BYTES;
    c->lanes[pe] = l;
    c->opened[c->nopened++] = l;
    l->status = connect_lane(l);
    if (l->status == UCS_OK) {
        introduce(l, address);
    } else {
        l->ep = NULL;
        if (has_met(c))
            l->status = came_loose(l->status);
        engine_give_up(c->engine, pe, l->status, CUT);
    }
    return l;
}

// Sending records.

static void push_mark(lane_t *l)
{
    if (l->marks_used == MARKS)
        l->marks_used--; // the newest stands for both
    l->marks[(l->first_mark + l->marks_used) % MARKS] = (struct mark){l->sent, l->sent_bytes};
    l->marks_used++;
    l->asked = l->sent;
}

static uint64_t unmarked_bytes(const lane_t *l)
{
    uint64_t marked = l->marks_used ? l->marks[(l->first_mark + l->marks_used - 1) % MARKS].bytes : l->acked_bytes;
    return l->sent_bytes - marked;
}

static int must_ask(const lane_t *l)
{
    return unmarked_bytes(l) > UNACKED_MAX / 4 || l->noted - l->noted_mark > NOTES_MAX / 4;
}

// number makes the head of the lane's next message, of n bytes, and says whether it asks for an
// acknowledgement: when told to, and often enough that unacked bytes and notes stay bounded.
static struct wire_head number(lane_t *l, uint32_t records, uint64_t n, int ask)
{
    if (l->sent == l->acked)
        l->silent_ns = 0;
    ask |= must_ask(l);
    l->sent++;
    l->sent_bytes += n;
    if (ask) {
        push_mark(l);
        l->noted_mark = l->noted;
        ask = 1;
    }
    return (struct wire_head){
        .seq = l->sent,
        .records = records,
        .flags = ask ? WIRE_ACK : 0,
        .pe = l->channel->engine->config.pe,
        .lane = l->number,
        .tag = l->tags[0],
    };
}

// replace_buffer gives the lane another buffer: UCX still needs the one that it had.
static void replace_buffer(lane_t *l)
{
    sendbuf_t *fresh = take_buf(l->channel);
    if (fresh)
        l->out = fresh;
    else
        lane_fail(l, UCS_ERR_NO_MEMORY);
}

static void send_buffer(lane_t *l, uint16_t flags, int ask)
{
    sendbuf_t *b = l->out;
    uint32_t used = l->used;
    struct wire_head head = number(l, l->records, used, ask);
    head.flags |= flags;
    memcpy(b->data, &head, sizeof head);
    start_buffer(l);
    if (!transmit(l, b, NULL, 0, b->data, used))
        replace_buffer(l);
}

// send_express is send_buffer by express, if that can be.
static void send_express(lane_t *l)
{
    sendbuf_t *b = l->out;
    uint32_t used = l->used;
    struct wire_head head = number(l, l->records, used, 0);
    memcpy(b->data, &head, sizeof head);
    start_buffer(l);
    enum way way = express_send(l, b, used);
    if (way != BY_LANE)
        l->by_express = head.seq;
    if (way == KEPT_BY_UCX || (way == BY_LANE && !transmit(l, b, NULL, 0, b->data, used)))
        replace_buffer(l);
}

// lane_send lets the buffer leave. With ask, the target will acknowledge everything sent so far, and what
// UCX does itself is flushed.
void lane_send(lane_t *l, int ask)
{
    if (l->status != UCS_OK) {
        l->lost |= l->used > head_bytes;
        start_buffer(l);
        return;
    }
    if (ask)
        lane_native_flush(l);
    if (l->used > head_bytes || (ask && l->sent != l->acked && l->asked != l->sent))
        send_buffer(l, 0, ask);
}

// lane_leave is lane_send of something that somebody is likely to wait for.
void lane_leave(lane_t *l)
{
    if (l->status != UCS_OK || !l->open || l->used == head_bytes || l->used > EXPRESS_MAX || l->asks || l->use_native > 0 || must_ask(l))
        lane_send(l, 0);
    else
        send_express(l);
}

// lane_flush_now is lane_flush of something that somebody is likely to wait for.
void lane_flush_now(lane_t *l)
{
    lane_leave(l);
    lane_throttle(l);
}

// lane_flush makes room in the buffer.
void lane_flush(lane_t *l)
{
    lane_send(l, 0);
    lane_throttle(l);
}

// lane_send_ask is lane_send that asks, though the buffer may be empty and everything acknowledged.
void lane_send_ask(lane_t *l)
{
    if (l->status == UCS_OK)
        send_buffer(l, 0, 1);
}

static int settled(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)arg;
    return l->status != UCS_OK || !before(l->acked, l->by_express);
}

// lane_settle waits until the target has applied what went by express. What is to be answered must not
// overtake that: the target could no longer answer it when its turn has come.
void lane_settle(lane_t *l)
{
    if (settled(l->channel, l, 0))
        return;
    lane_send(l, 1);
    drive(l->channel, l, settled, 0, INT64_MAX, 0);
}

// lane_ask_again asks for an acknowledgement that has been asked for. If that has overtaken the express,
// it has not been answered.
void lane_ask_again(lane_t *l)
{
    if (l->marks_used && !settled(l->channel, l, 0))
        lane_send_ask(l);
}

// lane_bye tells the target to forget the lane.
void lane_bye(lane_t *l)
{
    lane_settle(l);
    if (l->status == UCS_OK)
        send_buffer(l, WIRE_BYE, 1);
}

// lane_need_room makes room for n bytes of records.
void lane_need_room(lane_t *l, uint32_t n)
{
    if (l->used + n > BUFFER_BYTES)
        lane_flush(l);
}

// lane_append appends a record with n bytes behind it, for which there is room.
void lane_append(lane_t *l, struct wire_rec rec, const void *rest, uint32_t n)
{
    char *at = l->out->data + l->used;
    put_rec(&at, rec);
    memcpy(at, rest, n);
    l->used += sizeof rec + n;
    l->records++;
}

static int sent_all(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)arg;
    return l->pending == 0;
}

// send_piece sends n bytes for off from where they are, and behind the last piece the tail.
static void send_piece(lane_t *l, uint64_t off, const char *src, uint32_t n, const struct wire_rec *tail, uint64_t value, int last, uint64_t loan)
{
    sendbuf_t *b = take_buf(l->channel);
    if (!b) {
        lane_fail(l, UCS_ERR_NO_MEMORY);
        return;
    }
    b->loan = loan;
    char *at = b->data + head_bytes;
    put_rec(&at, (struct wire_rec){.kind = REC_BODY, .n = n, .off = off});
    if (tail) {
        put_rec(&at, *tail);
        memcpy(at, &value, sizeof value);
        at += sizeof value;
    }
    struct wire_head head = number(l, tail ? 2 : 1, n, last);
    memcpy(b->data, &head, sizeof head);
    if (transmit(l, b, b->data, (size_t)(at - b->data), src, n))
        give_buf(l->channel, b);
}

// lane_send_own sends one record whose data is the n bytes of piece, which is the message's from now on.
void lane_send_own(lane_t *l, struct wire_rec rec, char *piece, uint32_t n, int ask)
{
    sendbuf_t *b = take_buf(l->channel);
    if (!b) {
        free(piece);
        lane_fail(l, UCS_ERR_NO_MEMORY);
        return;
    }
    b->piece = piece;
    char *at = b->data + head_bytes;
    put_rec(&at, rec);
    struct wire_head head = number(l, 1, n, ask);
    memcpy(b->data, &head, sizeof head);
    if (transmit(l, b, b->data, (size_t)(at - b->data), piece, n))
        give_buf(l->channel, b);
}

// piece_of is how large the pieces of a transfer of n bytes are: of equal size, so that none is small.
static uint32_t piece_of(uint64_t n)
{
    uint64_t pieces = (n + PIECE_BYTES - 1) / PIECE_BYTES;
    return pieces <= 1 ? (uint32_t)n : (uint32_t)WIRE_PAD((n + pieces - 1) / pieces);
}

// lane_put_pieces moves n > 0 bytes straight from src, and then sends the tail, if there is one: a record that
// value follows. UCX may still be reading src on return.
void lane_put_pieces(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value, uint64_t loan)
{
    if (!tail && lane_native(l)) {
        uint64_t done = native_put(l, off, src, n, loan);
        off += done, src += done, n -= done;
    }
    order_message(l, off, n, 1);
    if (tail && tail->kind == REC_POST)
        order_message(l, tail->off, tail->bytes, 1);
    lane_send(l, 0);
    uint32_t pieces = piece_of(n);
    while (n > 0 && l->status == UCS_OK) {
        uint32_t piece = n < pieces ? (uint32_t)n : pieces;
        int last = piece == n;
        send_piece(l, off, src, piece, last ? tail : NULL, value, last, loan);
        off += piece, src += piece, n -= piece;
        lane_throttle(l);
    }
    if (l->status != UCS_OK)
        l->lost = 1;
}

// lane_put_with is lane_put_pieces after which src may be reused.
void lane_put_with(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value)
{
    lane_put_pieces(l, off, src, n, tail, value, 0);
    if (l->pending)
        drive(l->channel, l, sent_all, 0, INT64_MAX, 0);
}

// lane_put moves n > 0 bytes straight from src and then, if signal_op is not WORD_FETCH, updates the
// 8-byte word at signal. src may be reused on return.
void lane_put(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t signal_op, uint64_t signal, uint64_t value)
{
    struct wire_rec post = {.kind = REC_POST, .op = (uint8_t)signal_op, .bytes = 8, .off = signal};
    lane_put_with(l, off, src, n, signal_op != WORD_FETCH ? &post : NULL, value);
}

// Asking.

static int reading_room(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    return l->reading + arg <= READING_MAX;
}

// lane_ask_room makes room for a record of the given length that asks for n bytes.
void lane_ask_room(lane_t *l, uint32_t record, uint32_t n)
{
    lane_settle(l);
    lane_need_room(l, record);
    if (l->reading + n > READING_MAX) {
        lane_send(l, 0);
        drive(l->channel, l, reading_room, n, INT64_MAX, 0);
    }
}

// lane_ask_more appends a record, with the n bytes of rest, that asks for rec.n bytes.
void lane_ask_more(lane_t *l, struct wire_rec rec, const void *rest, uint32_t n)
{
    lane_append(l, rec, rest, n);
    l->asks++;
    l->reading += rec.n;
}

static void ask_piece(lane_t *l, slot_t *s, uint64_t off, uint64_t at, uint32_t n, int read)
{
    struct wire_get get = {.slot = s->token, .at = at};
    lane_ask_room(l, sizeof(struct wire_rec) + sizeof get, n);
    if (l->status == UCS_OK)
        lane_ask_more(l, (struct wire_rec){.kind = REC_GET, .op = (uint8_t)read, .n = n, .off = off}, &get, sizeof get);
}

// lane_ask_all asks, piece by piece, for n bytes from off, to be those from at of the slot's. With read they
// are to be read before what follows is applied.
void lane_ask_all(lane_t *l, slot_t *s, uint64_t off, uint64_t at, uint64_t n, int read)
{
    order_message(l, off, n, 0);
    uint32_t piece = piece_of(n);
    for (uint64_t i = 0; i < n && l->status == UCS_OK; i += piece)
        ask_piece(l, s, off + i, at + i, n - i < piece ? (uint32_t)(n - i) : piece, read);
}

// lane_ask sends a record of the given kind, to be answered with n bytes at dst, and returns the slot to
// wait for, or NULL when the lane has failed.
slot_t *lane_ask(lane_t *l, unsigned kind, uint64_t off, char *dst, uint32_t n)
{
    need_slot(l);
    lane_settle(l);
    lane_need_room(l, sizeof(struct wire_rec) + sizeof(struct wire_get));
    if (l->status != UCS_OK)
        return NULL;
    slot_t *s = take_slot(l->channel, l->pe, dst, n);
    struct wire_get get = {.slot = s->token};
    lane_ask_more(l, (struct wire_rec){.kind = (uint8_t)kind, .n = n, .off = off}, &get, sizeof get);
    return s;
}

// lane_slot takes a slot for n bytes that go to dst, or NULL when the lane has failed.
slot_t *lane_slot(lane_t *l, char *dst, uint64_t n, int detached)
{
    need_slot(l);
    if (l->status != UCS_OK) {
        l->lost = 1;
        return NULL;
    }
    slot_t *s = take_slot(l->channel, l->pe, dst, n);
    s->detached = detached;
    l->detached += detached;
    return s;
}

// lane_get asks for n > 0 bytes from off, to be written to dst, or to the room of the slot if dst is
// NULL. It returns the slot to wait for, or NULL when the lane has failed. Nobody waits for a detached
// slot: its end is part of the next quiet, and there is none if UCX fetches the bytes itself.
slot_t *lane_get(lane_t *l, uint64_t off, char *dst, uint64_t n, int detached)
{
    if (detached && lane_native(l)) {
        uint64_t done = native_get(l, off, dst, n, 0);
        off += done, dst += done, n -= done;
        if (n == 0)
            return NULL;
    }
    slot_t *s = lane_slot(l, dst, n, detached);
    if (s)
        lane_ask_all(l, s, off, 0, n, 0);
    return s;
}

// lane_get_wait is lane_get and channel_await in one. When the answer is not complete in time, *slot is
// what to wait for.
int lane_get_wait(lane_t *l, uint64_t off, char *dst, uint64_t n, int64_t budget_ns, slot_t **slot)
{
    if (lane_native(l) && native_get(l, off, dst, n, 1) == n)
        return l->status == UCS_OK ? ENGINE_DONE : lane_report(l);
    slot_t *s = lane_get(l, off, n <= SLOT_BYTES ? NULL : dst, n, 0);
    return s ? lane_finish_get(l, s, dst, n, budget_ns, slot) : lane_report(l);
}

// lane_finish_get waits for the n bytes that s stands for, and moves them to dst if they are in its room.
int lane_finish_get(lane_t *l, slot_t *s, char *dst, uint64_t n, int64_t budget_ns, slot_t **slot)
{
    lane_send(l, 0);
    *slot = s;
    int r = channel_await(l->channel, s, budget_ns);
    if (r == ENGINE_DONE) {
        if (n <= SLOT_BYTES)
            memcpy(dst, s->room, n);
        slot_release(l->channel, s);
    }
    return r;
}

// lane_fetch applies one atomic operation and waits for the old value. When it does not come in time,
// *slot is what to wait for.
int lane_fetch(lane_t *l, struct word_args *args, int64_t budget_ns, uint64_t *old, slot_t **slot)
{
    order_message(l, args->off, args->bytes, 1);
    need_slot(l);
    lane_settle(l);
    lane_need_room(l, sizeof(struct wire_rec) + sizeof(struct wire_fetch));
    if (l->status != UCS_OK)
        return lane_report(l);
    slot_t *s = take_slot(l->channel, l->pe, NULL, 0);
    struct wire_fetch fetch = {args->operand, args->cond};
    struct wire_rec rec = {.kind = REC_FETCH, .op = (uint8_t)args->op, .bytes = (uint8_t)args->bytes, .n = s->token, .off = args->off};
    lane_append(l, rec, &fetch, sizeof fetch);
    l->asks++;
    if (args->notified)
        lane_append_note(l, args->tag, args->bytes, args->off);
    lane_send(l, 0);
    *slot = s;
    int r = channel_await(l->channel, s, budget_ns);
    if (r == ENGINE_DONE) {
        *old = s->value;
        slot_release(l->channel, s);
    }
    return r;
}

// Answers.

// keep_up raises a number that may stay unchanged for long. Otherwise it falls 2^31 behind and
// compares as ahead.
static void keep_up(uint32_t *number, uint32_t acked)
{
    if (before(*number, acked))
        *number = acked;
}

static void acknowledge(lane_t *l, uint32_t seq)
{
    l->silent_ns = 0;
    if (before(seq, l->acked))
        return;
    l->acked = seq;
    keep_up(&l->by_express, seq);
    keep_up(&l->asked, seq);
    keep_up(&l->fenced, seq);
    while (l->marks_used && !before(seq, l->marks[l->first_mark].seq)) {
        l->acked_bytes = l->marks[l->first_mark].bytes;
        l->first_mark = (l->first_mark + 1) % MARKS;
        l->marks_used--;
    }
    if (seq == l->sent)
        l->acked_bytes = l->sent_bytes;
}

// lane_begin sets the counters of a new lane as if first messages and notes had been sent and applied.
void lane_begin(lane_t *l, uint32_t first)
{
    enum { STEP = 1 << 30 };
    while (l->sent != first) {
        l->sent += first - l->sent < STEP ? first - l->sent : STEP;
        l->noted = l->noted_mark = l->roomed = l->sent;
        acknowledge(l, l->sent);
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
    if (n > s->left || get->at > s->bytes || n > s->bytes - get->at)
        return; // not an answer of the engine's
    if (s->block)
        slot_scatter(s, get->at, from, n);
    else
        memcpy(s->dst + get->at, from, n);
    s->left -= n;
    l->reading -= n;
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

// lane_of returns the lane that a reply belongs to, or NULL if it is none of this job's.
static lane_t *lane_of(channel_t *c, const struct wire_head *head)
{
    lane_t *l = head->pe < c->engine->config.npes ? c->lanes[head->pe] : NULL;
    return l && l->tags[1] == head->tag ? l : NULL;
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
    acknowledge(l, head.seq);
    if (before(l->roomed, head.lane))
        l->roomed = head.lane;
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

// channel_tick is the service thread's look at a channel that nobody is using: what has waited for a
// tick leaves, and what has left is acknowledged in the end, though the program never calls again.
void channel_tick(channel_t *c)
{
    enum { LOOKS = 8 };
    uint64_t tick = c->engine->ticks;
    int64_t now = now_ns(), since = now - c->ticked_ns;
    int clean = 1, due = !c->batch || ++c->skipped % BATCH_TICKS == 0;
    c->ticked_ns = now;
    for (uint32_t i = 0; i < c->nopened; i++) {
        lane_t *l = c->opened[i];
        uint32_t asked = l->asked;
        if (l->status != UCS_OK)
            lane_reap(l);
        else if (due && !lane_clean(l) && (l->used == head_bytes || l->born != tick))
            lane_send(l, 1);
        if (l->asked == asked)
            lane_ask_again(l);
        if (!lane_clean(l))
            note_silence(c, l, since); // nobody may ever wait on this channel
        clean &= lane_clean(l) && l->pending == 0;
    }
    for (int i = 0; i < LOOKS && ucp_worker_progress(c->worker); i++)
        ;
    if (clean)
        __atomic_store_n(&c->dirty, 0, __ATOMIC_RELAXED);
}
