// What waiters know of other programs on their CPUs: boot/contention.go has the rules, and the same words.
#include <sched.h>

#include "state.h"

// contended reports whether waiters are to sleep now.
int contended(const engine_t *e)
{
    const struct contention *c = e->config.contention;
    int64_t until = c ? __atomic_load_n(&c->until, __ATOMIC_RELAXED) : 0;
    return until && now_ns() < until;
}

enum advice { YIELD_CPU, SLEEP_NOW, PROBE };

// advise returns what a waiter is to do now. It returns PROBE to one waiter, which must call probed or lost_slice.
static enum advice advise(engine_t *e, int64_t now)
{
    struct contention *c = e->config.contention;
    int64_t until = c ? __atomic_load_n(&c->until, __ATOMIC_SEQ_CST) : 0;
    if (!until)
        return YIELD_CPU;
    if (now < until || !__atomic_compare_exchange_n(&c->until, &until, now + CONTENTION_PROBE_NS, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return SLEEP_NOW;
    return PROBE;
}

// probed says that a prober has yielded once and has lost nothing. The next waiter may probe at once.
static void probed(struct contention *c, int64_t now)
{
    int over = __atomic_add_fetch(&c->clean, 1, __ATOMIC_SEQ_CST) >= CONTENTION_CLEAN_YIELDS;
    if (over)
        __atomic_store_n(&c->ended, now, __ATOMIC_SEQ_CST);
    __atomic_store_n(&c->until, over ? 0 : now, __ATOMIC_SEQ_CST);
}

// lost_slice says that a waiter, a prober or not, was without its CPU from began to now.
static void lost_slice(struct contention *c, int64_t began, int64_t now, int prober)
{
    int64_t lost = now - began;
    int64_t until = __atomic_load_n(&c->until, __ATOMIC_SEQ_CST), span = __atomic_load_n(&c->span, __ATOMIC_SEQ_CST);
    if (until && !prober)
        return;
    if (prober || began - __atomic_load_n(&c->ended, __ATOMIC_SEQ_CST) < CONTENTION_RECENTLY * span) {
        int64_t longer = CONTENTION_LONGER_SPAN * span, longest = CONTENTION_LONGEST_SPAN * lost;
        span = longer < longest ? longer : longest;
        span = span > CONTENTION_FIRST_SPAN * lost ? span : CONTENTION_FIRST_SPAN * lost;
    } else {
        span = CONTENTION_FIRST_SPAN * lost;
    }
    if (!__atomic_compare_exchange_n(&c->until, &until, now + span, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    __atomic_store_n(&c->span, span, __ATOMIC_SEQ_CST);
    __atomic_store_n(&c->clean, 0, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&c->lost, 1, __ATOMIC_SEQ_CST);
}

// engine_yield lets other threads have this CPU, unless that costs time slices now, and returns for how long they had it.
int64_t engine_yield(engine_t *e)
{
    int64_t began = now_ns();
    enum advice advice = advise(e, began);
    if (advice == SLEEP_NOW)
        return 0;
    sched_yield();
    int64_t now = now_ns();
    if (e->config.contention && now - began >= LOST_SLICE_NS)
        lost_slice(e->config.contention, began, now, advice == PROBE);
    else if (advice == PROBE)
        probed(e->config.contention, now);
    return now - began;
}
