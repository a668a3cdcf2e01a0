// What the service thread does for channels that no thread is using.
#include "progress.h"

// count_silence adds to the time that a peer has owed an answer, and fails its lane when that is too long.
// A pause of this process itself counts for little.
void count_silence(channel_t *c, lane_t *l, int64_t ns)
{
    enum { PAUSE_NS = 10 * 1000 * 1000 };
    if (!l && c->cursor < c->nopened)
        l = c->opened[c->cursor];
    if (!l || l->status != UCS_OK)
        return;
    l->silent_ns += ns < PAUSE_NS ? ns : PAUSE_NS;
    if (2 * l->silent_ns > c->engine->config.peer_timeout_ns)
        engine_suspect(c->engine);
    if (l->silent_ns > c->engine->config.peer_timeout_ns)
        lane_fail(l, UCS_ERR_TIMED_OUT);
}

// ack_due reports whether the target of a lane is to be asked what it has applied, as no thread asks: once the lane has
// sent nothing for a while, or if it has been sending for long. In a conversation such a request and its answer would
// be more messages than the program's own, and each takes a CPU from the PEs that share it.
static int ack_due(lane_t *l, int64_t now)
{
    enum { STILL_NS = 1000 * 1000, LONG_NS = 20 * 1000 * 1000 };
    if (l->ticked_acked != l->acked || l->sent == l->acked) {
        l->ticked_acked = l->acked;
        l->unacked_ns = now;
    }
    if (l->ticked_sent != l->sent) {
        l->ticked_sent = l->sent;
        l->still_ns = now;
    }
    return now - l->still_ns >= STILL_NS || now - l->unacked_ns >= LONG_NS;
}

// channel_tick sends what a channel has gathered for a tick, and asks for acknowledgements when they are due, so that
// all is complete in the end even if the program never calls again. It reports whether anything has left or arrived.
static int channel_tick(channel_t *c)
{
    enum { LOOKS = 8 };
    uint64_t tick = c->engine->ticks;
    int64_t now = now_ns(), since = now - c->ticked_ns;
    int clean = 1, due = !c->batch || ++c->skipped % BATCH_TICKS == 0;
    c->ticked_ns = now;
    for (uint32_t i = 0; i < c->nopened; i++) {
        lane_t *l = c->opened[i];
        uint32_t ack_requested = l->ack_requested;
        if (l->status != UCS_OK)
            lane_reap(l);
        else if (due && !lane_clean(l) && (l->used == HEAD_BYTES || l->born != tick))
            lane_send(l, ack_due(l, now));
        if (l->ack_requested == ack_requested)
            lane_request_ack_again(l);
        if (!lane_clean(l))
            count_silence(c, l, since); // the program may never wait on this channel
        clean &= lane_clean(l) && l->pending == 0;
    }
    int looks = 0;
    while (looks < LOOKS && ucp_worker_progress(c->worker))
        looks++;
    if (clean)
        __atomic_store_n(&c->dirty, 0, __ATOMIC_RELAXED);
    return looks > 0;
}

// tick_channels ticks the channels that no thread is using at the moment. It returns TICK_DIRTY if any channel has
// something outstanding, and TICK_MOVED if anything has left or arrived.
int tick_channels(engine_t *e)
{
    int found = 0;
    __atomic_add_fetch(&e->ticks, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&e->list);
    for (uint32_t i = 0; i < e->nchannels; i++) {
        channel_t *c = e->channels[i];
        if (!__atomic_load_n(&c->dirty, __ATOMIC_RELAXED))
            continue;
        found |= TICK_DIRTY;
        if (try_lock(&c->lock)) {
            if (channel_tick(c))
                found |= TICK_MOVED;
            unlock(&c->lock);
        }
    }
    pthread_mutex_unlock(&e->list);
    return found;
}
