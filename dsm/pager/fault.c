// The pager's thread.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pager.h"
#include "uffd.h"

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

// lose gives up block b: its home is lost, or there is no memory for it. The threads that access it get SIGBUS, after the
// loss has been published: they look for it. A block that was given up before has had its line.
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

// map_valid maps a valid block for an access, under its lock. All that fences must know is set before the thread goes on.
static void map_valid(struct pager *p, int32_t b, int write, int protected)
{
    struct block *x = &p->blk[b];
    if (write)
        block_make_twin(p, b);
    x->flags |= MAPPED;
    if (x->flags & DIRTY)
        x->flags |= WRITABLE;
    if (protected)
        map_writable(p, b, 1);
    else
        map_blocks(p, b, 1, x->flags & DIRTY);
}

// fetch_to_copy fetches b, which is invalid, from a home whose heap this process has, straight into the copy. It is for
// blocks without a twin, and goes on under the block's lock, since it sends no message. It returns 0 if it is not for b, or
// if a fence has come since generation was read.
static int fetch_to_copy(struct pager *p, int32_t b, uint32_t generation, int32_t home, uint64_t rts)
{
    struct block *x = &p->blk[b];
    if (!p->c.near[home] || x->flags & (DIRTY | VALID) || !block_is_current(p, b, generation) || !block_allocate(p, b))
        return 0;
    memcpy(copy_of(p, b), p->c.near[home] + fetch_offset(p, b), p->c.block);
    return block_take_in_place(p, b, generation, home, rts);
}

// bring makes b valid. It returns 1 with the block's lock held, or 0 if the block is lost.
static int bring(struct pager *p, int32_t b)
{
    struct block *x = &p->blk[b];
    for (;;) {
        block_lock(x);
        if (!block_allocate(p, b)) {
            block_unlock(x);
            lose(p, b, -1, strerror(errno));
            return 0;
        }
        if (x->flags & VALID || block_take_zeros(p, b)) // zeros need no message
            return 1;
        uint32_t generation = x->generation + __atomic_load_n(&p->fences, __ATOMIC_SEQ_CST);
        uint64_t now = __atomic_load_n(&p->now, __ATOMIC_ACQUIRE), rts = x->rts;
        int32_t home = x->home;
        block_unlock(x);
        int found = fetch_locate(p, b, &home, &rts, now);
        p->stats.bytes += p->c.block;
        if (found) {
            block_lock(x);
            if (fetch_to_copy(p, b, generation, home, rts))
                return 1;
            block_unlock(x);
        }
        if (!found || !fetch_bytes_of(p, b, p->tmp, home)) {
            lose(p, b, home, "");
            return 0;
        }
        block_lock(x);
        if (block_take(p, b, generation, p->tmp, home, rts))
            return 1;
        block_unlock(x); // a fence came between
    }
}

static void serve(struct pager *p, const struct uffd_msg *m)
{
    uint64_t flags = m->arg.pagefault.flags;
    int32_t b = (int32_t)((m->arg.pagefault.address - (uint64_t)p->app) / p->c.block);
    int protected = !!(flags & UFFD_PAGEFAULT_FLAG_WP), write = protected || (flags & UFFD_PAGEFAULT_FLAG_WRITE);
    if (protected)
        p->stats.upgrades++;
    else if (write)
        p->stats.writes++;
    else
        p->stats.reads++;
    if (!bring(p, b))
        return;
    map_valid(p, b, write, protected);
    block_unlock(&p->blk[b]);
    evict(p, b);
}

// pager_main blocks in the read of the next fault. So a fault takes two system calls of the pager: the read and what maps
// the block. It does not look for faults before it blocks: a PE that is bound to one CPU shares it with its pager. It
// ends at the first access to p->bell.
void *pager_main(void *arg)
{
    struct pager *p = arg;
    struct uffd_msg m[16];
    pthread_setname_np(pthread_self(), "pgas-pager");
    for (;;) {
        ssize_t n = read(p->uffd, m, sizeof m);
        for (ssize_t i = 0; i < n / (ssize_t)sizeof m[0]; i++) {
            if (m[i].event != UFFD_EVENT_PAGEFAULT)
                continue;
            if (m[i].arg.pagefault.address - (uint64_t)p->bell < BELL_BYTES) {
                map_bell(p);
                return NULL;
            }
            serve(p, &m[i]);
        }
    }
}
