// Blocks under their locks, and the lists of those that are dirty and of those that are valid.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <string.h>

#include "pager.h"

static void take(uint32_t *lock)
{
    for (unsigned tries = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); tries++)
        if (tries > 100) // the holder may have lost its CPU
            sched_yield();
}

static void give(uint32_t *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

void block_lock(struct block *x) { take(&x->lock); }
void block_unlock(struct block *x) { give(&x->lock); }

char *copy_of(struct pager *p, int32_t b) { return p->alias + (uint64_t)b * p->c.block; }
char *twin_of(struct pager *p, int32_t b) { return p->c.near[p->c.pe] + p->c.pub + (uint64_t)b * p->c.block; }

void list_add(struct pager *p, struct list *l, int32_t b)
{
    take(&p->lists);
    l->blocks[l->n++] = b; // a block is in a list once: there is room
    give(&p->lists);
}

// block_allocate makes b's pages, as zeros. Without memory it fails here, and not by a signal at the first access.
int block_allocate(struct pager *p, int32_t b)
{
    if (p->blk[b].flags & ALLOCATED)
        return 1;
    if (fallocate(p->memory, 0, (off_t)b * (off_t)p->c.block, (off_t)p->c.block))
        return 0;
    p->blk[b].flags |= ALLOCATED;
    return 1;
}

// block_make_twin notes that b is being changed. The copy is not writable yet.
void block_make_twin(struct pager *p, int32_t b)
{
    struct block *x = &p->blk[b];
    if (x->flags & DIRTY)
        return;
    memcpy(twin_of(p, b), copy_of(p, b), p->c.block);
    x->flags |= DIRTY;
    if (!(x->flags & IN_DIRTY)) {
        x->flags |= IN_DIRTY;
        list_add(p, &p->dirty, b);
    }
}

// block_hold_back keeps the program from writing b.
void block_hold_back(struct pager *p, int32_t b)
{
    if (p->blk[b].flags & WRITABLE) {
        map_protect(p, b, 1);
        p->blk[b].flags &= ~(uint32_t)WRITABLE;
    }
}

void block_validate(struct pager *p, int32_t b)
{
    struct block *x = &p->blk[b];
    x->flags |= VALID | TOUCHED;
    if (!(x->flags & IN_COPIES)) {
        x->flags |= IN_COPIES;
        list_add(p, &p->copies, b);
    }
}

// block_take makes data, as fetched, the copy. Own bytes stay over it.
void block_take(struct pager *p, int32_t b, const char *data, int32_t home, uint64_t rts)
{
    struct block *x = &p->blk[b];
    if (x->flags & WHOLE) {
        // nothing of data is wanted
    } else if (x->flags & DIRTY) {
        block_hold_back(p, b); // a store between the comparison of a byte and its replacement would be lost
        merge_bytes(copy_of(p, b), twin_of(p, b), data, p->c.block);
        memcpy(twin_of(p, b), data, p->c.block);
    } else {
        memcpy(copy_of(p, b), data, p->c.block);
    }
    x->home = home;
    x->rts = rts;
    block_validate(p, b);
}
