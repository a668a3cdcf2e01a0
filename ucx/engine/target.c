// The target's side: requests are applied to the heap, in order, by the thread that progresses the service
// worker: the service thread, or a thread of the program that waits. Neither needs Go to run.
#include <stdlib.h>

#include "target.h"

// Replies.

// reply is the memory of one answer: it lives until UCX has sent it.
typedef struct reply {
    struct reply *next;
    engine_t *engine;
    char *piece; // data besides, or NULL
    uint32_t used;
    uint32_t records;
    char data[BUFFER_BYTES];
} reply_t;

static reply_t *take_reply(engine_t *e)
{
    reply_t *r = e->free_replies;
    if (r)
        e->free_replies = r->next;
    else if (!(r = malloc(sizeof *r)))
        return NULL;
    r->engine = e;
    r->piece = NULL;
    r->used = sizeof(struct wire_head);
    r->records = 0;
    return r;
}

static void give_reply(reply_t *r)
{
    free(r->piece);
    r->next = r->engine->free_replies;
    r->engine->free_replies = r;
}

static void on_replied(void *request, ucs_status_t status, void *arg)
{
    (void)status; // the requester is gone: it needs no answer
    give_reply(arg);
    ucp_request_free(request);
}

// answer is where the answers to one request go.
struct answer {
    engine_t *engine;
    ucp_ep_h ep;
    uint32_t seq; // applied so far
    uint16_t flags;
    inbound_t *in;
    reply_t *reply;
};

static void send_reply(struct answer *a, reply_t *r, const void *header, size_t header_n, const void *data, size_t n)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_AM_SEND_FLAG_EAGER,
        .cb.send = on_replied,
        .user_data = r,
    };
    struct wire_head head = {
        .seq = a->seq, .records = (uint16_t)r->records, .flags = a->flags, .pe = a->engine->config.pe,
        .lane = a->in->notes_credited, .tag = a->in->tags[1],
    };
    memcpy(r->data, &head, sizeof head);
    ucs_status_ptr_t sent = ucp_am_send_nbx(a->ep, AM_REPLY, header, header_n, data, n, &param);
    if (!UCS_PTR_IS_PTR(sent))
        give_reply(r);
}

static void flush_reply(struct answer *a)
{
    reply_t *r = a->reply;
    a->reply = NULL;
    if (r)
        send_reply(a, r, NULL, 0, r->data, r->used);
}

// reserve makes room for n bytes in the reply; without memory there is none, and the requester will
// find that it waits in vain.
static char *reserve(struct answer *a, size_t n)
{
    if (a->reply && a->reply->used + n > BUFFER_BYTES)
        flush_reply(a);
    if (!a->ep || (!a->reply && !(a->reply = take_reply(a->engine))))
        return NULL;
    char *pos = a->reply->data + a->reply->used;
    a->reply->used += n;
    a->reply->records++;
    return pos;
}

static void answer_value(struct answer *a, uint32_t slot, uint64_t value)
{
    struct wire_rec rec = {.kind = REC_VALUE, .n = slot, .off = value};
    char *pos = reserve(a, sizeof rec);
    if (pos)
        memcpy(pos, &rec, sizeof rec);
}

// load_bytes copies out of the heap; an aligned word is read whole.
static void load_bytes(char *to, const char *from, uint32_t n)
{
    if (n == 8 && (uintptr_t)from % 8 == 0) {
        uint64_t v = __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE);
        memcpy(to, &v, sizeof v);
    } else {
        memcpy(to, from, n);
    }
}

// answer_bytes answers with n bytes of the heap. With read they have been read when it returns; without, UCX
// may still be reading them.
static void answer_bytes(struct answer *a, const struct wire_get *get, const char *from, uint32_t n, int read)
{
    struct wire_rec rec = {.kind = n <= COPY_MAX ? REC_BYTES : REC_STREAM, .n = n};
    if (n <= COPY_MAX) {
        char *pos = reserve(a, sizeof rec + sizeof *get + WIRE_PAD(n));
        if (pos) {
            memcpy(pos, &rec, sizeof rec);
            memcpy(pos + sizeof rec, get, sizeof *get);
            load_bytes(pos + sizeof rec + sizeof *get, from, n);
        }
        return;
    }
    reply_t *r = a->ep ? take_reply(a->engine) : NULL;
    if (!r)
        return;
    if (read && !(r->piece = malloc(n))) {
        give_reply(r);
        return;
    }
    if (read)
        from = memcpy(r->piece, from, n);
    memcpy(r->data + r->used, &rec, sizeof rec);
    memcpy(r->data + r->used + sizeof rec, get, sizeof *get);
    r->records = 1;
    send_reply(a, r, r->data, r->used + sizeof rec + sizeof *get, from, n);
}

// Records.

// store_bytes copies into the heap; an aligned word is written whole, and a thread that sees it sees what was
// written before it.
static void store_bytes(char *to, const char *from, uint32_t n)
{
    uint64_t v8;
    uint32_t v4;
    if (n == 8 && (uintptr_t)to % 8 == 0) {
        memcpy(&v8, from, sizeof v8);
        __atomic_store_n((uint64_t *)to, v8, __ATOMIC_RELEASE);
    } else if (n == 4 && (uintptr_t)to % 4 == 0) {
        memcpy(&v4, from, sizeof v4);
        __atomic_store_n((uint32_t *)to, v4, __ATOMIC_RELEASE);
    } else {
        memcpy(to, from, n);
    }
}

static int inside(const engine_t *e, uint64_t off, uint64_t n)
{
    return off <= e->config.heap_bytes && n <= e->config.heap_bytes - off;
}

static int is_word(const engine_t *e, const struct wire_rec *rec)
{
    return (rec->bytes == 8 || rec->bytes == 4) && rec->op < WORD_OPS && rec->off % rec->bytes == 0 && inside(e, rec->off, rec->bytes);
}

// span returns how many bytes of the heap n bytes of blocks reach over, or 0 if there can be no such blocks.
static uint64_t span(const struct wire_stride *s, uint32_t n)
{
    uint64_t gaps;
    if (n == 0 || s->block == 0 || n % s->block || s->step < s->block || __builtin_mul_overflow(s->step, (uint64_t)(n / s->block - 1), &gaps))
        return 0;
    return gaps + s->block < gaps ? 0 : gaps + s->block;
}

static int scatter(engine_t *e, const struct wire_rec *rec, const char *rest)
{
    struct wire_stride s;
    memcpy(&s, rest, sizeof s);
    uint64_t n = span(&s, rec->n);
    char *pos = e->config.heap + rec->off;
    rest += sizeof s;
    if (n == 0 || !inside(e, rec->off, n))
        return 0;
    if (s.block == 8 || s.block == 4)
        for (uint32_t i = 0; i < rec->n; i += s.block, pos += s.step)
            store_bytes(pos, rest + i, s.block);
    else
        move_blocks(pos, s.step, rest, s.block, s.block, rec->n / s.block);
    return 1;
}

// answer_blocks sends many blocks as a stream.
static void answer_blocks(struct answer *a, const struct wire_get *get, const struct wire_stride *s, const char *from, uint32_t n)
{
    struct wire_rec rec = {.kind = REC_STREAM, .n = n};
    reply_t *r = a->ep ? take_reply(a->engine) : NULL;
    if (!r)
        return;
    if (!(r->piece = malloc(n))) {
        give_reply(r);
        return;
    }
    move_blocks(r->piece, s->block, from, s->step, s->block, n / s->block);
    memcpy(r->data + r->used, &rec, sizeof rec);
    memcpy(r->data + r->used + sizeof rec, get, sizeof *get);
    r->records = 1;
    send_reply(a, r, r->data, r->used + sizeof rec + sizeof *get, r->piece, n);
}

static int gather(engine_t *e, const struct wire_rec *rec, const char *rest, struct answer *a)
{
    struct wire_get get;
    struct wire_stride s;
    memcpy(&get, rest, sizeof get);
    memcpy(&s, rest + sizeof get, sizeof s);
    uint64_t n = span(&s, rec->n);
    if (n == 0 || rec->n > PIECE_BYTES || !inside(e, rec->off, n))
        return 0;
    if (rec->n > GATHER_MAX) {
        answer_blocks(a, &get, &s, e->config.heap + rec->off, rec->n);
        return 1;
    }
    struct wire_rec out = {.kind = REC_BYTES, .n = rec->n};
    char *to = reserve(a, sizeof out + sizeof get + WIRE_PAD(rec->n));
    if (!to)
        return 1;
    memcpy(to, &out, sizeof out);
    memcpy(to + sizeof out, &get, sizeof get);
    move_blocks(to + sizeof out + sizeof get, s.block, e->config.heap + rec->off, s.step, s.block, rec->n / s.block);
    return 1;
}

// request is a message that is applied or searched.
struct request {
    const char *p, *end; // records
    const char *body;    // data of the active message, if the records are in its header
    size_t body_n;
};

// next_record takes one record off q. *rest is what follows the record, its length checked. It returns
// 0 when q holds no further well-formed record.
static int next_record(struct request *q, struct wire_rec *rec, const char **rest)
{
    static const size_t rests[] = {
        [REC_POST] = sizeof(struct wire_post),
        [REC_FETCH] = sizeof(struct wire_fetch),
        [REC_GET] = sizeof(struct wire_get),
        [REC_KEY] = sizeof(struct wire_get),
        [REC_GATHER] = sizeof(struct wire_get) + sizeof(struct wire_stride),
        [REC_NOTE] = sizeof(struct wire_post),
    };
    if ((size_t)(q->end - q->p) < sizeof *rec)
        return 0;
    memcpy(rec, q->p, sizeof *rec);
    q->p += sizeof *rec;
    *rest = q->p;
    size_t n;
    switch (rec->kind) {
    case REC_PUT:
        n = WIRE_PAD((size_t)rec->n);
        break;
    case REC_SCATTER:
        n = sizeof(struct wire_stride) + WIRE_PAD((size_t)rec->n);
        break;
    case REC_SPREAD:
        *rest = q->body;
        if (!q->body || q->body_n != sizeof(struct wire_stride) + rec->n)
            return 0;
        n = 0;
        break;
    case REC_BODY:
        *rest = q->body;
        if (!q->body || q->body_n != rec->n)
            return 0;
        n = 0;
        break;
    case REC_POST:
    case REC_FETCH:
    case REC_GET:
    case REC_KEY:
    case REC_GATHER:
    case REC_NOTE:
        n = rests[rec->kind];
        break;
    default:
        return 0;
    }
    if (n > (size_t)(q->end - q->p))
        return 0;
    q->p += n;
    return 1;
}

static int apply_record(engine_t *e, const struct wire_rec *rec, const char *rest, struct answer *a)
{
    struct wire_post post;
    struct wire_fetch fetch;
    struct wire_get get;
    char key[KEY_BYTES];
    char *pos = e->config.heap + rec->off;
    switch (rec->kind) {
    case REC_PUT:
    case REC_BODY:
        if (!inside(e, rec->off, rec->n))
            return 0;
        store_bytes(pos, rest, rec->n);
        return 1;
    case REC_SCATTER:
    case REC_SPREAD:
        return scatter(e, rec, rest);
    case REC_GATHER:
        return gather(e, rec, rest, a);
    case REC_POST:
        if (!is_word(e, rec))
            return 0;
        memcpy(&post, rest, sizeof post);
        word_apply(pos, rec->op, rec->bytes, post.operand, 0);
        return 1;
    case REC_FETCH:
        if (!is_word(e, rec))
            return 0;
        memcpy(&fetch, rest, sizeof fetch);
        answer_value(a, rec->n, word_apply(pos, rec->op, rec->bytes, fetch.operand, fetch.cond));
        return 1;
    case REC_GET:
        if (!inside(e, rec->off, rec->n))
            return 0;
        memcpy(&get, rest, sizeof get);
        answer_bytes(a, &get, pos, rec->n, rec->op);
        return 1;
    case REC_NOTE:
        memcpy(&post, rest, sizeof post);
        return note_arrived(e, a->in, rec->n, post.operand, rec->off);
    case REC_KEY:
        if (rec->off >= e->config.heap_bytes)
            return 0;
        memcpy(&get, rest, sizeof get);
        engine_key(e, rec->off, key);
        answer_bytes(a, &get, key, KEY_BYTES, 1);
        return 1;
    }
    return 0;
}

// bytes_updated returns how many bytes from rec->off on a record may update.
static uint64_t bytes_updated(const struct wire_rec *rec, const char *rest)
{
    struct wire_stride s;
    switch (rec->kind) {
    case REC_PUT:
    case REC_BODY:
        return rec->n;
    case REC_SCATTER:
    case REC_SPREAD:
        memcpy(&s, rest, sizeof s);
        return span(&s, rec->n);
    case REC_POST:
    case REC_FETCH:
        return rec->bytes;
    }
    return 0;
}

// touches reports whether a request of n records updates something in [lo, hi).
static int touches(struct request q, unsigned n, uint64_t lo, uint64_t hi)
{
    struct wire_rec rec;
    const char *rest;
    for (; n > 0 && next_record(&q, &rec, &rest); n--)
        if (rec.off < hi && lo < rec.off + bytes_updated(&rec, rest))
            return 1;
    return 0;
}

// ring_for_request wakes this PE if it sleeps on something that the request has updated.
static void ring_for_request(engine_t *e, struct request q, unsigned n)
{
    uint64_t lo, hi;
    if (awaited(e, &lo, &hi) && (hi == UINT64_MAX || touches(q, n, lo, hi)))
        ring_doorbell(e);
}

static void apply(engine_t *e, inbound_t *in, const struct wire_head *head, struct request q, ucp_ep_h ep)
{
    struct answer a = {.engine = e, .ep = ep, .seq = head->seq - 1, .in = in};
    struct request all = q;
    struct wire_rec rec;
    const char *rest;
    unsigned i, rejected = 0;
    for (i = 0; i < head->records && next_record(&q, &rec, &rest); i++)
        rejected += !apply_record(e, &rec, rest, &a);
    rejected += head->records - i;
    if (rejected)
        a.flags |= WIRE_REJECTED; // the origin may wait for a value that does not come
    e->rejected += rejected;
    e->served++;
    a.seq = head->seq;
    if ((rejected || (head->flags & WIRE_ACK)) && ep && !a.reply)
        a.reply = take_reply(e);
    flush_reply(&a);
    ring_for_request(e, all, head->records);
}

// Order.

static uint64_t inbound_key(const struct wire_head *head)
{
    return (uint64_t)head->pe << 32 | head->lane;
}

// inbound_of returns the lane that a message belongs to, or NULL if none of that name is open.
static inbound_t *inbound_of(engine_t *e, uint64_t key)
{
    if (e->last_inbound && e->last_inbound->key == key)
        return e->last_inbound;
    inbound_t *in = e->inbound ? *find_inbound(e, key) : NULL;
    if (in)
        e->last_inbound = in;
    return in;
}

// apply_in_turn applies one request and forgets the lane if it was the last; it returns 0 then.
static int apply_in_turn(engine_t *e, inbound_t *in, const void *header, size_t header_n, const void *data, size_t n, ucp_ep_h ep)
{
    const char *p = header_n ? header : data;
    struct request q = {.p = p + sizeof(struct wire_head), .end = p + (header_n ? header_n : n)};
    struct wire_head head;
    if (header_n) {
        q.body = data;
        q.body_n = n;
    }
    memcpy(&head, p, sizeof head);
    apply(e, in, &head, q, ep);
    in->applied = head.seq;
    if (!(head.flags & WIRE_BYE))
        return 1;
    remove_inbound(e, in);
    return 0;
}

// accept_lane tells the origin of a lane that it is open.
static void accept_lane(engine_t *e, inbound_t *in, ucp_ep_h ep)
{
    struct answer a = {.engine = e, .ep = ep, .flags = WIRE_OPEN, .in = in, .reply = ep ? take_reply(e) : NULL};
    flush_reply(&a);
}

// proves reports whether an opening is of this job, and computes the tags of its lane.
static int proves(const engine_t *e, const struct wire_head *head, const struct wire_open *open, uint64_t tags[2])
{
    struct lane_name name = {.origin = head->pe, .target = e->config.pe, .lane = head->lane};
    uint64_t proof[2];
    if (head->pe >= e->config.npes || head->lane == 0)
        return 0;
    memcpy(name.origin_nonce, open->nonce, sizeof name.origin_nonce);
    memcpy(name.target_nonce, e->nonce, sizeof name.target_nonce);
    prove_lane(e, &name, proof, tags);
    return ((proof[0] ^ open->proof[0]) | (proof[1] ^ open->proof[1])) == 0;
}

// open_lane opens a lane for which there is a proof. The same opening again changes nothing, and another one of
// the same lane is refused.
static void open_lane(engine_t *e, const struct wire_head *head, const uint64_t tags[2], ucp_ep_h ep)
{
    inbound_t *in = inbound_of(e, inbound_key(head));
    if (was_opened(e, head->pe, head->lane)) {
        if (in && in->tags[0] == tags[0])
            accept_lane(e, in, ep);
        else
            refuse(e);
        return;
    }
    if (!(in = add_inbound(e, inbound_key(head))))
        return; // the lane stays closed, and its origin reports a silent peer
    in->tags[0] = tags[0];
    in->tags[1] = tags[1];
    in->applied = in->notes_credited = e->config.first;
    if (record_opened(e, head->pe, head->lane))
        accept_lane(e, in, ep);
    else
        remove_inbound(e, in);
}

// receive_opening handles a message of n bytes that claims to open a lane.
static void receive_opening(engine_t *e, const struct wire_head *head, const void *data, size_t n, ucp_ep_h ep)
{
    struct wire_open open;
    uint64_t tags[2];
    if (n == sizeof *head + sizeof open) {
        memcpy(&open, (const char *)data + sizeof *head, sizeof open);
        if (proves(e, head, &open, tags)) {
            open_lane(e, head, tags, ep);
            return;
        }
    }
    refuse(e);
}

// stray handles a message without the tag of the lane it names; in is that lane if it is open. A message of a
// closed lane may be one that UCX has delivered late.
static void stray(engine_t *e, const struct wire_head *head, const inbound_t *in)
{
    if (in || head->pe >= e->config.npes || !was_opened(e, head->pe, head->lane))
        refuse(e);
}

static void receive(engine_t *e, const void *header, size_t header_n, const void *data, size_t n, ucp_ep_h ep)
{
    struct wire_head head;
    if ((header_n ? header_n : n) < sizeof head) {
        refuse(e);
        return;
    }
    memcpy(&head, header_n ? header : data, sizeof head);
    if (head.flags & WIRE_OPEN) {
        receive_opening(e, &head, data, header_n ? 0 : n, ep);
        return;
    }
    inbound_t *in = inbound_of(e, inbound_key(&head));
    if (!in || in->tags[0] != head.tag) {
        stray(e, &head, in);
        return;
    }
    if (head.seq != in->applied + 1) {
        if (before(in->applied, head.seq))
            hold_early(e, in, head.seq, header, header_n, data, n);
        return;
    }
    int more = apply_in_turn(e, in, header, header_n, data, n, ep);
    while (more && in->held && in->held->seq == in->applied + 1) {
        held_t *h = in->held;
        in->held = h->next;
        in->held_bytes -= sizeof *h + h->header_bytes + h->data_bytes;
        more = apply_in_turn(e, in, h->bytes, h->header_bytes, h->bytes + h->header_bytes, h->data_bytes, ep);
        free(h);
    }
}

// on_request handles requests. UCX calls it on the service worker.
ucs_status_t on_request(void *arg, const void *header, size_t header_n, void *data, size_t n, const ucp_am_recv_param_t *param)
{
    engine_t *e = arg;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        refuse(e); // requests are always sent eagerly
        return UCS_OK;
    }
    ucp_ep_h ep = param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP ? param->reply_ep : NULL;
    receive(e, header, header_n, data, n, ep);
    return UCS_OK;
}

// engine_deliver hands a request to the engine as if it had come by the network; answers to it are
// dropped. It returns how many requests have been applied by then. For tests of an engine that has not
// been started.
int engine_deliver(engine_t *e, const void *message, size_t bytes)
{
    receive(e, NULL, 0, message, bytes, NULL);
    return (int)e->served;
}

void serve_free(engine_t *e)
{
    notes_free(e);
    for (uint32_t i = 0; i < e->inbound_cap; i++)
        if (e->inbound[i])
            free_inbound(e->inbound[i]);
    free(e->inbound);
    while (e->free_replies) {
        reply_t *r = e->free_replies;
        e->free_replies = r->next;
        free(r);
    }
}

// serve_once progresses the service worker unless another thread does.
unsigned serve_once(engine_t *e)
{
    if (!try_lock(&e->serving))
        return 0;
    unsigned moved = ucp_worker_progress(e->worker);
    if (e->overflow)
        notes_drain(e);
    unlock(&e->serving);
    if (moved && e->config.nic)
        ring_if_waiting(e);
    return moved;
}
