// The initiator's side of notified access; note_queue.c has the target's.
#include "engine.h"

// lane_flush_awaited sends a note or a signal that has just been appended, for which a PE is likely to wait, unless
// others have just been sent. Then more are likely to follow, and gathering them saves messages; they leave as puts do.
void lane_flush_awaited(lane_t *l)
{
    enum { GATHER_NS = 5000 };
    if (l->channel->batch || now_ns() - l->left_ns < GATHER_NS)
        return;
    lane_flush_prompt(l);
    l->left_ns = now_ns(); // to send takes as long as to gather many
}

// lane_put_note moves n > 0 bytes straight from src and leaves a note behind them. src may be reused on
// return.
void lane_put_note(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t tag)
{
    struct wire_rec rec = note_rec(tag, off);
    l->notes_sent++;
    lane_put_with(l, off, src, n, &rec, n);
}

// lane_put_note_zcopy does what lane_put_note does, and returns a handle, as lane_put_zcopy does.
uint64_t lane_put_note_zcopy(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t tag)
{
    struct wire_rec rec = note_rec(tag, off);
    l->notes_sent++;
    return lane_put_zcopy_with(l, off, src, n, &rec, n);
}

// lane_get_note asks for n > 0 bytes, as lane_get does, and leaves a note behind them. It returns the slot
// to wait for, or NULL when the lane has failed.
slot_t *lane_get_note(lane_t *l, uint64_t off, char *dst, uint64_t n, uint32_t tag, int detached)
{
    slot_t *s = lane_slot(l, dst, n, detached);
    if (s)
        lane_request_bytes(l, s, off, 0, n, 1);
    lane_append_note(l, tag, n, off);
    return s;
}

// lane_get_note_wait does what lane_get_wait does, with a note.
int lane_get_note_wait(lane_t *l, uint64_t off, char *dst, uint64_t n, uint32_t tag, int64_t budget_ns, slot_t **slot)
{
    slot_t *s = lane_get_note(l, off, n <= SLOT_BYTES ? NULL : dst, n, tag, 0);
    return s ? lane_finish_get(l, s, dst, n, budget_ns, slot) : lane_report(l);
}
