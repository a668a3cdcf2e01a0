// Puts that do not fit the lane's buffer.
#include <stdlib.h>

#include "transfer.h"

// send_piece sends n bytes for off without a copy, and the tail behind the last piece.
static void send_piece(lane_t *l, uint64_t off, const char *src, uint32_t n, const struct wire_rec *tail, uint64_t value, int last, uint64_t handle)
{
    sendbuf_t *b = take_buf(l->channel);
    if (!b) {
        lane_fail(l, UCS_ERR_NO_MEMORY);
        return;
    }
    b->handle = handle;
    char *pos = b->data + HEAD_BYTES;
    put_rec(&pos, (struct wire_rec){.kind = REC_BODY, .n = n, .off = off});
    if (tail) {
        put_rec(&pos, *tail);
        memcpy(pos, &value, sizeof value);
        pos += sizeof value;
    }
    struct wire_head head = next_head(l, tail ? 2 : 1, n, last);
    memcpy(b->data, &head, sizeof head);
    if (send_or_queue(l, b, b->data, (size_t)(pos - b->data), src, n))
        give_buf(l->channel, b);
}

// lane_send_own sends one record with the n bytes of piece as its data. The message owns and frees piece.
void lane_send_own(lane_t *l, struct wire_rec rec, char *piece, uint32_t n, int want_ack)
{
    sendbuf_t *b = take_buf(l->channel);
    if (!b) {
        free(piece);
        lane_fail(l, UCS_ERR_NO_MEMORY);
        return;
    }
    b->piece = piece;
    char *pos = b->data + HEAD_BYTES;
    put_rec(&pos, rec);
    struct wire_head head = next_head(l, 1, n, want_ack);
    memcpy(b->data, &head, sizeof head);
    if (send_or_queue(l, b, b->data, (size_t)(pos - b->data), piece, n))
        give_buf(l->channel, b);
}

// lane_put_pieces moves n > 0 bytes straight from src, and then sends the tail, if there is one: a record that
// value follows. UCX may still be reading src on return.
void lane_put_pieces(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value, uint64_t handle)
{
    if (!tail && lane_native(l)) {
        uint64_t done = native_put(l, off, src, n, handle);
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
        send_piece(l, off, src, piece, last ? tail : NULL, value, last, handle);
        off += piece, src += piece, n -= piece;
        lane_throttle(l);
    }
    if (l->status != UCS_OK)
        l->lost = 1;
}

// lane_put_with does what lane_put_pieces does, and waits until src may be reused.
void lane_put_with(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value)
{
    lane_put_pieces(l, off, src, n, tail, value, 0);
    lane_await_sent(l);
}

// lane_put moves n > 0 bytes straight from src and then, if signal_op is not WORD_FETCH, updates the
// 8-byte word at signal. src may be reused on return.
void lane_put(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t signal_op, uint64_t signal, uint64_t value)
{
    struct wire_rec post = {.kind = REC_POST, .op = (uint8_t)signal_op, .bytes = 8, .off = signal};
    lane_put_with(l, off, src, n, signal_op != WORD_FETCH ? &post : NULL, value);
}
