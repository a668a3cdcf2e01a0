// The failure detector's verdict: which PE counts as lost, and how the launcher learns of it.
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "state.h"

// heard_since reports whether a PE other than pe has answered since the given time.
static int heard_since(const engine_t *e, uint32_t pe, int64_t since)
{
    for (const pulse_t *p = e->pulses; p; p = p->next)
        if (p->pe != pe && p->heard_ns > since)
            return 1;
    return 0;
}

// accuse tells the launcher, by way of the host segment, that pe is lost. A certain accusation replaces an uncertain
// one, of this PE or another of this host, and an accusation for silence replaces one for a connection's end. Of two
// for silence, one that says that large packets are lost counts.
static void accuse(engine_t *e, uint32_t pe, uint64_t flags)
{
    const uint64_t weight = ACCUSED_CERTAINLY | ACCUSED_SILENT | ACCUSED_LARGE_LOST;
    if (!e->config.accused)
        return;
    uint64_t was = __atomic_load_n(e->config.accused, __ATOMIC_ACQUIRE);
    uint64_t now = accusation(pe, e->config.pe, flags);
    while (!was || (was & weight) < (now & weight))
        if (__atomic_compare_exchange_n(e->config.accused, &was, now, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
            __atomic_add_fetch(e->config.accused_bell, 1, __ATOMIC_SEQ_CST);
            syscall(SYS_futex, e->config.accused_bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
            return;
        }
}

// engine_fail_peer ends the waits of this PE because pe is lost, and accuses it.
void engine_fail_peer(engine_t *e, uint32_t pe, int32_t status, enum evidence evidence)
{
    uint64_t flags = evidence == SURE ? ACCUSED_CERTAINLY : 0;
    uint64_t none = 0, lost = (uint64_t)(uint32_t)status << 32 | (pe + 1);
    __atomic_compare_exchange_n(&e->lost, &none, lost, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    if (evidence == SILENT || evidence == LARGE_LOST)
        flags = ACCUSED_SILENT | (evidence == LARGE_LOST ? ACCUSED_LARGE_LOST : 0) | (heard_since(e, pe, now_ns() - e->config.peer_timeout_ns / 2) ? ACCUSED_CERTAINLY : 0);
    accuse(e, pe, flags);
    if (sleeps(e))
        ring_doorbell(e);
}

// engine_heard_from_any reports whether another PE has ever answered this one. If one has, UCX has transports that
// reach other PEs.
int engine_heard_from_any(engine_t *e)
{
    return heard_since(e, e->config.pe, 0);
}

// engine_suspect starts the pings of witnesses: a peer has been silent for half of the time-out.
void engine_suspect(engine_t *e)
{
    __atomic_store_n(&e->suspect_until_ns, now_ns() + e->config.peer_timeout_ns, __ATOMIC_RELAXED);
}

// engine_lost returns 1 + the first PE that cannot be reached or does not answer, with its status in the upper half, or
// 0. Waits that have no operation outstanding to that PE learn of it from this word. A PE that closed its connection is
//    not
// counted: it may have ended normally.
uint64_t engine_lost(engine_t *e)
{
    return __atomic_load_n(&e->lost, __ATOMIC_ACQUIRE);
}
