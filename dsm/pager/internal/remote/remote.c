// A struct outside over memory of this process.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "remote.h"

static void pause_for(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&t, NULL);
}

// pass waits while a gate is closed.
static void pass(remote_t *r, const uint32_t *closed)
{
    __atomic_add_fetch(&r->waiting, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(closed, __ATOMIC_SEQ_CST))
        pause_for(100000);
    __atomic_sub_fetch(&r->waiting, 1, __ATOMIC_SEQ_CST);
}

// travel takes the time of a message, and waits while the gate is closed. It returns -1 if pe is lost.
static int travel(remote_t *r, int pe)
{
    uint64_t ns = __atomic_load_n(&r->delay_ns, __ATOMIC_RELAXED);
    if (ns)
        pause_for(ns);
    pass(r, &r->closed);
    return __atomic_load_n(&r->lost, __ATOMIC_SEQ_CST) == (uint64_t)pe + 1 ? -1 : 0;
}

static int get(struct outside *o, int pe, uint64_t offset, void *to, uint64_t bytes)
{
    remote_t *r = (remote_t *)o;
    __atomic_add_fetch(&r->gets, 1, __ATOMIC_RELAXED);
    if (travel(r, pe))
        return -1;
    memcpy(to, r->heaps[pe] + offset, bytes);
    pass(r, &r->held);
    return 0;
}

static int fetch_max(struct outside *o, int pe, uint64_t offset, uint64_t operand, uint64_t *old)
{
    remote_t *r = (remote_t *)o;
    __atomic_add_fetch(&r->atomics, 1, __ATOMIC_RELAXED);
    if (travel(r, pe))
        return -1;
    uint64_t *word = (uint64_t *)(r->heaps[pe] + offset);
    *old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (*old < operand && !__atomic_compare_exchange_n(word, old, operand, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return 0;
}

remote_t *remote_new(uint32_t pes)
{
    remote_t *r = calloc(1, sizeof *r);
    if (!r || !(r->heaps = calloc(pes, sizeof *r->heaps)))
        abort();
    r->way = (struct outside){.get = get, .fetch_max = fetch_max};
    r->pes = pes;
    return r;
}

void remote_free(remote_t *r)
{
    free(r->heaps);
    free(r);
}
