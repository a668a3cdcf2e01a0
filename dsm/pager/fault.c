// What a fault does, whichever thread serves it: it makes the block valid and maps it.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pager.h"

// say writes the line of block b, which is given up.
static void say(struct pager *p, int32_t b, int32_t home, const char *why)
{
    char line[200];
    int n = home >= 0 ? snprintf(line, sizeof line, "pgas: PE %d: page fault in block %d of the coherent region: its home PE %d is lost\n", p->c.pe, b, home)
                      : snprintf(line, sizeof line, "pgas: PE %d: page fault in block %d of the coherent region: %s\n", p->c.pe, b, why);
    if (write(2, line, (size_t)n) < 0) {
        // standard error is closed: the signal has to do
    }
}

// lose gives up block b: its home is lost, or there is no memory for it. The threads that access it get SIGBUS, after
// the loss has been published: they look for it. A block that was given up before has had its line.
static void lose(struct pager *p, int32_t b, int32_t home, const char *why)
{
    struct block *x = &p->blk[b];
    block_lock(x);
    int again = !!(x->flags & POISONED);
    x->flags |= POISONED;
    block_unlock(x);
    if (!again) {
        p->stats.lost++;
        say(p, b, home, why);
    }
    if (home >= 0)
        __atomic_store_n(&p->lost, home + 1, __ATOMIC_RELEASE);
    map_poison(p, b);
}

// map_valid maps a valid block for an access, under its lock. All that fences must know is set before the thread goes
// on.
//
// The kernel says whether a page that is mapped is protected only where the pager's thread serves. In a handler of a
// signal the flags say it, and they may be wrong: pages may have disappeared. So an access that the flags permit, and
// that has faulted, gets all that could help it. One that they do not permit may fault again, and is that one then.
static void map_valid(struct pager *p, int32_t b, int write, int protected)
{
    struct block *x = &p->blk[b];
    uint32_t had = x->flags;
    if (write)
        block_make_twin(p, b);
    x->flags |= MAPPED;
    if (x->flags & DIRTY)
        x->flags |= WRITABLE;
    if (protected)
        map_writable(p, b, 1);
    if (!protected || (p->c.faults == FAULTS_BY_SIGNAL && had & WRITABLE))
        map_blocks(p, b, 1, x->flags & DIRTY);
}

// fetch_to_copy fetches b, which is invalid, from a home whose heap this process has, straight into the copy. It is for
// blocks without a twin, and goes on under the block's lock, since it sends no message. It returns 0 if it is not for
// b, or if a fence has come since generation was read.
static int fetch_to_copy(struct pager *p, int32_t b, uint32_t generation, int32_t home, uint64_t rts)
{
    struct block *x = &p->blk[b];
    if (!p->c.near[home] || x->flags & (DIRTY | VALID) || !block_is_current(p, b, generation) || !block_allocate(p, b))
        return 0;
    memcpy(copy_of(p, b), p->c.near[home] + fetch_offset(p, b), p->c.block);
    return block_take_in_place(p, b, generation, home, rts);
}

// bring makes b valid. It returns SERVED with the block's lock held, or without it that the block is lost, or that the
// thread is interrupted.
static enum served bring(struct pager *p, int32_t b, int (*interrupted)(void))
{
    struct block *x = &p->blk[b];
    for (;;) {
        block_lock(x);
        if (!block_allocate(p, b)) {
            block_unlock(x);
            lose(p, b, -1, strerror(errno));
            return SERVED_LOST;
        }
        if (x->flags & VALID || block_take_zeros(p, b)) // zeros need no message
            return SERVED;
        uint32_t generation = x->generation + __atomic_load_n(&p->fences, __ATOMIC_SEQ_CST);
        uint64_t now = __atomic_load_n(&p->now, __ATOMIC_ACQUIRE), rts = x->rts;
        int32_t home = x->home;
        int brought;
        block_unlock(x);
        enum fetched r = fetch_locate(p, b, &home, &rts, now, &brought, interrupted);
        if (r == FETCH_DONE) {
            p->stats.bytes += p->c.block;
            block_lock(x);
            if (fetch_to_copy(p, b, generation, home, rts))
                return SERVED;
            block_unlock(x);
            if (!brought)
                r = fetch_bytes_of(p, b, p->tmp, home, interrupted);
        }
        if (r == FETCH_INTERRUPTED)
            return SERVED_INTERRUPTED;
        if (r == FETCH_LOST) {
            lose(p, b, home, "");
            return SERVED_LOST;
        }
        block_lock(x);
        if (block_take(p, b, generation, p->tmp, home, rts))
            return SERVED;
        block_unlock(x); // a fence came between
    }
}

static void count(struct pager *p, int write, int protected)
{
    if (protected)
        p->stats.upgrades++;
    else if (write)
        p->stats.writes++;
    else
        p->stats.reads++;
}

// fault_serve ends an access's fault: the access succeeds when it is done again, or gets a signal if the block is lost.
// protected is set if the block is mapped and protected. interrupted is that of struct outside.
enum served fault_serve(struct pager *p, int32_t b, int write, int protected, int (*interrupted)(void))
{
    enum served r = bring(p, b, interrupted);
    if (r != SERVED_INTERRUPTED)
        count(p, write, protected);
    if (r != SERVED)
        return r;
    map_valid(p, b, write, protected);
    block_unlock(&p->blk[b]);
    evict(p, b);
    return r;
}

// fault_fetch makes b valid, for an access that comes later.
enum served fault_fetch(struct pager *p, int32_t b)
{
    enum served r = bring(p, b, NULL);
    if (r == SERVED)
        block_unlock(&p->blk[b]);
    return r;
}
