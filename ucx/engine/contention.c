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

// spin_limit_ns returns for how long a thread polls in vain before it sleeps. While waiters are to sleep that is less,
// but longer than an answer takes from a PE that must wake up first: two PEs that have begun to sleep can end it. A
// thread that would yield at every poll does not poll then.
int64_t spin_limit_ns(const engine_t *e)
{
    if (!contended(e) || e->config.spin_ns < SPIN_BESIDE_NS)
        return e->config.spin_ns;
    return e->config.oversubscribed ? 0 : SPIN_BESIDE_NS;
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

// paid reports whether a slice that took so long does not count: see boot/contention.go.
static int paid(engine_t *e, int64_t lost)
{
    uint32_t met = __atomic_exchange_n(&e->met, 0, __ATOMIC_RELAXED);
    return (int64_t)met * CONTENTION_SLEEP_COSTS_NS >= lost;
}

// engine_yield lets other threads have this CPU, unless that costs time slices now, and returns for how long they had
// it.
int64_t engine_yield(engine_t *e)
{
    int64_t began = now_ns();
    enum advice advice = advise(e, began);
    if (advice == SLEEP_NOW)
        return 0;
    sched_yield();
    int64_t now = now_ns();
    int lost = e->config.contention && now - began >= LOST_SLICE_NS;
    if (lost && !paid(e, now - began))
        lost_slice(e->config.contention, began, now, advice == PROBE);
    else if (advice == PROBE)
        probed(e->config.contention, now);
    return now - began;
}
