// Which thread serves, where the faulting threads do so themselves: one at a time, because there is one channel to
// other PEs.
//
// A thread that serves does not look at signals, and Go wants to interrupt threads: to stop the world, and to let other
// goroutines run. So a thread that waits long, for an answer or for the thread that serves, looks for Go's signal. If
// it has come, the thread gives up: its access is done again when Go lets it, and faults again. What it was fetching is
// fetched by the pager's thread instead, which no signal disturbs, so that many signals do not keep a fetch from its
// end.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pager.h"

enum {
    FREE,
    TAKEN,
    WANTED, // taken, and threads may sleep on it

    SPINS = 200,           // looks before a thread sleeps
    NAP_NS = 1000 * 1000,  // after which it looks for signals
};

static void sleep_on(uint32_t *word, uint32_t value, int64_t ns)
{
    struct timespec t = {.tv_nsec = ns};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns ? &t : NULL, NULL, 0);
}

static void wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

static int try_begin(struct pager *p)
{
    uint32_t free = FREE;
    return __atomic_compare_exchange_n(&p->serving, &free, TAKEN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// serving_begin waits until no other thread serves, and stores whether it has waited. It returns 0 if interrupted,
// which may be NULL, has said so.
int serving_begin(struct pager *p, int *waited, int (*interrupted)(void))
{
    *waited = 0;
    if (try_begin(p))
        return 1;
    *waited = 1;
    for (int i = 0; i < SPINS; i++)
        if (__atomic_load_n(&p->serving, __ATOMIC_RELAXED) == FREE && try_begin(p))
            return 1;
    while (__atomic_exchange_n(&p->serving, WANTED, __ATOMIC_ACQUIRE) != FREE) {
        sleep_on(&p->serving, WANTED, NAP_NS);
        if (interrupted && interrupted())
            return 0;
    }
    return 1;
}

void serving_end(struct pager *p)
{
    if (__atomic_exchange_n(&p->serving, FREE, __ATOMIC_RELEASE) == WANTED)
        wake(&p->serving);
}

// serving_hand_over has the pager's thread fetch b, unless it has another block to fetch.
void serving_hand_over(struct pager *p, int32_t b)
{
    uint64_t none = 0;
    if (!__atomic_compare_exchange_n(&p->handed_over, &none, (uint64_t)b + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return;
    __atomic_add_fetch(&p->rung, 1, __ATOMIC_SEQ_CST);
    wake(&p->rung);
}

// serving_stop ends the pager's thread.
void serving_stop(struct pager *p)
{
    __atomic_store_n(&p->ending, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&p->rung, 1, __ATOMIC_SEQ_CST);
    wake(&p->rung);
}

// serving_main is the pager's thread. It fetches what has been handed over.
void *serving_main(void *arg)
{
    struct pager *p = arg;
    pthread_setname_np(pthread_self(), "pgas-pager");
    for (;;) {
        uint32_t rung = __atomic_load_n(&p->rung, __ATOMIC_SEQ_CST);
        uint64_t b = __atomic_load_n(&p->handed_over, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&p->ending, __ATOMIC_SEQ_CST))
            return NULL;
        if (!b) {
            sleep_on(&p->rung, rung, 0);
            continue;
        }
        int waited;
        serving_begin(p, &waited, NULL);
        fault_fetch(p, (int32_t)(b - 1));
        serving_end(p);
        __atomic_store_n(&p->handed_over, 0, __ATOMIC_SEQ_CST);
    }
}
