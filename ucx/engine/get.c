// Gets, and fetching atomics that messages carry out.
#include "transfer.h"

// lane_get asks for n > 0 bytes from off, to be written to dst, or to the room of the slot if dst is
// NULL. It returns the slot to wait for, or NULL when the lane has failed. No thread waits for a detached
// slot: its end is part of the next quiet. There is no slot if UCX fetches the bytes itself.
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
        lane_request_bytes(l, s, off, 0, n, 0);
    // nothing is gained by gathering it, and its bytes come while the program does something else
    if (detached && n >= PIECE_BYTES)
        lane_send(l, 0);
    return s;
}

// lane_get_wait does what lane_get and channel_await do. When the answer is not complete in time, *slot is
// what to wait for.
int lane_get_wait(lane_t *l, uint64_t off, char *dst, uint64_t n, int64_t budget_ns, slot_t **slot)
{
    if (lane_native(l) && native_get(l, off, dst, n, 1) == n)
        return l->status == UCS_OK ? ENGINE_DONE : lane_report(l);
    slot_t *s = lane_get(l, off, n <= SLOT_BYTES ? NULL : dst, n, 0);
    return s ? lane_finish_get(l, s, dst, n, budget_ns, slot) : lane_report(l);
}

// request_fetch appends one atomic operation, and returns the slot of its old value, or NULL when the lane has failed.
static slot_t *request_fetch(lane_t *l, const struct word_args *args)
{
    order_message(l, args->off, args->bytes, 1);
    need_slot(l);
    lane_drain_service(l);
    lane_need_room(l, sizeof(struct wire_rec) + sizeof(struct wire_fetch));
    if (l->status != UCS_OK)
        return NULL;
    slot_t *s = take_slot(l->channel, l->pe, NULL, 0);
    struct wire_fetch fetch = {args->operand, args->cond};
    struct wire_rec rec = {.kind = REC_FETCH, .op = (uint8_t)args->op, .bytes = (uint8_t)args->bytes, .n = s->token, .off = args->off};
    lane_append(l, rec, &fetch, sizeof fetch);
    l->replies++;
    return s;
}

// lane_fetch_get applies one atomic operation, and then asks for n bytes from off, more than SLOT_BYTES, to be written
// to dst. The target reads them after the operation, since it applies records in order. It returns 0 when the lane has
// failed, and else what to wait for.
int lane_fetch_get(lane_t *l, const struct word_args *args, uint64_t off, char *dst, uint64_t n, slot_t **value, slot_t **bytes)
{
    *value = request_fetch(l, args);
    if (!*value)
        return 0;
    *bytes = lane_slot(l, dst, n, 0);
    if (!*bytes) {
        slot_abandon(l->channel, *value);
        return 0;
    }
    lane_request_bytes(l, *bytes, off, 0, n, 0);
    lane_send(l, 0);
    return 1;
}

// lane_fetch applies one atomic operation and waits for the old value. When it does not come in time,
// *slot is what to wait for.
int lane_fetch(lane_t *l, struct word_args *args, int64_t budget_ns, uint64_t *old, slot_t **slot)
{
    slot_t *s = request_fetch(l, args);
    if (!s)
        return lane_report(l);
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
