// Layer 7: operations on a lane: records that a target answers, UCX's own operations, large puts, gets, atomics.
#ifndef ENGINE_TRANSFER_H
#define ENGINE_TRANSFER_H

#include "flow.h"

static inline void put_rec(char **pos, struct wire_rec rec)
{
    memcpy(*pos, &rec, sizeof rec);
    *pos += sizeof rec;
}

// piece_of returns the size of the pieces of a transfer of n bytes. They are of equal size, so that none is small.
static inline uint32_t piece_of(uint64_t n)
{
    uint64_t pieces = (n + PIECE_BYTES - 1) / PIECE_BYTES;
    return pieces <= 1 ? (uint32_t)n : (uint32_t)WIRE_PAD((n + pieces - 1) / pieces);
}

// lane_append appends a record with n bytes behind it, for which there is room.
static inline void lane_append(lane_t *l, struct wire_rec rec, const void *rest, uint32_t n)
{
    char *pos = l->out->data + l->used;
    put_rec(&pos, rec);
    memcpy(pos, rest, n);
    l->used += sizeof rec + n;
    l->records++;
}

// lane_append_request appends a record, with the n bytes of rest, that asks for rec.n bytes.
static inline void lane_append_request(lane_t *l, struct wire_rec rec, const void *rest, uint32_t n)
{
    lane_append(l, rec, rest, n);
    l->replies++;
    l->get_bytes += rec.n;
}

static inline struct wire_rec note_rec(uint32_t tag, uint64_t off)
{
    return (struct wire_rec){.kind = REC_NOTE, .n = tag, .off = off};
}

// request.c
void lane_request_room(lane_t *l, uint32_t record, uint32_t n);
void lane_request_bytes(lane_t *l, slot_t *s, uint64_t off, uint64_t pos, uint64_t n, int read);
slot_t *lane_request(lane_t *l, unsigned kind, uint64_t off, char *dst, uint32_t n);
slot_t *lane_slot(lane_t *l, char *dst, uint64_t n, int detached);
int lane_finish_get(lane_t *l, slot_t *s, char *dst, uint64_t n, int64_t budget_ns, slot_t **slot);
void lane_append_note(lane_t *l, uint32_t tag, uint64_t bytes, uint64_t off);

// native.c
char *lane_text(lane_t *l);
int lane_native(lane_t *l);
void lane_drop_keys(lane_t *l);
uint64_t native_put(lane_t *l, uint64_t off, const char *src, uint64_t n, uint64_t handle);
uint64_t native_get(lane_t *l, uint64_t off, char *dst, uint64_t n, int wait);
int lane_nic(lane_t *l, struct word_args *args, uint64_t *old);
void lane_nic_fetch_nb(lane_t *l, struct word_args *args, slot_t *s);

// put.c
void lane_send_own(lane_t *l, struct wire_rec rec, char *piece, uint32_t n, int want_ack);
void lane_put_pieces(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value, uint64_t handle);
void lane_put_with(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value);
void lane_put(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t signal_op, uint64_t signal, uint64_t value);

// get.c
slot_t *lane_get(lane_t *l, uint64_t off, char *dst, uint64_t n, int detached);
int lane_get_wait(lane_t *l, uint64_t off, char *dst, uint64_t n, int64_t budget_ns, slot_t **slot);
int lane_fetch_get(lane_t *l, const struct word_args *args, uint64_t off, char *dst, uint64_t n, slot_t **value, slot_t **bytes);
int lane_fetch(lane_t *l, struct word_args *args, int64_t budget_ns, uint64_t *old, slot_t **slot);

#endif
