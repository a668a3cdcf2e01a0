// Notified access. A note is one more record behind what it tells of, in the same message where that fits,
// so it is applied after that and in the order of issue.
//
// The target leaves notes in the ring of its PE (pgas/transport/shm/ring.go has the protocol). When that is
// full they wait in a list, in order, and whoever serves moves them later: the service never waits for the
// program. So that the list is bounded, a lane may have NOTES_MAX notes that have not found room in the
// ring; answers say how many have. Nothing but notes waits for that: all else goes on, so two PEs that wait
// for room at each other still serve each other's memory.
#include <stdlib.h>

#include "private.h"

// The ring, as in ring.go.
enum { RING_NOTES = 512, RING_ENTRIES = 4096 };

struct ring_words {
    uint64_t tail __attribute__((aligned(128)));
    uint64_t taken __attribute__((aligned(128)));
    uint64_t spilled __attribute__((aligned(128)));
    uint32_t wanted __attribute__((aligned(128)));
};

struct ring_entry {
    uint64_t state, stamp, bytes, off;
    uint64_t unused[4];
};

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

// Issuing.

static struct wire_rec note_rec(uint32_t tag, uint64_t off)
{
    return (struct wire_rec){.kind = REC_NOTE, .n = tag, .off = off};
}

// lane_append_note appends a note, for which the caller has found room at the target.
void lane_append_note(lane_t *l, uint32_t tag, uint64_t bytes, uint64_t off)
{
    struct wire_post post = {.operand = bytes};
    lane_need_room(l, sizeof(struct wire_rec) + sizeof post);
    if (l->status != UCS_OK) {
        l->lost = 1;
        return;
    }
    lane_append(l, note_rec(tag, off), &post, sizeof post);
    l->noted++;
}

// lane_note_out lets a note leave that has just been appended: at once, unless others have just left. Then
// more are likely to follow, and to gather them saves messages; they leave as puts do.
void lane_note_out(lane_t *l)
{
    enum { GATHER_NS = 5000 };
    if (l->channel->batch || now_ns() - l->left_ns < GATHER_NS)
        return;
    lane_flush_now(l);
    l->left_ns = now_ns(); // to send takes as long as to gather many
}

static int has_note_room(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)arg;
    return l->status != UCS_OK || l->noted - l->roomed < NOTES_MAX;
}

// lane_note_room says whether there is room for another note at the target, having asked it if need be. On a
// lane that has failed there is.
int lane_note_room(lane_t *l, int64_t budget_ns)
{
    if (has_note_room(l->channel, l, 0))
        return 1;
    if (l->marks_used == 0)
        lane_send_ask(l);
    else
        lane_send(l, 0);
    return drive(l->channel, l, has_note_room, 0, budget_ns, 1) == ENGINE_DONE;
}

// lane_put_note moves n > 0 bytes straight from src and leaves a note behind them. src may be reused on
// return.
void lane_put_note(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t tag)
{
    struct wire_rec rec = note_rec(tag, off);
    l->noted++;
    lane_put_with(l, off, src, n, &rec, n);
}

// lane_lend_note is lane_put_note of a source that is lent, as lane_lend has it.
uint64_t lane_lend_note(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t tag)
{
    struct wire_rec rec = note_rec(tag, off);
    l->noted++;
    return lane_lend_with(l, off, src, n, &rec, n);
}

// lane_get_note asks for n > 0 bytes, as lane_get does, and leaves a note behind them. It returns the slot
// to wait for, or NULL when the lane has failed.
slot_t *lane_get_note(lane_t *l, uint64_t off, char *dst, uint64_t n, uint32_t tag, int detached)
{
    slot_t *s = lane_slot(l, dst, n, detached);
    if (s)
        lane_ask_all(l, s, off, 0, n, 1);
    lane_append_note(l, tag, n, off);
    return s;
}

// lane_get_note_wait is lane_get_wait with a note.
int lane_get_note_wait(lane_t *l, uint64_t off, char *dst, uint64_t n, uint32_t tag, int64_t budget_ns, slot_t **slot)
{
    slot_t *s = lane_get_note(l, off, n <= SLOT_BYTES ? NULL : dst, n, tag, 0);
    return s ? lane_finish_get(l, s, dst, n, budget_ns, slot) : lane_report(l);
}
