// How a sleeping thread is woken: a PE by its doorbell, a thread of the engine by an event descriptor.
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "state.h"

void clear_eventfd(int fd)
{
    uint64_t n;
    while (read(fd, &n, sizeof n) < 0 && errno == EINTR)
        ;
}

void engine_kick(engine_t *e)
{
    eventfd_write(e->kick, 1);
}

void ring_doorbell(engine_t *e)
{
    __atomic_add_fetch(e->config.doorbell, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, e->config.doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

// awaited reports whether this PE sleeps, and on which bytes of its heap, as watched does. The fence is between the
// updates and the load of waiting. The sleeper has a fence between its store to waiting and its load of the word. So
// one of the two sees the store of the other.
int awaited(const engine_t *e, uint64_t *lo, uint64_t *hi)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return watched(__atomic_load_n(e->config.waiting, __ATOMIC_RELAXED), lo, hi);
}

// ring_for_word wakes this PE if it sleeps on the word at off.
void ring_for_word(engine_t *e, uint64_t off)
{
    uint64_t lo, hi;
    if (awaited(e, &lo, &hi) && lo <= off && off < hi)
        ring_doorbell(e);
}

// sleeps reports whether a goroutine of this PE sleeps: until words of its heap are updated, or until members of a team
// on this host arrive, which no message tells.
int sleeps(const engine_t *e)
{
    return __atomic_load_n(e->config.waiting, __ATOMIC_SEQ_CST) ||
           (e->config.waiting_for_group && __atomic_load_n(e->config.waiting_for_group, __ATOMIC_SEQ_CST));
}

// ring_if_waiting wakes this PE if it sleeps on anything. Where UCX carries out atomics for want of a NIC that
// does, it does so in its progress, and says of none which word it was.
void ring_if_waiting(engine_t *e)
{
    uint64_t lo, hi;
    if (awaited(e, &lo, &hi))
        ring_doorbell(e);
}

// nap_ns returns for how long a thread sleeps that has been woken in vain so many times: by a worker's event
// descriptor, and then the worker had nothing to do. The thread leaves the descriptors out of that sleep. 0 means that
// it may trust them. UCX asks for POLLOUT of a TCP connection until the target has accepted it, and a socket is
// writable all that time. A thread that went on trusting the descriptor would never sleep, and might keep the CPU from
// the very PE that is to accept.
int64_t nap_ns(unsigned vain)
{
    enum { TRUSTED = 4, FIRST_NS = 20 * 1000, DOUBLINGS = 8 };
    if (vain < TRUSTED)
        return 0;
    return FIRST_NS << (vain - TRUSTED < DOUBLINGS ? vain - TRUSTED : DOUBLINGS);
}
