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
    if (detached && n >= PIECE_BYTES) // nothing is gained by gathering it, and its bytes come while the program does something else
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

// lane_fetch applies one atomic operation and waits for the old value. When it does not come in time,
// *slot is what to wait for.
int lane_fetch(lane_t *l, struct word_args *args, int64_t budget_ns, uint64_t *old, slot_t **slot)
{
    order_message(l, args->off, args->bytes, 1);
    need_slot(l);
    lane_drain_service(l);
    lane_need_room(l, sizeof(struct wire_rec) + sizeof(struct wire_fetch));
    if (l->status != UCS_OK)
        return lane_report(l);
    slot_t *s = take_slot(l->channel, l->pe, NULL, 0);
    struct wire_fetch fetch = {args->operand, args->cond};
    struct wire_rec rec = {.kind = REC_FETCH, .op = (uint8_t)args->op, .bytes = (uint8_t)args->bytes, .n = s->token, .off = args->off};
    lane_append(l, rec, &fetch, sizeof fetch);
    l->replies++;
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
