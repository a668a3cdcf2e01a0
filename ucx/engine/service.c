// The service thread. It ticks while other threads progress the service worker, and serves when none does.
#include <poll.h>
#include <sched.h>
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
// next tick may be: longer and longer while each tick finds such a thread, so that a conversation is not disturbed.
static int others_progress(engine_t *e, uint32_t *seen, int64_t *period)
{
    uint32_t progress_calls = __atomic_load_n(&e->progress_calls, __ATOMIC_RELAXED);
    int inside = __atomic_load_n(&e->progressing, __ATOMIC_SEQ_CST) != 0;
    int since = progress_calls != *seen;
    *seen = progress_calls;
    if (!inside)
        *period = TICK_NS;
    else if (*period < LONG_TICK_NS)
        *period *= 2;
    return inside || since;
}

static void sleep_ns(int fd, int kick, int64_t ns)
{
    struct pollfd fds[2] = {{.fd = kick, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    ppoll(fds, fd < 0 ? 1 : 2, &t, NULL);
    if (fds[0].revents)
        clear_eventfd(kick);
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
            sched_yield();
        if (n % CLOCK_EVERY && !moved && !e->config.oversubscribed)
            continue;
        int64_t now = now_ns();
        if (now - ticked > TICK_NS) {
            tick_channels(e);
            heartbeat_tick(e);
            ticked = now;
        }
        if (moved)
            last = now, patience = e->config.spin_ns;
        else if (now - last > patience)
            break;
        else if (now - last > YIELD_NS)
            sched_yield();
    }
    return came;
}

// serve_asleep sleeps until something arrives or the service thread is needed otherwise.
static void serve_asleep(engine_t *e, int64_t ns, int deep)
{
    __atomic_store_n(&e->deep, deep, __ATOMIC_SEQ_CST);
    __atomic_store_n(&e->polling, 1, __ATOMIC_SEQ_CST);
    int awake = __atomic_load_n(&e->progressing, __ATOMIC_SEQ_CST) || __atomic_load_n(&e->stop, __ATOMIC_SEQ_CST) || (deep && any_dirty(e));
    if (!awake && try_lock(&e->serving)) {
        awake = ucp_worker_arm(e->worker) != UCS_OK;
        unlock(&e->serving);
        if (!awake)
            sleep_ns(e->fd, e->kick, ns);
    }
    __atomic_store_n(&e->polling, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&e->deep, 0, __ATOMIC_SEQ_CST);
}

// service_main runs the service thread. It ticks while other threads progress the worker, and serves when none
// does. When nothing arrives it sleeps: for a tick while a channel has work, longer when idle, at most until the
// next heartbeat is due.
void *service_main(void *arg)
{
    enum { TIMER_SLACK_NS = 1000 };
    engine_t *e = arg;
    uint32_t seen = 0;
    int64_t busy = now_ns(), period = TICK_NS;
    pthread_setname_np(pthread_self(), "pgas-service");
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    while (!__atomic_load_n(&e->stop, __ATOMIC_SEQ_CST)) {
        int dirty = tick_channels(e);
        int64_t beat = heartbeat_tick(e);
        if (others_progress(e, &seen, &period)) {
            sleep_ns(-1, e->kick, period);
            busy = now_ns();
            continue;
        }
        int came = serve_busy(e);
        if (came || dirty)
            busy = now_ns();
        int deep = !dirty && now_ns() - busy > DEEP_NS;
        serve_asleep(e, deep ? beat : TICK_NS, deep);
    }
    return NULL;
}
