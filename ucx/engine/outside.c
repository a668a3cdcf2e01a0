// The channel of calls that must not wait for Go, one at a time. It is a channel like others, opened by Go with all of
// its lanes, which Go never uses afterwards. So its lock is taken by these calls and by ticks alone, and no holder of
// it runs Go.
#include <stdlib.h>
#include <unistd.h>

#include "engine.h"

enum {
    STAY_NS = 1000 * 1000, // time after which a call first looks whether it is to end
    LAST_STAY_NS = 8 * STAY_NS,
    END_NAP_US = 50,
    YIELDS = 64,
    LOCK_NAP_US = 50,
    GIVEN_UP = -1, // beside enum status: the caller has been interrupted
};

struct outside_channel {
    struct outside calls; // first: the thread has its address only
    channel_t *channel;
    struct blocked *page; // of this PE
    uint32_t op;          // what a long call is for, as page says it
    uint32_t inside;      // the thread is in a call
    uint32_t ended;
};

static struct outside_channel *channel_of(struct outside *o)
{
    return (struct outside_channel *)o;
}

// begin_call locks the channel and returns its lane to pe. It returns NULL, and leaves nothing locked, if there is none
// or the channel has ended. The store to inside comes before the load of ended, and outside_end has them the other way
// round: so one of the two threads sees the store of the other.
static lane_t *begin_call(struct outside_channel *o, int pe)
{
    __atomic_store_n(&o->inside, 1, __ATOMIC_SEQ_CST);
    channel_t *c = o->channel;
    if (!__atomic_load_n(&o->ended, __ATOMIC_SEQ_CST) && pe >= 0 && (uint32_t)pe < c->engine->config.npes && c->lanes[pe]) {
        for (unsigned i = 0; !try_lock(&c->lock); i++) // a tick takes some microseconds
            if (i < YIELDS && !contended(c->engine))
                engine_yield(c->engine);
            else // its thread has lost its CPU, or UCX connects
                usleep(LOCK_NAP_US);
        return c->lanes[pe];
    }
    __atomic_store_n(&o->inside, 0, __ATOMIC_RELEASE);
    return NULL;
}

static int end_call(struct outside_channel *o, int r)
{
    unlock(&o->channel->lock);
    __atomic_store_n(&o->inside, 0, __ATOMIC_RELEASE);
    return r == ENGINE_DONE ? 0 : r == GIVEN_UP ? OUTSIDE_INTERRUPTED : -1;
}

// show_blocked publishes that the call takes long, unless a goroutine has published what it is blocked in.
static void show_blocked(struct outside_channel *o, uint32_t pe)
{
    struct timespec t;
    if (__atomic_load_n(&o->page->op, __ATOMIC_RELAXED))
        return;
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t waited = STAY_NS; // so far, at least
    __atomic_store_n(&o->page->peer, (int32_t)pe, __ATOMIC_RELAXED);
    __atomic_store_n(&o->page->since, (int64_t)t.tv_sec * 1000000000 + t.tv_nsec - waited, __ATOMIC_RELAXED);
    __atomic_store_n(&o->page->op, o->op, __ATOMIC_RELEASE);
}

// hide_blocked withdraws what show_blocked has published.
static void hide_blocked(struct outside_channel *o)
{
    uint32_t op = o->op;
    __atomic_compare_exchange_n(&o->page->op, &op, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// await_slot waits for an answer that has not come at once. After ENGINE_DONE the caller releases s. An answer that
// comes after the end of the engine, or after the caller has given up, is dropped.
static int await_slot(struct outside_channel *o, slot_t *s, int (*interrupted)(void))
{
    int64_t stay = STAY_NS;
    int r;
    do {
        int ended = __atomic_load_n(&o->ended, __ATOMIC_ACQUIRE);
        if (ended || (interrupted && interrupted())) {
            slot_abandon(o->channel, s);
            r = ended ? ENGINE_LOST : GIVEN_UP;
            break;
        }
        show_blocked(o, s->pe);
        r = channel_await(o->channel, s, stay);
        stay = 2 * stay < LAST_STAY_NS ? 2 * stay : LAST_STAY_NS;
    } while (r == ENGINE_AGAIN || r == ENGINE_WANTED);
    hide_blocked(o);
    return r;
}

static int outside_get(struct outside *calls, int pe, uint64_t offset, void *to, uint64_t bytes, int (*interrupted)(void))
{
    struct outside_channel *o = channel_of(calls);
    slot_t *s = NULL;
    if (bytes == 0)
        return 0;
    lane_t *l = begin_call(o, pe);
    if (!l)
        return -1;
    if (bytes > GET_BYTES_MAX) // the lane waits for answers before it has asked for all
        show_blocked(o, (uint32_t)pe);
    int r = lane_get_wait(l, offset, to, bytes, STAY_NS, &s);
    if (r == ENGINE_AGAIN || r == ENGINE_WANTED) {
        r = await_slot(o, s, interrupted);
        if (r == ENGINE_DONE) {
            slot_deliver(s, to);
            slot_release(o->channel, s);
        }
    }
    if (bytes > GET_BYTES_MAX)
        hide_blocked(o);
    return end_call(o, r);
}

static int outside_fetch_max(struct outside *calls, int pe, uint64_t offset, uint64_t operand, uint64_t *old, int (*interrupted)(void))
{
    struct outside_channel *o = channel_of(calls);
    struct word_args args = {.off = offset, .operand = operand, .op = WORD_MAX_UNSIGNED, .bytes = sizeof operand};
    slot_t *s = NULL;
    lane_t *l = begin_call(o, pe);
    if (!l)
        return -1;
    int r = l->channel->engine->config.nic ? lane_nic(l, &args, old) : lane_fetch(l, &args, STAY_NS, old, &s);
    if (r == ENGINE_AGAIN || r == ENGINE_WANTED) {
        r = await_slot(o, s, interrupted);
        if (r == ENGINE_DONE) {
            *old = s->value;
            slot_release(o->channel, s);
        }
    }
    return end_call(o, r);
}

// await_value waits for the answer of s, and stores the old value that it has brought.
static int await_value(struct outside_channel *o, slot_t *s, uint64_t *old, int (*interrupted)(void))
{
    int r = channel_await(o->channel, s, STAY_NS);
    if (r == ENGINE_AGAIN || r == ENGINE_WANTED)
        r = await_slot(o, s, interrupted);
    if (r == ENGINE_DONE) {
        *old = s->value;
        slot_release(o->channel, s);
    }
    return r;
}

static int read_in_turn(struct outside *calls, struct outside_read *read, int (*interrupted)(void))
{
    int r = outside_fetch_max(calls, read->pe, read->word, read->operand, &read->old, interrupted);
    if (r == 0 && !(read->old & read->unless))
        r = outside_get(calls, read->pe, read->offset, read->to, read->bytes, interrupted);
    return r;
}

static int outside_read(struct outside *calls, struct outside_read *read, int (*interrupted)(void))
{
    struct outside_channel *o = channel_of(calls);
    struct word_args args = {.off = read->word, .operand = read->operand, .op = WORD_MAX_UNSIGNED, .bytes = sizeof read->operand};
    slot_t *value, *bytes;
    uint64_t none;
    lane_t *l = begin_call(o, read->pe);
    if (!l)
        return -1;
    if (l->channel->engine->config.nic || lane_native(l) || read->bytes > GET_BYTES_MAX) { // see outside_get
        end_call(o, ENGINE_DONE);
        return read_in_turn(calls, read, interrupted);
    }
    if (!lane_fetch_get(l, &args, read->offset, read->to, read->bytes, &value, &bytes))
        return end_call(o, lane_report(l));
    int r = await_value(o, value, &read->old, interrupted);
    if (r == ENGINE_DONE && !(read->old & read->unless))
        r = await_value(o, bytes, &none, interrupted);
    else
        slot_abandon(o->channel, bytes);
    return end_call(o, r);
}

// outside_open gives c to a thread that is not Go's. A call that takes long shows in page as op. It returns NULL
// without memory.
struct outside *outside_open(channel_t *c, struct blocked *page, uint32_t op)
{
    struct outside_channel *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->calls = (struct outside){.get = outside_get, .read = outside_read, .fetch_max = outside_fetch_max};
    o->channel = c;
    o->page = page;
    o->op = op;
    return &o->calls;
}

// outside_end ends the call under way, if there is one, and lets no other begin. When it returns the thread does not
// use the channel any more. The structure stays, so that later calls find that they cannot begin.
void outside_end(struct outside *calls)
{
    struct outside_channel *o = channel_of(calls);
    __atomic_store_n(&o->ended, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&o->inside, __ATOMIC_SEQ_CST)) {
        channel_kick(o->channel);
        struct timespec nap = {.tv_nsec = END_NAP_US * 1000};
        nanosleep(&nap, NULL);
    }
}
