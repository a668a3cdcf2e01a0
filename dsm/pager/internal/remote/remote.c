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

enum { LOOK_NS = 1000000 };

// pass waits while a gate is closed. It looks whether the caller is interrupted, and returns OUTSIDE_INTERRUPTED if so.
static int pass(remote_t *r, const uint32_t *closed, int (*interrupted)(void))
{
    int gives_up = 0;
    __atomic_add_fetch(&r->waiting, 1, __ATOMIC_SEQ_CST);
    while (!gives_up && __atomic_load_n(closed, __ATOMIC_SEQ_CST)) {
        pause_for(LOOK_NS / 10);
        gives_up = interrupted && interrupted();
    }
    __atomic_sub_fetch(&r->waiting, 1, __ATOMIC_SEQ_CST);
    return gives_up ? OUTSIDE_INTERRUPTED : 0;
}

// travel takes the time of a message, and waits while the gate is closed. It returns -1 if pe is lost. It looks about
// once in a millisecond whether the caller is interrupted.
static int travel(remote_t *r, int pe, int (*interrupted)(void))
{
    for (uint64_t part, ns = __atomic_load_n(&r->delay_ns, __ATOMIC_RELAXED); ns > 0; ns -= part) {
        part = ns < LOOK_NS ? ns : LOOK_NS;
        pause_for(part);
        if (part == LOOK_NS && interrupted && interrupted())
            return OUTSIDE_INTERRUPTED;
    }
    int gives_up = pass(r, &r->closed, interrupted);
    if (gives_up)
        return gives_up;
    return __atomic_load_n(&r->lost, __ATOMIC_SEQ_CST) == (uint64_t)pe + 1 ? -1 : 0;
}

static int get(struct outside *o, int pe, uint64_t offset, void *to, uint64_t bytes, int (*interrupted)(void))
{
    remote_t *r = (remote_t *)o;
    __atomic_add_fetch(&r->gets, 1, __ATOMIC_RELAXED);
    int failed = travel(r, pe, interrupted);
    if (failed)
        return failed;
    memcpy(to, r->heaps[pe] + offset, bytes);
    return pass(r, &r->held, interrupted);
}

static uint64_t raise(remote_t *r, int pe, uint64_t offset, uint64_t operand)
{
    uint64_t *word = (uint64_t *)(r->heaps[pe] + offset), old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (old < operand && !__atomic_compare_exchange_n(word, &old, operand, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return old;
}

static int fetch_max(struct outside *o, int pe, uint64_t offset, uint64_t operand, uint64_t *old, int (*interrupted)(void))
{
    remote_t *r = (remote_t *)o;
    __atomic_add_fetch(&r->atomics, 1, __ATOMIC_RELAXED);
    int failed = travel(r, pe, interrupted);
    if (!failed)
        *old = raise(r, pe, offset, operand);
    return failed;
}

// read_both counts as a get and an atomic, and is one message. Bytes that are not waited for do not come.
static int read_both(struct outside *o, struct outside_read *read, int (*interrupted)(void))
{
    remote_t *r = (remote_t *)o;
    __atomic_add_fetch(&r->atomics, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&r->gets, 1, __ATOMIC_RELAXED);
    int failed = travel(r, read->pe, interrupted);
    if (failed)
        return failed;
    read->old = raise(r, read->pe, read->word, read->operand);
    if (read->old & read->unless)
        return 0;
    memcpy(read->to, r->heaps[read->pe] + read->offset, read->bytes);
    return pass(r, &r->held, interrupted);
}

remote_t *remote_new(uint32_t pes)
{
    remote_t *r = calloc(1, sizeof *r);
    if (!r || !(r->heaps = calloc(pes, sizeof *r->heaps)))
        abort();
    r->way = (struct outside){.get = get, .read = read_both, .fetch_max = fetch_max};
    r->pes = pes;
    return r;
}

void remote_free(remote_t *r)
{
    free(r->heaps);
    free(r);
}
