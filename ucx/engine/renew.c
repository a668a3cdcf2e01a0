// A channel keeps a bounded number of connections. Before it opens one more than config.connections, it closes all of
// them and replaces its worker. The lanes stay, and each is connected again when it is next used.
//
// UCX could close the connections that have not been used for the longest time, and keep the worker. But over TCP, UCX
// 1.13.1 and 1.18.1 end the process within some hundred reconnections of a worker to the same PE
// (docs/figures/start.md). A worker that has been replaced is a stranger to the other PEs, so that all of its
// connections are first ones. A connection that is in use all the time is made anew once in config.connections openings
// of others.
//
//	1  what is gathered leaves, and all targets acknowledge it. When none does so any more for a while, or it takes too
//	   long, the channel goes on as it is, and tries again some openings and some time later
//	2  the new worker is made. If that fails, or the host has hardly a free port, the same
//	3  the targets are told to forget the lanes
//	4  the old worker is destroyed with its endpoints, and the lanes become as they were before they were opened
#include <stddef.h>

#include "engine.h"

// say_byes tells the targets to forget the lanes, but for those that have not yet applied what went by the service
// lane: a bye must not overtake that. It reports whether all have been told.
static int say_byes(channel_t *c, lane_t *l, uint64_t arg)
{
    int all = 1;
    (void)l;
    (void)arg;
    for (uint32_t i = 0; i < c->nopened; i++) {
        lane_t *o = c->opened[i];
        if (!o->ep || o->told_bye)
            continue;
        if (lane_service_drained(o)) {
            o->told_bye = 1;
            lane_send_bye(o);
        } else {
            all = 0;
        }
    }
    return all;
}

static int lane_sent_all(const lane_t *l)
{
    return lane_clean(l) && !l->pending;
}

// all_sent reports whether the targets have acknowledged everything. The cursor is at the first that has not.
static int all_sent(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)arg;
    (void)l;
    while (c->cursor < c->nopened && lane_sent_all(c->opened[c->cursor]))
        c->cursor++;
    return c->cursor == c->nopened;
}

// channel_bye tells the targets to forget the lanes, and waits for them to answer, but for the given time at most. A
// target that has stopped is not told: what waits for this PE there ends when the job does.
void channel_bye(channel_t *c, int64_t patience_ns)
{
    int64_t start = now_ns();
    for (uint32_t i = 0; i < c->nopened; i++)
        if (c->opened[i]->ep && !lane_service_drained(c->opened[i]))
            lane_send(c->opened[i], 1);
    progress_until(c, NULL, say_byes, 0, patience_ns, 0);
    c->cursor = 0;
    progress_until(c, NULL, all_sent, 0, patience_ns - (now_ns() - start), 0);
}

// credited reports whether the notes of the lane have found room at the target. Those that have not are bounded for
// each lane, and the target would begin to count anew if the lane were opened again.
static int credited(const lane_t *l)
{
    return l->status != UCS_OK || l->notes_sent == l->notes_credited;
}

// unsettled counts the lanes of which UCX holds something or a target owes something, and the answers that are
// outstanding.
static uint32_t unsettled(const channel_t *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nopened; i++) {
        const lane_t *l = c->opened[i]; // it may have failed
        n += !lane_sent_all(l) || !credited(l) || l->native || l->zcopy_released != l->zcopy_issued;
    }
    for (uint32_t i = 0; i < SLOTS; i++)
        n += c->slots[i].status == UCS_INPROGRESS;
    return n;
}

static int settled(channel_t *c, lane_t *l, uint64_t arg)
{
    return all_sent(c, l, arg) && unsettled(c) == 0;
}

// settle waits until nothing is outstanding, for as long as that becomes less but not longer than a second, and reports
// whether it is so. The call that opens a connection waits with it, whatever its context.
static int settle(channel_t *c)
{
    const int64_t PATIENCE_NS = 100 * 1000 * 1000, MOST_NS = 10 * PATIENCE_NS;
    int64_t start = now_ns();
    for (uint32_t i = 0; i < c->nopened; i++) {
        lane_t *l = c->opened[i];
        lane_send(l, 1);
        if (!credited(l) && l->marks_used == 0)
            lane_request_ack(l); // its answer says how many have found room by now
    }
    for (uint32_t left, last = UINT32_MAX; (left = unsettled(c)) > 0; last = left) {
        if (left >= last || now_ns() - start > MOST_NS)
            return 0;
        c->cursor = 0;
        progress_until(c, NULL, settled, 0, PATIENCE_NS, 0);
    }
    return 1;
}

// open_another makes a worker like the channel's.
static int open_another(channel_t *c, ucp_worker_h *worker, int *fd)
{
    char reason[256]; // not reported: the channel goes on with the worker that it has
    sigset_t saved;
    *worker = NULL;
    if (!ports_left())
        return 0;
    block_signals(&saved);
    int ok = worker_open(c->engine, worker, fd, reason, sizeof reason) &&
             worker_set_handlers(c->engine, *worker, AM_REPLY, on_reply, c, reason, sizeof reason);
    if (!ok && *worker)
        worker_close(*worker);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return ok;
}

// lane_disconnected makes l as it was before it was opened.
static void lane_disconnected(lane_t *l)
{
    lane_drop_waiting(l); // a bye to a target that has not taken the opening
    if (l->out)
        give_buf(l->channel, l->out);
    l->kept_bytes = 0;
    memset(&l->ep, 0, sizeof *l - offsetof(lane_t, ep));
    start_buffer(l);
}

static void replace_worker(channel_t *c, ucp_worker_h worker, int fd)
{
    c->reached |= channel_reached(c);
    for (uint32_t i = 0; i < c->nopened; i++)
        lane_drop_keys(c->opened[i]);
    c->renewing = 1;
    worker_close(c->worker);
    c->renewing = 0;
    c->worker = worker;
    c->fd = fd;
    c->muted = 0;
    for (uint32_t i = 0; i < c->nopened; i++)
        lane_disconnected(c->opened[i]);
}

// postpone has c go on as it is, and not try again so soon that attempts take more than a tenth of the time.
static void postpone(channel_t *c, int64_t started)
{
    int64_t now = now_ns();
    c->renew_at = c->connected + 1 + c->engine->config.connections / 4;
    c->renew_after_ns = now + 10 * (now - started);
}

// channel_renew closes the connections of c, and reports whether it has. No lane may be used before lane_open has been
// called for it again.
int channel_renew(channel_t *c)
{
    int64_t started = now_ns();
    ucp_worker_h worker;
    int fd;
    if (started < c->renew_after_ns)
        return 0;
    if (!settle(c) || !open_another(c, &worker, &fd)) {
        postpone(c, started);
        return 0;
    }
    // a target that has not heard of it waits for this PE when it leaves
    channel_bye(c, c->engine->config.peer_timeout_ns);
    replace_worker(c, worker, fd);
    c->connected = 0;
    c->renew_at = c->engine->config.connections;
    c->renewed++;
    return 1;
}
