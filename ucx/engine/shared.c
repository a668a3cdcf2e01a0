// One service thread for many engines: what a host would have if its PEs shared one. No job runs so. It is here to be
// measured beside a thread for each engine (BenchmarkService). It does what service_main does for one engine whose
// program computes: it serves, ticks channels and beats, and sleeps on the event descriptors of all workers while
// nothing arrives.
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine.h"

struct shared {
    engine_t **engines;
    uint32_t n;
    int epoll, kick;
    uint32_t stop;
    pthread_t thread;
};

// serve_all serves each engine once, and reports whether anything came.
static int serve_all(struct shared *s)
{
    int moved = 0;
    for (uint32_t i = 0; i < s->n; i++)
        moved |= serve_once(s->engines[i]) != 0;
    return moved;
}

// arm_all arms the workers, and reports whether it is safe to sleep.
static int arm_all(struct shared *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        engine_t *e = s->engines[i];
        while (!try_lock(&e->serving))
            cpu_relax();
        int armed = ucp_worker_arm(e->worker) == UCS_OK;
        unlock(&e->serving);
        if (!armed)
            return 0;
    }
    return 1;
}

// tick_all does for all engines what a service thread does at a tick, and returns how long it may sleep.
static int64_t tick_all(struct shared *s)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        int dirty = tick_channels(s->engines[i]);
        int64_t beat = dirty ? TICK_NS : heartbeat_tick(s->engines[i]);
        least = beat < least ? beat : least;
    }
    return least;
}

static void *shared_main(void *arg)
{
    enum { TIMER_SLACK_NS = 1000, EVENTS = 16 };
    struct shared *s = arg;
    struct epoll_event events[EVENTS];
    int64_t last = now_ns(), patience = 0;
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    while (!__atomic_load_n(&s->stop, __ATOMIC_SEQ_CST)) {
        int64_t ns = tick_all(s), now = now_ns();
        if (serve_all(s)) {
            last = now, patience = s->engines[0]->config.spin_ns;
            continue;
        }
        if (now - last < patience)
            continue;
        patience = 0;
        if (!arm_all(s))
            continue;
        struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
        struct pollfd fds[2] = {{.fd = s->epoll, .events = POLLIN}, {.fd = s->kick, .events = POLLIN}};
        ppoll(fds, 2, &t, NULL);
        (void)epoll_wait(s->epoll, events, EVENTS, 0);
    }
    return NULL;
}

static void shared_free(struct shared *s)
{
    close(s->epoll);
    close(s->kick);
    free(s->engines);
    free(s);
}

// shared_start starts a thread that serves n engines, none of which has been started. It returns NULL if it cannot.
struct shared *shared_start(engine_t **engines, uint32_t n)
{
    struct shared *s = calloc(1, sizeof *s);
    if (!s || !(s->engines = calloc(n, sizeof(engine_t *)))) {
        free(s);
        return NULL;
    }
    s->n = n;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->kick = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    for (uint32_t i = 0; i < n; i++) {
        struct epoll_event ev = {.events = EPOLLIN};
        s->engines[i] = engines[i];
        epoll_ctl(s->epoll, EPOLL_CTL_ADD, engines[i]->fd, &ev);
    }
    sigset_t saved;
    block_signals(&saved);
    int failed = pthread_create(&s->thread, NULL, shared_main, s);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    if (!failed)
        return s;
    shared_free(s);
    return NULL;
}

// shared_stop ends the thread.
void shared_stop(struct shared *s)
{
    __atomic_store_n(&s->stop, 1, __ATOMIC_SEQ_CST);
    eventfd_write(s->kick, 1);
    pthread_join(s->thread, NULL);
    shared_free(s);
}
