// How a thread waits for the network. The waiter progresses the channel's origin worker and, beside it, the service
// worker of its PE, so that two PEs which wait for each other serve each other without a thread switch. Meanwhile the
// service thread only ticks. When nothing has happened for a while the waiter sleeps on the event fds of both workers.
// Every wait is bounded, so that Go can check its context.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "progress.h"

// begin_progress and end_progress bracket a stay in a waiting call. A service thread that sleeps on its event fd
// is made to tick instead, because it would wake for every arrival. One that ticks so slowly that it would be late to
// serve is woken at the end, and one that ticks at all if the waiter leaves it the wait.
static void begin_progress(engine_t *e)
{
    __atomic_add_fetch(&e->progressing, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&e->polling, __ATOMIC_SEQ_CST) && __atomic_exchange_n(&e->polling, 0, __ATOMIC_SEQ_CST))
        engine_kick(e);
}

static void end_progress(engine_t *e, int leaves)
{
    uint32_t sleeper = leaves ? LIGHTLY : FOR_LONG;
    __atomic_add_fetch(&e->progress_calls, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&e->progressing, 1, __ATOMIC_SEQ_CST);
    uint32_t drowsy = __atomic_load_n(&e->drowsy, __ATOMIC_SEQ_CST);
    if (drowsy >= sleeper && __atomic_exchange_n(&e->drowsy, AWAKE, __ATOMIC_SEQ_CST) != AWAKE)
        engine_kick(e);
}

// fail_dead_lanes fails the lanes to the PE that the launcher has reported dead, and to the one that this PE has found
// unreachable or silent.
static void fail_dead_lanes(channel_t *c)
{
    uint64_t failed = __atomic_load_n(c->engine->config.failed, __ATOMIC_ACQUIRE);
    if (failed && failed <= c->engine->config.npes && c->lanes[failed - 1])
        lane_fail(c->lanes[failed - 1], UCS_ERR_CONNECTION_RESET);
    uint64_t lost = engine_lost(c->engine);
    if (lost && c->lanes[(uint32_t)lost - 1])
        lane_fail(c->lanes[(uint32_t)lost - 1], (int32_t)(lost >> 32));
}

// oversubscribed reports whether other threads are likely to need this CPU: then every poll yields it.
static int oversubscribed(const engine_t *e)
{
    return e->config.oversubscribed || __atomic_load_n(&e->neighbours, __ATOMIC_RELAXED) > 0;
}

// rested is when this thread has last slept for so long that another process could run, or has first yielded; 0:
// neither.
static __thread int64_t rested;

// rest sleeps now and then, and reports whether it has. A thread that yields its CPU yields it to threads of its own
// session or control group alone. Linux then may not run another group on that CPU for many seconds while threads of
// this one hand it to each other, and that group may have the PE that all wait for.
static int rest(const engine_t *e, int64_t now)
{
    enum { AWAKE_NS = 16 * 1000 * 1000, REST_NS = 100 * 1000 };
    if (!rested)
        rested = now;
    if (!e->config.oversubscribed || now - rested < AWAKE_NS)
        return 0;
    struct timespec t = {.tv_nsec = REST_NS};
    nanosleep(&t, NULL);
    rested = now_ns();
    return 1;
}

// yield_cpu lets other threads run. If any did, further polls yield too: this host may have more PEs than CPUs without
// knowing it, in other containers or jobs.
static void yield_cpu(engine_t *e)
{
    enum { RAN_NS = 2000, LOOKS = 256 };
    if (rest(e, now_ns()))
        return;
    uint32_t n = __atomic_load_n(&e->neighbours, __ATOMIC_RELAXED);
    if (engine_yield(e) > RAN_NS)
        n = LOOKS;
    else if (n > 0)
        n--;
    __atomic_store_n(&e->neighbours, n, __ATOMIC_RELAXED);
}

static void reap_lanes(channel_t *c)
{
    for (uint32_t i = 0; i < c->nopened; i++)
        lane_reap(c->opened[i]);
}

// armed arms a worker and reports whether it is safe to sleep on its event fd.
static int armed(ucp_worker_h worker)
{
    return ucp_worker_arm(worker) == UCS_OK;
}

// sleep_limit_ns returns the longest sleep before another poll, after so many sleeps that brought nothing.
static int64_t sleep_limit_ns(unsigned vain)
{
    return (int64_t)NAP_NS << (vain < NAP_DOUBLINGS ? vain : NAP_DOUBLINGS);
}

// sleep_for_arrival sleeps until an arrival at either worker, a kick, or the time is up. The service worker is
// watched only if no other thread holds it: the holder serves it. An event descriptor that has woken waiters in vain is
// left out: see nap_ns.
static void sleep_for_arrival(channel_t *c, int64_t ns)
{
    enum { KICK, OWN, SERVICE };
    engine_t *e = c->engine;
    int64_t nap = c->muted ? nap_ns(c->vain) : 0, limit = nap ? nap : sleep_limit_ns(c->vain);
    struct pollfd fds[3] = {{.fd = c->kick}, {.fd = c->fd}, {.fd = -1}};
    __atomic_store_n(&c->asleep, 1, __ATOMIC_SEQ_CST);
    int awake = __atomic_load_n(&c->want, __ATOMIC_SEQ_CST) || !armed(c->worker);
    if (!awake && try_lock(&e->serving)) {
        awake = !armed(e->worker);
        unlock(&e->serving);
        fds[SERVICE].fd = e->fd;
    }
    for (int i = KICK; i <= SERVICE; i++) {
        fds[i].events = POLLIN;
        if (nap && c->muted & 1u << i)
            fds[i].fd = -1;
    }
    if (!awake && ns > 0) {
        struct timespec t = {.tv_nsec = ns < limit ? ns : limit};
        if (ppoll(fds, 3, &t, NULL) == 0)
            rested = now_ns();
    }
    if (__atomic_exchange_n(&c->asleep, 0, __ATOMIC_SEQ_CST) && fds[KICK].revents)
        clear_eventfd(c->kick);
    uint32_t ready = (fds[OWN].revents ? 1u << OWN : 0) | (fds[SERVICE].revents ? 1u << SERVICE : 0);
    c->muted = nap ? c->muted | ready : ready;
    c->vain++;
}

static void flush_others(channel_t *c)
{
    for (uint32_t i = 0; i < c->nopened; i++)
        if (c->opened[i]->used > HEAD_BYTES)
            lane_send_prompt(c->opened[i]);
}

static void request_acks_again(channel_t *c)
{
    for (uint32_t i = 0; i < c->nopened; i++)
        lane_request_ack_again(c->opened[i]);
}

// progress_until makes progress until done(c, l, arg) or until the budget is used up; if it may be interrupted,
// also until another goroutine wants the channel. A failed lane must make done true.
int progress_until(channel_t *c, lane_t *l, condition done, uint64_t arg, int64_t budget_ns, int interruptible)
{
    engine_t *e = c->engine;
    int64_t start = 0, last = 0, idle = 0, ticked = 0;
    int r = ENGINE_AGAIN;
    begin_progress(e);
    for (unsigned n = 0;; n++) {
        unsigned moved = ucp_worker_progress(c->worker);
        if (moved)
            c->vain = 0;
        if (done(c, l, arg)) {
            r = ENGINE_DONE;
            __atomic_add_fetch(&e->met, 1, __ATOMIC_RELAXED);
            break;
        }
        if (++c->polls % SERVE_EVERY == 0 || c->vain)
            moved |= serve_once(e);
        if (interruptible && __atomic_load_n(&c->want, __ATOMIC_RELAXED)) {
            r = ENGINE_WANTED;
            break;
        }
        if (moved) {
            idle = c->vain = 0;
            continue;
        }
        int yielding = oversubscribed(e);
        if (yielding)
            yield_cpu(e);
        if (n % CLOCK_EVERY && !yielding)
            continue;
        int64_t now = now_ns();
        if (!start)
            start = last = ticked = now;
        if (now - ticked > TICK_NS) {
            tick_channels(e);
            request_acks_again(c);
            ticked = now;
        }
        if (!idle)
            idle = now;
        fail_dead_lanes(c);
        count_silence(c, l, now - last);
        reap_lanes(c);
        last = now;
        if (now - start > budget_ns)
            break;
        if (now - idle > YIELD_NS && !yielding)
            yield_cpu(e);
        if (now - idle > spin_limit_ns(e)) {
            flush_others(c);
            sleep_for_arrival(c, budget_ns - (now - start));
            count_silence(c, l, now_ns() - last);
            last = now_ns();
        }
    }
    end_progress(e, 0);
    return r;
}

static int compares(uint64_t have, int cmp, uint64_t want, int is_signed)
{
    int less = is_signed ? (int64_t)have < (int64_t)want : have < want;
    switch (cmp) {
    case CMP_EQ:
        return have == want;
    case CMP_NE:
        return have != want;
    case CMP_GT:
        return !less && have != want;
    case CMP_GE:
        return !less;
    case CMP_LT:
        return less;
    default:
        return less || have == want;
    }
}

static uint64_t load_word(const char *word, uint32_t bytes, int is_signed)
{
    if (bytes == 8)
        return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE);
    uint32_t v = __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE);
    return is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
}

// expects reports whether UCX has something to do for the channel: to send, or to bring an answer.
static int expects(const channel_t *c)
{
    for (uint32_t i = 0; i < c->nopened; i++) {
        const lane_t *l = c->opened[i];
        if (l->pending || l->native || l->detached || l->marks_used)
            return 1;
    }
    return 0;
}

// flush_channels sends what the channels have gathered.
static void flush_channels(engine_t *e)
{
    pthread_mutex_lock(&e->list);
    for (uint32_t i = 0; i < e->nchannels; i++) {
        channel_t *c = e->channels[i];
        if (!__atomic_load_n(&c->dirty, __ATOMIC_RELAXED) || !try_lock(&c->lock))
            continue;
        flush_others(c);
        if (expects(c) || ++c->polls % SERVE_EVERY == 0)
            ucp_worker_progress(c->worker);
        unlock(&c->lock);
    }
    pthread_mutex_unlock(&e->list);
}

// A stay is one bounded stay of a thread that waits for words of its heap and serves meanwhile.
typedef struct stay {
    int64_t start, ticked;
    unsigned n;
    int leaves; // the rest of the wait to the service thread
} stay_t;

static void stay_enter(engine_t *e)
{
    begin_progress(e);
    flush_channels(e);
}

// stay_on reports whether budget is left. The caller calls it whenever nothing has arrived.
static int stay_on(engine_t *e, stay_t *s, int64_t budget_ns)
{
    int yielding = oversubscribed(e);
    if (yielding)
        yield_cpu(e);
    if (s->n++ % CLOCK_EVERY && !yielding)
        return 1;
    int64_t now = now_ns();
    if (!s->start)
        s->start = s->ticked = now;
    if (now - s->start > budget_ns)
        return 0;
    if (now - s->start > spin_limit_ns(e) && contended(e)) {
        s->leaves = 1;
        return 0;
    }
    if (now - s->start > YIELD_NS && !yielding)
        yield_cpu(e);
    if (now - s->ticked > TICK_NS) {
        tick_channels(e);
        s->ticked = now;
    }
    return 1;
}

// polls_now reports whether a waiter polls. Beside other load it polls if words come to waiters that poll, and tries
// that now and then if they do not.
static int polls_now(engine_t *e)
{
    enum { PATIENT = 4, AGAIN = 16 };
    if (!contended(e))
        return 1;
    uint32_t n = __atomic_load_n(&e->vain_stays, __ATOMIC_RELAXED);
    if (n < PATIENT)
        return spin_limit_ns(e) > 0;
    __atomic_store_n(&e->vain_stays, n + 1, __ATOMIC_RELAXED);
    return n % AGAIN == 0 && spin_limit_ns(e) > 0;
}

static void stay_leave(engine_t *e, const stay_t *s, int met)
{
    uint32_t n = __atomic_load_n(&e->vain_stays, __ATOMIC_RELAXED);
    if (s->leaves && !met)
        __atomic_store_n(&e->vain_stays, n + 1, __ATOMIC_RELAXED);
    else if (n && met)
        __atomic_store_n(&e->vain_stays, 0, __ATOMIC_RELAXED);
    if (met)
        __atomic_add_fetch(&e->met, 1, __ATOMIC_RELAXED);
    end_progress(e, s->leaves);
}

// look_in serves once, and leaves the rest to the service thread, which is not made to tick: the caller is about to
// sleep.
static void look_in(engine_t *e)
{
    flush_channels(e);
    serve_once(e);
}

// engine_wait_word serves until the word of this PE at off compares true with value, or the budget is used up,
// and reports whether it compares true. What any channel has gathered leaves first: a target may have to
// answer it.
int engine_wait_word(engine_t *e, uint64_t off, uint32_t bytes, int cmp, uint64_t value, int is_signed, int64_t budget_ns)
{
    const char *word = e->config.heap + off;
    stay_t s = {0};
    if (compares(load_word(word, bytes, is_signed), cmp, value, is_signed))
        return 1;
    int met, moved;
    if (!polls_now(e)) {
        look_in(e);
        return compares(load_word(word, bytes, is_signed), cmp, value, is_signed);
    }
    stay_enter(e);
    do {
        moved = serve_once(e) != 0;
        met = compares(load_word(word, bytes, is_signed), cmp, value, is_signed);
    } while (!met && (moved || stay_on(e, &s, budget_ns)));
    stay_leave(e, &s, met);
    return met;
}

// engine_wait_doorbell serves until it has served something, the doorbell is no longer seen, or the budget is
// used up. It is for a wait on one of many words: the caller has published the range it watches in boot.State.Waiting,
// and tests the words when this returns. An update by the NIC does not ring the doorbell.
void engine_wait_doorbell(engine_t *e, uint32_t seen, int64_t budget_ns)
{
    stay_t s = {0};
    if (!polls_now(e)) {
        look_in(e);
        return;
    }
    stay_enter(e);
    while (!serve_once(e) && __atomic_load_n(e->config.doorbell, __ATOMIC_ACQUIRE) == seen && stay_on(e, &s, budget_ns))
        ;
    stay_leave(e, &s, !s.leaves);
}
