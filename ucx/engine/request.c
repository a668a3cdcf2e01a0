// Requests: records that a target answers.
#include "transfer.h"

// lane_request_room makes room for a record of the given length that asks for n bytes.
void lane_request_room(lane_t *l, uint32_t record, uint32_t n)
{
    lane_drain_service(l);
    lane_need_room(l, record);
    if (l->get_bytes + n > GET_BYTES_MAX) {
        lane_send(l, 0);
        lane_await_get_room(l, n);
    }
}

static void request_piece(lane_t *l, slot_t *s, uint64_t off, uint64_t pos, uint32_t n, int read)
{
    struct wire_get get = {.slot = s->token, .pos = pos};
    lane_request_room(l, sizeof(struct wire_rec) + sizeof get, n);
    if (l->status == UCS_OK)
        lane_append_request(l, (struct wire_rec){.kind = REC_GET, .op = (uint8_t)read, .n = n, .off = off}, &get, sizeof get);
}

// lane_request_bytes asks, piece by piece, for n bytes from off, to be the bytes from pos of the slot's. With read the
// target reads them before it applies what follows.
void lane_request_bytes(lane_t *l, slot_t *s, uint64_t off, uint64_t pos, uint64_t n, int read)
{
    order_message(l, off, n, 0);
    uint32_t piece = piece_of(n);
    for (uint64_t i = 0; i < n && l->status == UCS_OK; i += piece)
        request_piece(l, s, off + i, pos + i, n - i < piece ? (uint32_t)(n - i) : piece, read);
}

// lane_request sends a record of the given kind, to be answered with n bytes at dst, and returns the slot to
// wait for, or NULL when the lane has failed.
slot_t *lane_request(lane_t *l, unsigned kind, uint64_t off, char *dst, uint32_t n)
{
    need_slot(l);
    lane_drain_service(l);
    lane_need_room(l, sizeof(struct wire_rec) + sizeof(struct wire_get));
    if (l->status != UCS_OK)
        return NULL;
    slot_t *s = take_slot(l->channel, l->pe, dst, n);
    struct wire_get get = {.slot = s->token};
    lane_append_request(l, (struct wire_rec){.kind = (uint8_t)kind, .n = n, .off = off}, &get, sizeof get);
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

// lane_append_note appends a note, for which the caller has found credit.
void lane_append_note(lane_t *l, uint32_t tag, uint64_t bytes, uint64_t off)
{
    struct wire_post post = {.operand = bytes};
    lane_need_room(l, sizeof(struct wire_rec) + sizeof post);
    if (l->status != UCS_OK) {
        l->lost = 1;
        return;
    }
    lane_append(l, note_rec(tag, off), &post, sizeof post);
    l->notes_sent++;
}
