// Flow control: waits for room, for buffers and for slots. Another goroutine interrupts none of them,
// except where a comment says so.
#include "flow.h"

static int has_room(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)arg;
    return l->status != UCS_OK || (l->pending < PENDING_MAX && l->sent_bytes - l->acked_bytes < UNACKED_MAX);
}

// lane_throttle waits until the lane holds no more memory than it may, at the origin and at the target.
void lane_throttle(lane_t *l)
{
    if (!has_room(l->channel, l, 0))
        progress_until(l->channel, l, has_room, 0, INT64_MAX, 0);
}

// lane_flush_prompt does what lane_flush does, with a message for which a PE is likely to wait.
void lane_flush_prompt(lane_t *l)
{
    lane_send_prompt(l);
    lane_throttle(l);
}

// lane_flush makes room in the buffer.
void lane_flush(lane_t *l)
{
    lane_send(l, 0);
    lane_throttle(l);
}

// lane_need_room makes room for n bytes of records.
void lane_need_room(lane_t *l, uint32_t n)
{
    if (l->used + n > BUFFER_BYTES)
        lane_flush(l);
}

static int service_drained(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)arg;
    return lane_service_drained(l);
}

// lane_drain_service_for waits until the target has applied what went by the service lane, but for the given time at
// most, and reports whether it has. A request that is to be answered must not overtake that: the target can only answer
// a message when it arrives.
int lane_drain_service_for(lane_t *l, int64_t budget_ns)
{
    if (lane_service_drained(l))
        return 1;
    lane_send(l, 1);
    return progress_until(l->channel, l, service_drained, 0, budget_ns, 0) == ENGINE_DONE;
}

// lane_drain_service does the same without a limit. Calls that have a context have waited before
// (Channel.laneForRequest).
void lane_drain_service(lane_t *l)
{
    lane_drain_service_for(l, INT64_MAX);
}

static int slot_free(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)l;
    (void)arg;
    return c->free_slots != NULL;
}

// need_slot waits until a slot is free. One becomes free in the end, because pending fetches take at most half of all.
void need_slot(lane_t *l)
{
    if (!l->channel->free_slots) {
        lane_send(l, 1);
        progress_until(l->channel, l, slot_free, 0, INT64_MAX, 0);
    }
}

static int sent_all(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)arg;
    return l->pending == 0;
}

// lane_await_sent waits until UCX holds no message of the lane.
void lane_await_sent(lane_t *l)
{
    if (l->pending)
        progress_until(l->channel, l, sent_all, 0, INT64_MAX, 0);
}

static int get_room(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    return l->get_bytes + arg <= GET_BYTES_MAX;
}

// lane_await_get_room waits until n more bytes of gets may be asked for.
void lane_await_get_room(lane_t *l, uint32_t n)
{
    progress_until(l->channel, l, get_room, n, INT64_MAX, 0);
}

static int native_done(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    return l->native <= arg;
}

// wait_native waits until at most left requests are on their way.
void wait_native(lane_t *l, uint32_t left)
{
    if (l->native > left)
        progress_until(l->channel, l, native_done, left, INT64_MAX, 0);
}

static int has_note_credit(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)arg;
    return l->status != UCS_OK || l->notes_sent - l->notes_credited < NOTES_MAX;
}

// lane_await_note_credit waits until the lane has credit for another note, and reports whether it has. Without credit
// it first asks the target for an acknowledgement, which returns credits. A lane that has failed has credit.
int lane_await_note_credit(lane_t *l, int64_t budget_ns)
{
    if (has_note_credit(l->channel, l, 0))
        return 1;
    if (l->marks_used == 0)
        lane_request_ack(l);
    else
        lane_send(l, 0);
    return progress_until(l->channel, l, has_note_credit, 0, budget_ns, 1) == ENGINE_DONE;
}

static int slot_done(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)l;
    return ((slot_t *)(uintptr_t)arg)->status != UCS_INPROGRESS;
}

static int await(channel_t *c, slot_t *s, int64_t budget_ns, int interruptible)
{
    lane_t *l = c->lanes[s->pe];
    int r = progress_until(c, l, slot_done, (uintptr_t)s, budget_ns, interruptible);
    if (r != ENGINE_DONE || s->status == UCS_OK)
        return r;
    slot_release(c, s);
    return lane_report(l);
}

// channel_await waits for the answer that s stands for. After ENGINE_LOST the slot has been released.
int channel_await(channel_t *c, slot_t *s, int64_t budget_ns)
{
    return await(c, s, budget_ns, 1);
}

// channel_await_all waits as channel_await does, but neither a budget nor another goroutine ends it.
int channel_await_all(channel_t *c, slot_t *s)
{
    return await(c, s, INT64_MAX, 0);
}

// slot_await_fetch waits until a pending fetch has its value, or is lost.
void slot_await_fetch(channel_t *c, slot_t *s)
{
    lane_t *l = c->lanes[s->pe];
    lane_send(l, 0);
    progress_until(c, l, slot_done, (uintptr_t)s, INT64_MAX, 0);
}
