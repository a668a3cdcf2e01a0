// Strided transfers: blocks at regular distances. Small blocks travel packed, with their
// stride: the target scatters the blocks of a put and gathers those of a get, in C. A column
// of a matrix is then as few messages as a row: small ones gather with other small operations, large
// ones fill messages of their own. Large blocks go one by one, without a copy.
#include <stdlib.h>

#include "engine.h"

// Putting.

enum { SCATTER_HEAD = sizeof(struct wire_rec) + sizeof(struct wire_stride) };

// room_for returns how many blocks fit what is left of the lane's buffer, as one record.
static uint64_t room_for(const lane_t *l, uint64_t bytes)
{
    uint32_t left = BUFFER_BYTES - l->used;
    return left <= SCATTER_HEAD ? 0 : (left - SCATTER_HEAD) / 8 * 8 / bytes;
}

static void append_scatter(lane_t *l, uint64_t off, const char *src, struct strided b)
{
    uint32_t n = (uint32_t)(b.bytes * b.count);
    struct wire_rec rec = {.kind = REC_SCATTER, .n = n, .off = off};
    struct wire_stride stride = {.block = (uint32_t)b.bytes, .step = b.remote_stride};
    char *pos = l->out->data + l->used;
    if (l->used == HEAD_BYTES)
        l->born = __atomic_load_n(&l->channel->engine->ticks, __ATOMIC_RELAXED);
    memcpy(pos, &rec, sizeof rec);
    memcpy(pos + sizeof rec, &stride, sizeof stride);
    move_blocks(pos + SCATTER_HEAD, b.bytes, src, b.local_stride, b.bytes, b.count);
    l->used += SCATTER_HEAD + (uint32_t)WIRE_PAD(n);
    l->records++;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// run_of returns how many blocks travel together: as many as fit in most bytes, about the same number in each run.
static uint64_t run_of(struct strided b, uint64_t most)
{
    uint64_t fit = most / b.bytes, runs = (b.count + fit - 1) / fit;
    return (b.count + runs - 1) / runs;
}

// reach_of returns the number of bytes from the first block's start to the last one's end.
static uint64_t reach_of(struct strided b)
{
    return (b.count - 1) * b.remote_stride + b.bytes;
}

// put_large sends blocks in messages as large as those of a contiguous put.
static void put_large(lane_t *l, uint64_t off, const char *src, struct strided b)
{
    struct wire_stride stride = {.block = (uint32_t)b.bytes, .step = b.remote_stride};
    uint64_t run = run_of(b, PIECE_BYTES - sizeof stride);
    order_message(l, off, reach_of(b), 1);
    lane_send(l, 0);
    for (uint64_t i = 0; i < b.count && l->status == UCS_OK; i += run) {
        uint64_t count = least(run, b.count - i);
        uint32_t n = (uint32_t)(count * b.bytes);
        char *piece = malloc(sizeof stride + n);
        if (!piece) {
            lane_fail(l, UCS_ERR_NO_MEMORY);
            break;
        }
        memcpy(piece, &stride, sizeof stride);
        move_blocks(piece + sizeof stride, b.bytes, src + i * b.local_stride, b.local_stride, b.bytes, count);
        struct wire_rec rec = {.kind = REC_SPREAD, .n = n, .off = off + i * b.remote_stride};
        lane_send_own(l, rec, piece, (uint32_t)sizeof stride + n, i + count == b.count);
        lane_throttle(l);
    }
    if (l->status != UCS_OK)
        l->lost = 1;
}

// put_packed gathers blocks with the other small operations of the lane.
static void put_packed(lane_t *l, uint64_t off, const char *src, struct strided b)
{
    order_message(l, off, reach_of(b), 1);
    for (uint64_t left = b.count; left > 0; left -= b.count) {
        uint64_t fit = room_for(l, b.bytes);
        if (fit == 0 || (fit < left && l->used > BUFFER_BYTES / 2)) {
            lane_flush(l); // rather a full message than two records
            fit = room_for(l, b.bytes);
        }
        b.count = least(left, fit);
        if (l->status != UCS_OK) {
            l->lost = 1;
            return;
        }
        append_scatter(l, off, src, b);
        off += b.count * b.remote_stride;
        src += b.count * b.local_stride;
    }
}

// lane_put_blocks moves the blocks from src to those from off. src may be reused on return.
void lane_put_blocks(lane_t *l, uint64_t off, const char *src, struct strided b)
{
    if (b.bytes <= SMALL_MAX && b.bytes * b.count <= BUFFER_BYTES)
        put_packed(l, off, src, b);
    else if (b.bytes <= (lane_native(l) ? SMALL_MAX : PACK_MAX))
        put_large(l, off, src, b);
    else
        for (uint64_t i = 0; i < b.count; i++)
            lane_put(l, off + i * b.remote_stride, src + i * b.local_stride, b.bytes, WORD_FETCH, 0, 0);
}

// Getting.

// request_blocks asks for the blocks from off, which become the bytes from pos of the slot's packed data.
static void request_blocks(lane_t *l, slot_t *s, uint64_t off, uint64_t pos, struct strided b)
{
    struct {
        struct wire_get get;
        struct wire_stride stride;
    } rest = {.get = {.slot = s->token, .pos = pos}, .stride = {.block = (uint32_t)b.bytes, .step = b.remote_stride}};
    uint32_t n = (uint32_t)(b.bytes * b.count);
    lane_request_room(l, sizeof(struct wire_rec) + sizeof rest, n);
    if (l->status == UCS_OK)
        lane_append_request(l, (struct wire_rec){.kind = REC_GATHER, .n = n, .off = off}, &rest, sizeof rest);
}

static void request_packed(lane_t *l, slot_t *s, uint64_t off, struct strided b)
{
    order_message(l, off, reach_of(b), 0);
    uint64_t all = b.count, run = run_of(b, PIECE_BYTES);
    for (uint64_t i = 0; i < all && l->status == UCS_OK; i += b.count) {
        b.count = least(run, all - i);
        request_blocks(l, s, off + i * b.remote_stride, i * b.bytes, b);
    }
}

// native_blocks has UCX fetch what it can of large blocks, and returns the number of blocks.
static uint64_t native_blocks(lane_t *l, uint64_t off, char *dst, struct strided b, int wait)
{
    uint64_t done = 0;
    if (b.bytes <= SMALL_MAX || !lane_native(l))
        return 0;
    while (done < b.count && native_get(l, off + done * b.remote_stride, dst + done * b.local_stride, b.bytes, 0) == b.bytes)
        done++;
    if (wait)
        wait_native(l, 0);
    return done;
}

// lane_get_blocks does what lane_get does, for blocks.
slot_t *lane_get_blocks(lane_t *l, uint64_t off, char *dst, struct strided b, int detached)
{
    uint64_t done = native_blocks(l, off, dst, b, !detached);
    off += done * b.remote_stride, dst += done * b.local_stride, b.count -= done;
    if (b.count == 0)
        return NULL;
    slot_t *s = lane_slot(l, dst, b.bytes * b.count, detached);
    if (!s)
        return NULL;
    s->block = b.bytes;
    s->step = b.local_stride;
    if (b.remote_stride == b.bytes)
        lane_request_bytes(l, s, off, 0, b.bytes * b.count, 0);
    else if (b.bytes <= PACK_MAX)
        request_packed(l, s, off, b);
    else
        for (uint64_t i = 0; i < b.count && l->status == UCS_OK; i++)
            lane_request_bytes(l, s, off + i * b.remote_stride, i * b.bytes, b.bytes, 0);
    return s;
}

// lane_get_blocks_wait does what lane_get_blocks and channel_await do. When the answer is not complete in
// time, *slot is what to wait for.
int lane_get_blocks_wait(lane_t *l, uint64_t off, char *dst, struct strided b, int64_t budget_ns, slot_t **slot)
{
    slot_t *s = lane_get_blocks(l, off, dst, b, 0);
    if (!s)
        return l->status == UCS_OK ? ENGINE_DONE : lane_report(l);
    lane_send(l, 0);
    *slot = s;
    int r = channel_await(l->channel, s, budget_ns);
    if (r == ENGINE_DONE)
        slot_release(l->channel, s);
    return r;
}
