// The target's side of notified access. A note is a record behind its access, in the same message where it fits, so it
// is applied after the access and in the order of issue.
//
// The target appends notes to the queue of its PE (pgas/transport/shm has the protocol). When that queue is full
// they wait in a list, in order. The thread that serves moves them later, so the service never waits for the
// program. A lane may have NOTES_MAX notes that have not found room in the queue, which bounds the list; replies
// say how many have. Only notes wait for that. So two PEs that wait for space in each other's queues still serve
// each other's memory.
#include <stdlib.h>

#include "target.h"

typedef struct overflow_note {
    struct overflow_note *next;
    uint64_t lane; // key of the inbound lane
    uint64_t stamp, bytes, off;
} overflow_note_t;

// note_push appends a note to the queue at offset queue of heap. It returns the offset of the word for which the
// owner waits, or 0 if there is no room.
uint64_t note_push(char *heap, uint64_t queue, uint64_t stamp, uint64_t bytes, uint64_t off)
{
    struct note_queue *w = (struct note_queue *)(heap + queue);
    uint64_t t = __atomic_load_n(&w->tail, __ATOMIC_RELAXED);
    do {
        if (t - __atomic_load_n(&w->taken, __ATOMIC_ACQUIRE) / 2 >= NOTE_QUEUE_CAP)
            return 0;
    } while (!__atomic_compare_exchange_n(&w->tail, &t, t + 1, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    uint64_t pos = queue + NOTE_QUEUE_ENTRIES + t % NOTE_QUEUE_CAP * sizeof(struct note_entry);
    struct note_entry *entry = (struct note_entry *)(heap + pos);
    entry->stamp = stamp;
    entry->bytes = bytes;
    entry->off = off;
    __atomic_store_n(&entry->state, t + 1, __ATOMIC_RELEASE);
    return pos;
}

static int push(engine_t *e, uint64_t stamp, uint64_t bytes, uint64_t off)
{
    uint64_t pos = note_push(e->config.heap, e->config.notes, stamp, bytes, off);
    if (pos)
        ring_for_word(e, pos);
    return pos != 0;
}

// note_publish_overflow tells the owner of the queue that n notes wait. Where many do, the owner is asked to empty its
// queue; it returns whether the owner must be woken for that.
int note_publish_overflow(char *heap, uint64_t queue, uint32_t n)
{
    enum { MANY = NOTES_MAX / 8 };
    struct note_queue *w = (struct note_queue *)(heap + queue);
    __atomic_store_n(&w->overflow, n, __ATOMIC_RELEASE);
    return n > MANY && !__atomic_exchange_n(&w->space_wanted, 1, __ATOMIC_SEQ_CST);
}

static void publish_overflow(engine_t *e)
{
    if (note_publish_overflow(e->config.heap, e->config.notes, e->noverflow))
        ring_doorbell(e);
}

// overflow_note keeps a note for which the queue has no room. A lane has at most a few more than NOTES_MAX of them,
// because goroutines that share a channel check for credit before they spend it.
static int overflow_note(engine_t *e, inbound_t *in, uint64_t stamp, uint64_t bytes, uint64_t off)
{
    overflow_note_t *s = in->overflow < 2 * NOTES_MAX ? malloc(sizeof *s) : NULL;
    if (!s)
        return 0;
    in->overflow++;
    *s = (overflow_note_t){.lane = in->key, .stamp = stamp, .bytes = bytes, .off = off};
    if (!e->overflow)
        e->overflow_end = &e->overflow;
    *e->overflow_end = s;
    e->overflow_end = &s->next;
    e->noverflow++;
    publish_overflow(e);
    return 1;
}

// note_arrived applies a REC_NOTE and reports whether it was valid.
int note_arrived(engine_t *e, inbound_t *in, uint32_t tag, uint64_t bytes, uint64_t off)
{
    uint64_t stamp = note_stamp(tag, (uint32_t)(in->key >> 32));
    if (!e->config.notes)
        return 0;
    if (e->overflow || !push(e, stamp, bytes, off))
        return overflow_note(e, in, stamp, bytes, off);
    in->notes_credited++;
    return 1;
}

// notes_drain moves waiting notes to the queue, as many as there is room for. The caller holds engine.serving.
void notes_drain(engine_t *e)
{
    overflow_note_t *s;
    uint32_t before = e->noverflow;
    while ((s = e->overflow) && push(e, s->stamp, s->bytes, s->off)) {
        inbound_t *in = *find_inbound(e, s->lane);
        if (in) {
            in->notes_credited++;
            in->overflow--;
        }
        e->overflow = s->next;
        e->noverflow--;
        free(s);
    }
    if (e->noverflow != before)
        publish_overflow(e);
}

// engine_refill does what notes_drain does, for a PE that has emptied its queue. If another thread serves at the
// moment, that thread drains.
void engine_refill(engine_t *e)
{
    if (!try_lock(&e->serving))
        return;
    if (e->overflow)
        notes_drain(e);
    unlock(&e->serving);
}

void notes_free(engine_t *e)
{
    while (e->overflow) {
        overflow_note_t *s = e->overflow;
        e->overflow = s->next;
        free(s);
    }
}
