// Blocks under their locks, and the lists of those that are dirty and of those that are valid.
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

void lists_lock(struct pager *p) { take(&p->lists); }
void lists_unlock(struct pager *p) { give(&p->lists); }

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
    if (p->c.keep)
        evict_note(p, b);
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
    if (x->rts < __atomic_load_n(&p->now, __ATOMIC_ACQUIRE))
        __atomic_store_n(&p->closing, 1, __ATOMIC_SEQ_CST);
    if (!(x->flags & IN_COPIES)) {
        x->flags |= IN_COPIES;
        list_add(p, &p->copies, b);
    }
}

// block_is_current reports whether no fence has come since generation was read.
int block_is_current(struct pager *p, int32_t b, uint32_t generation)
{
    return p->blk[b].generation + __atomic_load_n(&p->fences, __ATOMIC_SEQ_CST) == generation;
}

// validate_if_current makes b valid, unless a fence has come since generation was read. The end of an acquire counts a
// fence, and then takes the list of copies. If b came into the list before that, the acquire looks at b. If it came
// after that, the count has changed, and b is not valid.
static int validate_if_current(struct pager *p, int32_t b, uint32_t generation)
{
    block_validate(p, b);
    if (block_is_current(p, b, generation))
        return 1;
    p->blk[b].flags &= ~(uint32_t)VALID;
    return 0;
}

// block_take makes data, as fetched, the copy. Own bytes stay over it. A dirty block is protected first, whatever its
// flags say: between the flags and the mapping calls of a fence it is still writable, and a store between the
// comparison of a byte and its replacement would be lost. It returns 0 if a fence has come since generation was read.
int block_take(struct pager *p, int32_t b, uint32_t generation, const char *data, int32_t home, uint64_t rts)
{
    struct block *x = &p->blk[b];
    if (!block_is_current(p, b, generation))
        return 0;
    if (x->flags & VALID) // another fetch has brought it
        return 1;
    if (!block_allocate(p, b)) // it may have been evicted since
        return 0;
    if (x->flags & WHOLE) {
        // nothing of data is wanted
    } else if (x->flags & DIRTY) {
        map_protect(p, b, 1);
        x->flags &= ~(uint32_t)WRITABLE;
        merge_fetch(KERNEL_BEST, copy_of(p, b), twin_of(p, b), data, p->c.block);
    } else {
        memcpy(copy_of(p, b), data, p->c.block);
    }
    return block_take_in_place(p, b, generation, home, rts);
}

// block_take_in_place is the end of block_take, for a copy whose bytes are there.
int block_take_in_place(struct pager *p, int32_t b, uint32_t generation, int32_t home, uint64_t rts)
{
    p->blk[b].home = home;
    p->blk[b].rts = rts;
    return validate_if_current(p, b, generation);
}

// block_take_zeros makes an untouched block a valid copy, as it is at the beginning. It returns 0 if that time is over.
int block_take_zeros(struct pager *p, int32_t b)
{
    struct block *x = &p->blk[b];
    uint32_t generation = x->generation + __atomic_load_n(&p->fences, __ATOMIC_SEQ_CST);
    if (x->flags & TOUCHED || __atomic_load_n(&p->now, __ATOMIC_ACQUIRE) != 0)
        return 0;
    return validate_if_current(p, b, generation);
}
