// Slots: what a channel waits for.
#include <stdlib.h>

#include "lane.h"

slot_t *take_slot(channel_t *c, uint32_t pe, char *dst, uint64_t bytes)
{
    slot_t *s = c->free_slots;
    c->free_slots = s->next;
    s->status = UCS_INPROGRESS;
    s->pe = pe;
    s->detached = AWAITED;
    s->native = 0;
    s->left = s->bytes = bytes;
    s->dst = dst ? dst : s->room;
    s->block = 0;
    return s;
}

// slot_release frees a slot. An answer to its present use that still comes is dropped, by its token.
void slot_release(channel_t *c, slot_t *s)
{
    free(s->bounce);
    s->bounce = NULL;
    s->token += SLOTS;
    s->status = UCS_OK;
    s->next = c->free_slots;
    c->free_slots = s;
}

// span_of returns the bytes from the first to the last of the destination of a slot.
static uint64_t span_of(const slot_t *s)
{
    return s->block ? (s->bytes / s->block - 1) * s->step + s->block : s->bytes;
}

// slot_bounce directs the rest of an answer to a bounce buffer, because dst may move: a variable smaller than STACK_MAX
// can be on the stack of the goroutine, which the Go runtime may move once the goroutine is back in Go.
int slot_bounce(slot_t *s, const char *dst)
{
    uint64_t n = span_of(s);
    if (s->bounce || n > STACK_MAX || s->dst == s->room)
        return 1;
    if (!(s->bounce = malloc(n)))
        return 0;
    memcpy(s->bounce, dst, n);
    s->dst = s->bounce;
    return 1;
}

// slot_deliver copies to dst what has gone to the slot or its bounce buffer, and nothing between blocks.
void slot_deliver(const slot_t *s, char *dst)
{
    if (s->dst == s->room)
        memcpy(dst, s->room, s->bytes);
    else if (s->bounce && s->block)
        move_blocks(dst, s->step, s->bounce, s->step, s->block, s->bytes / s->block);
    else if (s->bounce)
        memcpy(dst, s->bounce, s->bytes);
}

// slot_abandon releases a slot that may not have been answered.
void slot_abandon(channel_t *c, slot_t *s)
{
    if (s->status == UCS_INPROGRESS && c->lanes[s->pe])
        c->lanes[s->pe]->get_bytes -= s->left;
    slot_release(c, s);
}

// slot_end records that the answer is complete, or lost.
void slot_end(channel_t *c, slot_t *s, int32_t status)
{
    c->answered++;
    s->status = status;
    if (s->detached)
        c->lanes[s->pe]->detached--;
    if (s->detached == DETACHED)
        slot_release(c, s);
}

// slot_scatter copies n bytes of packed data to the blocks of the slot, from byte pos on.
void slot_scatter(slot_t *s, uint64_t pos, const char *from, uint64_t n)
{
    uint64_t skip = pos % s->block;
    char *to = s->dst + pos / s->block * s->step;
    if (skip) { // the rest of a block that an earlier piece has begun
        uint64_t k = s->block - skip < n ? s->block - skip : n;
        memcpy(to + skip, from, k);
        to += s->step, from += k, n -= k;
    }
    move_blocks(to, s->step, from, s->block, s->block, n / s->block);
    memcpy(to + n / s->block * s->step, from + n / s->block * s->block, n % s->block);
}
