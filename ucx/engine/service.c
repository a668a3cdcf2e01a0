// The service thread. It ticks while other threads progress the service worker, and serves when none does.
#include <poll.h>
#include <sys/prctl.h>

#include "progress.h"

static int any_dirty(engine_t *e)
{
    int dirty = 0;
    pthread_mutex_lock(&e->list);
    for (uint32_t i = 0; i < e->nchannels; i++)
        dirty |= __atomic_load_n(&e->channels[i]->dirty, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&e->list);
    return dirty;
}

// others_progress reports whether other threads have progressed the worker since the last tick, and sets how long the
// next tick may be: longer and longer while each tick finds such a thread, so that a conversation is not disturbed, and
// longer still while the same wait goes on.
static int others_progress(engine_t *e, uint32_t *seen, int64_t *period)
{
    uint32_t progress_calls = __atomic_load_n(&e->progress_calls, __ATOMIC_RELAXED);
    int inside = __atomic_load_n(&e->progressing, __ATOMIC_SEQ_CST) != 0;
    int since = progress_calls != *seen;
    *seen = progress_calls;
    if (!inside)
        *period = TICK_NS;
    else if (*period < LONG_TICK_NS || (!since && *period < DROWSY_NS))
        *period *= 2;
    else if (since)
        *period = LONG_TICK_NS;
    return inside || (since && !contended(e));
}

// sleep_ns sleeps until a kick, the time is up, or fd is ready, and reports the last. fd may be -1.
static int sleep_ns(int fd, int kick, int64_t ns)
{
    struct pollfd fds[2] = {{.fd = kick, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    ppoll(fds, fd < 0 ? 1 : 2, &t, NULL);
    if (fds[0].revents)
        clear_eventfd(kick);
    return fds[1].revents != 0;
}

// sleep_while_others_progress sleeps for ns, or until the last thread that makes progress has stopped if that is long.
// Beside other load it also ends when a waiter stops polling and leaves its wait to the service thread.
static void sleep_while_others_progress(engine_t *e, int64_t ns)
{
    uint32_t drowsy = ns > LONG_TICK_NS ? FOR_LONG : contended(e) ? LIGHTLY : AWAKE;
    __atomic_store_n(&e->drowsy, drowsy, __ATOMIC_SEQ_CST);
    if (drowsy == AWAKE || __atomic_load_n(&e->progressing, __ATOMIC_SEQ_CST))
        sleep_ns(-1, e->kick, ns);
    __atomic_store_n(&e->drowsy, AWAKE, __ATOMIC_SEQ_CST);
}

// serve_busy serves until nothing has come for some time, or another thread makes progress, and reports whether
// anything came. That time is short until something comes: a spin is worth it only in a conversation.
static int serve_busy(engine_t *e)
{
    int64_t last = now_ns(), ticked = last, patience = 0;
    int came = 0;
    for (unsigned n = 1; !__atomic_load_n(&e->progressing, __ATOMIC_RELAXED); n++) {
        int moved = serve_once(e) != 0;
        came |= moved;
        if (!moved && e->config.oversubscribed)
            engine_yield(e);
        if (n % CLOCK_EVERY && !moved && !e->config.oversubscribed)
            continue;
        int64_t now = now_ns();
        if (now - ticked > TICK_NS) {
            tick_channels(e);
            heartbeat_tick(e);
            ticked = now;
        }
        if (moved)
            last = now, patience = spin_limit_ns(e);
        else if (now - last > patience)
            break;
        else if (now - last > YIELD_NS)
            engine_yield(e);
    }
    return came;
}

static uint64_t served(const engine_t *e)
{
    return __atomic_load_n(&e->served, __ATOMIC_RELAXED);
}

// log_service logs that the thread was awake from start to end, and has applied the requests after number before.
static void log_service(const engine_t *e, int64_t start, int64_t end, uint64_t before)
{
    uint64_t i = __atomic_fetch_add(e->config.serve_next, 1, __ATOMIC_RELAXED);
    if (i >= e->config.serve_capacity)
        return;
    struct serve_event *event = &e->config.serve_log[i];
    event->start = start;
    event->took = end - start;
    event->served = served(e) - before;
    __atomic_store_n(&event->tag, e->config.serve_tag, __ATOMIC_RELEASE);
}

// serve_asleep sleeps until something arrives or the service thread is needed otherwise. vain is how often it has been
// woken in vain; the new count is returned. See nap_ns.
static unsigned serve_asleep(engine_t *e, int64_t ns, int deep, unsigned vain)
{
    int64_t nap = nap_ns(vain);
    int ready = nap != 0;
    __atomic_store_n(&e->deep, deep, __ATOMIC_SEQ_CST);
    __atomic_store_n(&e->polling, 1, __ATOMIC_SEQ_CST);
    int awake = __atomic_load_n(&e->progressing, __ATOMIC_SEQ_CST) || __atomic_load_n(&e->stop, __ATOMIC_SEQ_CST) || (deep && any_dirty(e));
    if (!awake && try_lock(&e->serving)) {
        awake = ucp_worker_arm(e->worker) != UCS_OK;
        unlock(&e->serving);
        if (!awake)
            ready |= sleep_ns(nap ? -1 : e->fd, e->kick, nap && nap < ns ? nap : ns);
    }
    __atomic_store_n(&e->polling, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&e->deep, 0, __ATOMIC_SEQ_CST);
    return ready ? vain + 1 : 0;
}

// tick_ns returns how long a tick is when nothing has moved for idle_ns though answers are owed: their PE is slow, and
// perhaps because this thread and others like it take its CPU.
static int64_t tick_ns(int64_t idle_ns)
{
    int64_t ns = idle_ns / 4;
    return ns < TICK_NS ? TICK_NS : ns > SLOW_TICK_NS ? SLOW_TICK_NS : ns;
}

// service_main runs the service thread. It ticks while other threads progress the worker, and serves when none
// does. When nothing arrives it sleeps: for a tick while a channel has work, longer when idle, at most until the
// next heartbeat is due.
void *service_main(void *arg)
{
    enum { TIMER_SLACK_NS = 1000 };
    engine_t *e = arg;
    uint32_t seen = 0;
    unsigned vain = 0;
    int64_t busy = now_ns(), moved = busy, period = TICK_NS;
    pthread_setname_np(pthread_self(), "pgas-service");
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    while (!__atomic_load_n(&e->stop, __ATOMIC_SEQ_CST)) {
        int found = tick_channels(e);
        int64_t beat = heartbeat_tick(e);
        if (others_progress(e, &seen, &period)) {
            sleep_while_others_progress(e, period < beat ? period : beat);
            busy = moved = now_ns();
            continue;
        }
        int64_t start = e->config.serve_log ? now_ns() : 0;
        uint64_t before = served(e);
        int came = serve_busy(e);
        int64_t now = now_ns();
        if (came && e->config.serve_log)
            log_service(e, start, now, before);
        if (came || found)
            busy = now;
        if (came || found & TICK_MOVED)
            moved = now;
        if (came)
            vain = 0;
        int deep = !found && now - busy > DEEP_NS;
        vain = serve_asleep(e, deep ? beat : tick_ns(now - moved), deep, vain);
    }
    return NULL;
}
