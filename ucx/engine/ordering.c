// The order of one channel's operations on the same bytes of a PE. Messages are applied in the order of issue.
// UCX's own operations are not ordered, neither among themselves nor with messages. So a lane that uses both
// remembers which bytes have an unfinished write, and by which of the two. An operation on some of these bytes
// first waits for that write. Other operations wait for nothing.
//
// UCX carries out its atomics on one word in the order of their posting, so these do not wait for each other.
#include "flow.h"

static int acked_to(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    return l->status != UCS_OK || !before(l->acked, (uint32_t)arg);
}

// pass_fence waits for the messages that a fence has put before the native operations to come.
static void pass_fence(lane_t *l)
{
    if (l->status != UCS_OK || !before(l->acked, l->fenced))
        return;
    lane_send(l, 1);
    progress_until(l->channel, l, acked_to, l->fenced, INT64_MAX, 0);
}

// An interval beyond SPANS is merged with the last one.
enum { LAST = SPANS - 1 };

static int overlaps(const struct spans *s, uint64_t off, uint64_t n)
{
    for (uint32_t i = 0; i < s->used; i++)
        if (off < s->list[i].end && s->list[i].start < off + n)
            return 1;
    return 0;
}

static void extend(struct span *s, uint64_t start, uint64_t end)
{
    if (start < s->start)
        s->start = start;
    if (end > s->end)
        s->end = end;
}

static void add_span(struct spans *s, uint64_t off, uint64_t n)
{
    for (uint32_t i = 0; i < s->used; i++)
        if (off <= s->list[i].end && s->list[i].start <= off + n) {
            extend(&s->list[i], off, off + n);
            return;
        }
    if (s->used == SPANS)
        extend(&s->list[LAST], off, off + n);
    else
        s->list[s->used++] = (struct span){off, off + n};
}

// needs_ordering reports whether the lane uses both messages and UCX's own operations.
static int needs_ordering(const lane_t *l)
{
    return l->use_native > 0 || l->channel->engine->config.nic;
}

// flush_native waits until UCX's own operations have taken effect.
static void flush_native(lane_t *l)
{
    lane_native_flush(l);
    wait_native(l, 0);
    l->native_puts.used = l->native_atomics.used = 0;
}

// lane_start_ordering starts to remember writes. Operations issued earlier may have written any byte.
void lane_start_ordering(lane_t *l)
{
    l->message_writes = (struct spans){.used = 1, .list[0] = {0, UINT64_MAX}};
}

// order_message waits for the native operations that a message which reads or writes n bytes at off must follow.
void order_message(lane_t *l, uint64_t off, uint64_t n, int writes)
{
    if (!needs_ordering(l))
        return;
    if (overlaps(&l->native_puts, off, n) || overlaps(&l->native_atomics, off, n))
        flush_native(l);
    if (writes)
        add_span(&l->message_writes, off, n);
}

// order_native waits for the operations that one of UCX's own on n bytes at off must follow.
void order_native(lane_t *l, uint64_t off, uint64_t n, enum native_kind kind)
{
    if (overlaps(&l->message_writes, off, n)) {
        lane_send(l, 0);
        l->fenced = l->sent;
        l->message_writes.used = 0;
    }
    pass_fence(l);
    if (overlaps(&l->native_puts, off, n) || (kind != NATIVE_WORD && overlaps(&l->native_atomics, off, n)))
        flush_native(l);
    if (kind != NATIVE_GET)
        add_span(kind == NATIVE_PUT ? &l->native_puts : &l->native_atomics, off, n);
}

// lane_fence orders what has been issued before what will be, by messages or by UCX's own operations.
void lane_fence(lane_t *l)
{
    if (l->status != UCS_OK)
        return;
    lane_native_flush(l);
    wait_native(l, 0);
    lane_send(l, 0);
    l->fenced = l->sent;
}
