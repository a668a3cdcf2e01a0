// The target's side of notified access. A note is one more record behind what it tells of, in the same message
// where that fits, so it is applied after that and in the order of issue.
//
// The target appends notes to the queue of its PE (pgas/transport/shm has the protocol). When that queue is full
// they wait in a list, in order. The thread that serves moves them later, so the service never waits for the
// program. A lane may have NOTES_MAX notes that have not found room in the queue, which bounds the list; replies
// say how many have. Only notes wait for that. So two PEs that wait for space in each other's queues still serve
// each other's memory.
#include <stdlib.h>

#include "target.h"

typedef struct spill {
    struct spill *next;
    uint64_t lane; // key of the inbound lane
    uint64_t stamp, bytes, off;
} spill_t;

static struct ring_words *words_of(const engine_t *e)
{
    return (struct ring_words *)(e->config.heap + e->config.notes);
}

// push leaves a note in the ring, if there is room.
static int push(engine_t *e, uint64_t stamp, uint64_t bytes, uint64_t off)
{
    struct ring_words *w = words_of(e);
    uint64_t t = __atomic_load_n(&w->tail, __ATOMIC_RELAXED);
    do {
        if (t - __atomic_load_n(&w->taken, __ATOMIC_ACQUIRE) / 2 >= RING_NOTES)
            return 0;
    } while (!__atomic_compare_exchange_n(&w->tail, &t, t + 1, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    uint64_t at = e->config.notes + RING_ENTRIES + t % RING_NOTES * sizeof(struct ring_entry);
    struct ring_entry *entry = (struct ring_entry *)(e->config.heap + at);
    entry->stamp = stamp;
    entry->bytes = bytes;
    entry->off = off;
    __atomic_store_n(&entry->state, t + 1, __ATOMIC_RELEASE);
    ring_word(e, at);
    return 1;
}

// show_spilled tells the PE how many notes wait. Where many do, it is asked to empty its ring.
static void show_spilled(engine_t *e)
{
    enum { MANY = NOTES_MAX / 8 };
    struct ring_words *w = words_of(e);
    __atomic_store_n(&w->spilled, e->nspilled, __ATOMIC_RELEASE);
    if (e->nspilled > MANY && !__atomic_exchange_n(&w->wanted, 1, __ATOMIC_SEQ_CST))
        wake_pe(e);
}

// spill keeps a note for which the ring has no room. A lane spills at most a few more than NOTES_MAX, because
// goroutines that share a channel check for room before they take it.
static int spill(engine_t *e, inbound_t *in, uint64_t stamp, uint64_t bytes, uint64_t off)
{
    spill_t *s = in->spilled < 2 * NOTES_MAX ? malloc(sizeof *s) : NULL;
    if (!s)
        return 0;
    in->spilled++;
    *s = (spill_t){.lane = in->key, .stamp = stamp, .bytes = bytes, .off = off};
    if (!e->spilled)
        e->spilled_end = &e->spilled;
    *e->spilled_end = s;
    e->spilled_end = &s->next;
    e->nspilled++;
    show_spilled(e);
    return 1;
}

// note_arrived applies a REC_NOTE and says whether there could be one.
int note_arrived(engine_t *e, inbound_t *in, uint32_t tag, uint64_t bytes, uint64_t off)
{
    uint64_t stamp = (uint64_t)tag << 32 | in->key >> 32;
    if (!e->config.notes)
        return 0;
    if (e->spilled || !push(e, stamp, bytes, off))
        return spill(e, in, stamp, bytes, off);
    in->roomed++;
    return 1;
}

// notes_settle moves notes that wait to the ring, as many as there is room for. The caller serves.
void notes_settle(engine_t *e)
{
    spill_t *s;
    uint32_t before = e->nspilled;
    while ((s = e->spilled) && push(e, s->stamp, s->bytes, s->off)) {
        inbound_t *in = *find_inbound(e, s->lane);
        if (in) {
            in->roomed++;
            in->spilled--;
        }
        e->spilled = s->next;
        e->nspilled--;
        free(s);
    }
    if (e->nspilled != before)
        show_spilled(e);
}

// engine_refill is notes_settle for a PE that has emptied its ring. If somebody else serves at the moment,
// that one does it.
void engine_refill(engine_t *e)
{
    if (!try_lock(&e->serving))
        return;
    if (e->spilled)
        notes_settle(e);
    unlock(&e->serving);
}

void notes_free(engine_t *e)
{
    while (e->spilled) {
        spill_t *s = e->spilled;
        e->spilled = s->next;
        free(s);
    }
}
