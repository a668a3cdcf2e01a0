// What one channel has with one PE: buffers, counters, what happens when it is lost.
#include <stdlib.h>

#include "lane.h"

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
    b->handle = 0;
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

// Sources that UCX still reads.

static void advance_released(lane_t *l)
{
    uint64_t over = l->zcopy_released;
    while (over < l->zcopy_issued && l->zcopy_parts[(over + 1) % ZCOPY_MAX] == 0)
        over++;
    __atomic_store_n(&l->zcopy_released, over, __ATOMIC_RELEASE); // read without the lock
}

// source_hold and source_release bracket the time in which UCX reads a part of the source of a zero-copy put. No handle
// is 0.
void source_hold(lane_t *l, uint64_t handle)
{
    if (handle)
        l->zcopy_parts[handle % ZCOPY_MAX]++;
}

void source_release(lane_t *l, uint64_t handle)
{
    if (handle && --l->zcopy_parts[handle % ZCOPY_MAX] == 0)
        advance_released(l);
}

// The lane.

// lane_clean reports whether nothing of the lane is outstanding.
int lane_clean(const lane_t *l)
{
    return l->status != UCS_OK || (l->used == HEAD_BYTES && l->sent == l->acked && l->detached == 0 && l->native == 0 && !l->native_dirty && l->zcopy_released == l->zcopy_issued);
}

static void fail_slots(channel_t *c, uint32_t pe, int32_t status)
{
    for (int i = 0; i < SLOTS; i++)
        if (c->slots[i].status == UCS_INPROGRESS && c->slots[i].pe == pe && !c->slots[i].native)
            slot_end(c, &c->slots[i], status);
}

// lane_drop_waiting frees the messages that wait for the lane to open.
void lane_drop_waiting(lane_t *l)
{
    while (l->waiting) {
        sendbuf_t *b = l->waiting;
        l->waiting = b->next;
        l->pending--;
        source_release(l, b->handle);
        give_buf(l->channel, b);
    }
}

// lane_fail marks a lane as failed: outstanding operations are lost, later ones are dropped.
void lane_fail(lane_t *l, int32_t status)
{
    if (l->status != UCS_OK)
        return;
    if (!lane_clean(l)) {
        l->lost = 1;
        if (status == UCS_ERR_TIMED_OUT || status == UCS_ERR_NOT_CONNECTED || status == UCS_ERR_ENDPOINT_TIMEOUT)
            engine_fail_peer(l->channel->engine, l->pe, status, status == UCS_ERR_TIMED_OUT ? silence_of(l->address, l->address_bytes) : CUT);
    }
    l->status = status;
    start_buffer(l);
    l->kept_bytes = 0;
    lane_drop_waiting(l);
    fail_slots(l->channel, l->pe, status);
    l->get_bytes = 0;
}

// connection_status converts the status of an endpoint that was connected and has failed. UCX's "unreachable" then
// means a lost connection, not a wrong setting.
int32_t connection_status(ucs_status_t status)
{
    return status == UCS_ERR_UNREACHABLE ? UCS_ERR_NOT_CONNECTED : status;
}

// lane_reap closes the endpoint of a failed lane, so that UCX releases the memory that it was sending.
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

// lane_has_lost reports whether an operation of the lane has ever been lost. It stays so: any number of goroutines may
// have issued operations that are lost now, and each of them has its own quiet.
int lane_has_lost(const lane_t *l)
{
    return l->lost || l->told;
}

// lane_report records in the channel that operations to the lane's PE are lost, and in the lane that the loss has been
// reported. It returns ENGINE_LOST.
int lane_report(lane_t *l)
{
    l->lost = 0;
    l->told = 1;
    l->channel->lost_pe = l->pe;
    l->channel->lost_status = l->status;
    return ENGINE_LOST;
}

// keep_up raises a sequence number that may stay unchanged for long. Otherwise it would fall 2^31 behind and compare as
// greater.
static void keep_up(uint32_t *number, uint32_t acked)
{
    if (before(*number, acked))
        *number = acked;
}

// drop_kept drops the copies of messages up to seq.
static void drop_kept(lane_t *l, uint32_t seq)
{
    uint32_t over = 0;
    for (struct kept k; over < l->kept_bytes; over += sizeof k + k.bytes) {
        memcpy(&k, l->kept + over, sizeof k);
        if (before(seq, k.seq))
            break;
    }
    if (over > 0)
        memmove(l->kept, l->kept + over, l->kept_bytes -= over);
}

void lane_acked(lane_t *l, uint32_t seq)
{
    l->silent_ns = 0;
    if (before(seq, l->acked))
        return;
    l->acked = seq;
    if (l->kept_bytes > 0)
        drop_kept(l, seq);
    keep_up(&l->service_lane_seq, seq);
    keep_up(&l->ack_requested, seq);
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
        l->notes_sent = l->notes_marked = l->notes_credited = l->sent;
        lane_acked(l, l->sent);
    }
}

// UCX's own operations.

// native_lost fails a lane because UCX has lost an operation of its own, which is not outstanding any more: without it
// nothing may be, and lane_fail would find nothing to lose.
void native_lost(lane_t *l, int32_t status)
{
    l->lost = 1;
    lane_fail(l, status);
}

void on_native(void *request, ucs_status_t status, void *arg)
{
    lane_t *l = arg;
    l->native--;
    l->silent_ns = 0;
    ucp_request_free(request);
    if (status != UCS_OK)
        native_lost(l, status);
}

// lane_native_flush makes native operations complete in the end. on_native is called when they are.
void lane_native_flush(lane_t *l)
{
    if (!l->native_dirty || l->status != UCS_OK)
        return;
    l->native_dirty = 0;
    ucp_request_param_t param = native_param(l);
    count_native(l, ucp_ep_flush_nbx(l->ep, &param));
}
