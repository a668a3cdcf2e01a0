// Bounding the memory of copies. The blocks that have pages are in a ring, in the order in which they got them. When
// there are more than the bound, the first of them give theirs back: those that have no changes and are not pinned. A
// block that is accessed after that is fetched once more, so an eviction is right at any moment.
//
// The pager evicts after each fault, and a fence when it ends an acquire. View does not: what it brings stays until
// then.
#include <fcntl.h>

#include "pager.h"

// evict_note puts b, which has got pages, at the end of the ring. The caller holds b's lock.
void evict_note(struct pager *p, int32_t b)
{
    lists_lock(p);
    p->ring.blocks[(p->ring_first + p->ring.n++) % p->c.blocks] = b; // a block is in the ring once: there is room
    lists_unlock(p);
}

// first_of takes the first block out of the ring, or returns -1 if the ring is within the bound.
static int32_t first_of(struct pager *p)
{
    int32_t b = -1;
    lists_lock(p);
    if (p->ring.n > p->c.keep) {
        b = p->ring.blocks[p->ring_first];
        p->ring_first = (p->ring_first + 1) % p->c.blocks;
        p->ring.n--;
    }
    lists_unlock(p);
    return b;
}

// give_back frees b's pages, or puts it at the end of the ring again. No thread writes a block without a twin: its
// pages are protected. The hole takes them out of the program's mapping, too.
static void give_back(struct pager *p, int32_t b)
{
    struct block *x = &p->blk[b];
    block_lock(x);
    int stays = !!(x->flags & (DIRTY | PINNED | POISONED));
    if (!stays && fallocate(p->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)b * (off_t)p->c.block, (off_t)p->c.block) == 0) {
        x->flags &= ~(uint32_t)(ALLOCATED | VALID | MAPPED | WRITABLE);
        x->flags |= TOUCHED; // it is to be fetched: it may be zeros no more
        __atomic_add_fetch(&p->stats.evicted, 1, __ATOMIC_RELAXED);
    } else {
        evict_note(p, b);
    }
    block_unlock(x);
}

// evict frees pages until no more blocks have some than the bound says, or each has been looked at once. It leaves
// except, which the program is about to access.
void evict(struct pager *p, int32_t except)
{
    if (p->c.keep == 0)
        return;
    for (uint64_t tries = __atomic_load_n(&p->ring.n, __ATOMIC_RELAXED); tries > 0; tries--) {
        int32_t b = first_of(p);
        if (b < 0)
            return;
        if (b == except) {
            block_lock(&p->blk[b]);
            evict_note(p, b);
            block_unlock(&p->blk[b]);
        } else {
            give_back(p, b);
        }
    }
}

// pager_pin keeps the copies of the blocks from lo to hi-1, or lets them be evicted.
void pager_pin(struct pager *p, int32_t lo, int32_t hi, int keep)
{
    for (int32_t b = lo; b < hi; b++) {
        struct block *x = &p->blk[b];
        block_lock(x);
        x->flags = keep ? x->flags | PINNED : x->flags & ~(uint32_t)PINNED;
        block_unlock(x);
    }
}
