// What fences do to a PE's copies. Go calls these, one fence at a time, and the pager serves faults meanwhile.
#include <stdlib.h>
#include <string.h>

#include "pager.h"

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// in_spans sorts the blocks and calls act for spans of them: neighbours, and those with at most gap other blocks
// between.
static void in_spans(struct pager *p, int32_t *blocks, uint64_t n, int64_t gap, void (*act)(struct pager *, int32_t, uint64_t))
{
    qsort(blocks, n, sizeof *blocks, ascending);
    for (uint64_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && blocks[k] - (int64_t)blocks[k - 1] - 1 <= gap; k++)
            ;
        act(p, blocks[i], (uint64_t)(blocks[k - 1] - blocks[i]) + 1);
    }
}

// protect_all protects blocks. A call for a span with others in it takes less time than two calls, as long as they are
// few: a call takes as long as some 30 pages. To protect a block more than its flags say is harmless: the next write to
// it is a page fault, which finds its twin.
static void protect_all(struct pager *p, int32_t *blocks, uint64_t n)
{
    enum { GAP_BYTES = 64 << 10 };
    in_spans(p, blocks, n, (int64_t)(GAP_BYTES / p->c.block), map_protect);
}

// detach empties l, and stores its length. The result is good until the next detach of l. What is added meanwhile is
// for the next fence. If it is longer than most, it stays, and the result is NULL.
static int32_t *detach(struct pager *p, struct list *l, uint64_t *n, uint32_t flag, uint64_t most)
{
    lists_lock(p);
    int32_t *old = l->blocks;
    *n = l->n;
    if (*n > most) {
        lists_unlock(p);
        return NULL;
    }
    l->blocks = l->spare;
    l->spare = old;
    l->n = 0;
    lists_unlock(p);
    for (uint64_t i = 0; i < *n; i++) {
        struct block *x = &p->blk[old[i]];
        block_lock(x);
        x->flags &= ~flag;
        block_unlock(x);
    }
    return old;
}

static void attach(struct pager *p, struct list *l, int32_t b, uint32_t flag)
{
    struct block *x = &p->blk[b];
    if (!(x->flags & flag)) {
        x->flags |= flag;
        list_add(p, l, b);
    }
}

// pager_written stores the blocks that differ from their twins in into, and returns their number. If there may be more
// than room, it does nothing and returns minus their number: of blocks that are written meanwhile none may take the
// place of one that was written before the fence.
int64_t pager_written(struct pager *p, int32_t *into, uint64_t room)
{
    uint64_t n;
    int64_t differ = 0;
    int32_t *list = detach(p, &p->dirty, &n, IN_DIRTY | WRITABLE, room);
    if (!list)
        return -(int64_t)n;
    protect_all(p, list, n);
    for (uint64_t i = 0; i < n; i++) {
        int32_t b = list[i];
        struct block *x = &p->blk[b];
        block_lock(x);
        int changed = x->flags & DIRTY && (x->flags & WHOLE || memcmp(copy_of(p, b), twin_of(p, b), p->c.block));
        if (x->flags & DIRTY && !changed && !(x->flags & WRITABLE))
            x->flags &= ~(uint32_t)DIRTY;
        if (x->flags & DIRTY)
            attach(p, &p->dirty, b, IN_DIRTY);
        if (changed)
            into[differ++] = b;
        block_unlock(x);
    }
    return differ;
}

// end_twin ends the life of b's twin. The caller has made the copy equal to what others may fetch.
static void end_twin(struct block *x) { x->flags &= ~(uint32_t)(DIRTY | WHOLE); }

// pager_merge writes own bytes over latest, or over the twin if latest is NULL, into the copy and the twin, and stores
// the range of own bytes. A fetch that is under way has asked for an older version, so the generation changes: without
// that it would undo the merge in this PE's copy.
void pager_merge(struct pager *p, int32_t b, const char *latest, int32_t home, uint64_t rts, int64_t range[2])
{
    struct block *x = &p->blk[b];
    char *own = copy_of(p, b), *twin = twin_of(p, b);
    block_lock(x);
    block_hold_back(p, b);
    if (x->flags & WHOLE) {
        range[0] = 0, range[1] = (int64_t)p->c.block - 1;
        memcpy(twin, own, p->c.block);
    } else {
        merge_release(KERNEL_BEST, own, twin, latest, p->c.block, range);
    }
    end_twin(x);
    x->generation++;
    x->home = home;
    x->rts = rts;
    block_validate(p, b);
    block_unlock(x);
}

// pager_changes copies b and its twin for the caller, and makes the twin what b is now. It returns 1 if every byte
// counts as changed.
int pager_changes(struct pager *p, int32_t b, char *own, char *twin)
{
    struct block *x = &p->blk[b];
    block_lock(x);
    block_hold_back(p, b);
    int whole = !!(x->flags & WHOLE);
    memcpy(own, copy_of(p, b), p->c.block);
    memcpy(twin, twin_of(p, b), p->c.block);
    memcpy(twin_of(p, b), own, p->c.block);
    x->flags &= ~(uint32_t)WHOLE;
    block_unlock(x);
    return whole;
}

// pager_settle makes b clean, unless the program has changed it after pager_changes.
void pager_settle(struct pager *p, int32_t b)
{
    struct block *x = &p->blk[b];
    block_lock(x);
    block_hold_back(p, b);
    if (!memcmp(copy_of(p, b), twin_of(p, b), p->c.block))
        end_twin(x);
    block_unlock(x);
}

void pager_drop(struct pager *p, int32_t b, int32_t home, uint64_t rts)
{
    struct block *x = &p->blk[b];
    block_lock(x);
    x->flags = (x->flags & ~(uint32_t)VALID) | TOUCHED;
    x->generation++;
    x->home = home;
    x->rts = rts;
    attach(p, &p->copies, b, IN_COPIES); // the end of the acquire unmaps it
    __atomic_store_n(&p->closing, 1, __ATOMIC_SEQ_CST);
    block_unlock(x);
}

// end_acquire drops copies that are stale, or whose leases ended before now, and unmaps what is not valid. A copy whose
// home is this PE gets a new lease (dsm/internal/protocol/acquire.go).
static void end_acquire(struct pager *p, const uint64_t *stale)
{
    uint64_t n, gone = 0, now = p->now;
    int32_t *list = detach(p, &p->copies, &n, IN_COPIES, p->c.blocks);
    for (uint64_t i = 0; i < n; i++) {
        int32_t b = list[i];
        struct block *x = &p->blk[b];
        block_lock(x);
        if (!stale && x->flags & VALID && x->rts < now && x->home == p->c.pe)
            renew_own(p, b, &x->rts, now);
        if (stale ? (int)(stale[b / 64] >> (b % 64) & 1) : x->rts < now)
            x->flags &= ~(uint32_t)VALID;
        if (x->flags & VALID) {
            attach(p, &p->copies, b, IN_COPIES);
        } else if (x->flags & MAPPED) {
            x->flags &= ~(uint32_t)(MAPPED | WRITABLE);
            list[gone++] = b;
        }
        block_unlock(x);
    }
    in_spans(p, list, gone, 0, map_drop);
    evict(p, -1);
}

void pager_expire(struct pager *p, uint64_t now)
{
    // Before fences: a fetch that reads the new count reads the new time.
    __atomic_store_n(&p->now, now, __ATOMIC_RELEASE);
    __atomic_add_fetch(&p->fences, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&p->closing, 0, __ATOMIC_SEQ_CST); // what sets it from here on is for the next acquire
    end_acquire(p, NULL);
}

void pager_drop_all(struct pager *p, const uint64_t *stale)
{
    __atomic_add_fetch(&p->fences, 1, __ATOMIC_SEQ_CST);
    end_acquire(p, stale);
}

struct known pager_known(struct pager *p, int32_t b)
{
    struct block *x = &p->blk[b];
    block_lock(x);
    uint32_t fences = __atomic_load_n(&p->fences, __ATOMIC_ACQUIRE);
    struct known k = {x->flags, x->generation + fences, x->home, x->rts, __atomic_load_n(&p->now, __ATOMIC_ACQUIRE)};
    block_unlock(x);
    return k;
}

void pager_zeros(struct pager *p, int32_t b)
{
    struct block *x = &p->blk[b];
    block_lock(x);
    if (block_allocate(p, b))
        block_take_zeros(p, b);
    block_unlock(x);
}

// pager_install makes data the copy of b. Another PE may be changing data. That harms no copy, but a merge compares
// bytes more than once, and so takes them from a copy of data.
int pager_install(struct pager *p, int32_t b, uint32_t generation, const char *data, int32_t home, uint64_t rts)
{
    struct block *x = &p->blk[b];
    char *still = NULL;
    block_lock(x);
    if (x->flags & DIRTY) {
        still = malloc(p->c.block);
        if (!still)
            abort();
        data = memcpy(still, data, p->c.block);
    }
    int current = block_allocate(p, b) && block_take(p, b, generation, data, home, rts);
    block_unlock(x);
    free(still);
    return current;
}

// prepare_map sets what a fence must know of a valid block before the program may access it. It returns how the block
// is to be mapped. The caller holds the block's lock, and maps it before it gives the lock.
enum how { LEAVE, MAP, MAP_WRITABLE, UNPROTECT };

static enum how prepare_map(struct pager *p, int32_t b, int write)
{
    struct block *x = &p->blk[b];
    uint32_t had = x->flags;
    if (!(had & VALID))
        return LEAVE;
    if (write)
        block_make_twin(p, b);
    x->flags |= MAPPED | (x->flags & DIRTY ? WRITABLE : 0);
    if (!(had & MAPPED))
        return x->flags & DIRTY ? MAP_WRITABLE : MAP;
    return x->flags & ~had & WRITABLE ? UNPROTECT : LEAVE;
}

static void map_run(struct pager *p, int32_t b, uint64_t n, enum how how)
{
    if (how == UNPROTECT)
        map_writable(p, b, n);
    else if (how != LEAVE)
        map_blocks(p, b, n, how == MAP_WRITABLE);
}

// RUN bounds the blocks that are locked at a time: the pager waits for them.
enum { RUN = 32 };

// pager_ready maps the valid blocks from lo to hi-1, writable if write is set. Neighbours are one call of the kernel.
// The locks of a run are taken in ascending order, and no other thread takes a second one.
void pager_ready(struct pager *p, int32_t lo, int32_t hi, int write)
{
    while (lo < hi) {
        int32_t end = hi - lo < RUN ? hi : lo + RUN, first = lo;
        enum how run = LEAVE;
        for (int32_t b = lo; b < end; b++) {
            block_lock(&p->blk[b]);
            enum how how = prepare_map(p, b, write);
            if (how != run) {
                if (b > first)
                    map_run(p, first, (uint64_t)(b - first), run);
                first = b, run = how;
            }
        }
        map_run(p, first, (uint64_t)(end - first), run);
        for (int32_t b = lo; b < end; b++)
            block_unlock(&p->blk[b]);
        lo = end;
    }
}

void pager_overwritten(struct pager *p, int32_t lo, int32_t hi)
{
    for (int32_t b = lo; b < hi; b++) {
        struct block *x = &p->blk[b];
        block_lock(x);
        if (block_allocate(p, b)) {
            block_validate(p, b);
            if (!(x->flags & DIRTY)) {
                x->flags |= DIRTY;
                attach(p, &p->dirty, b, IN_DIRTY);
            }
            x->flags |= WHOLE;
        }
        block_unlock(x);
    }
    pager_ready(p, lo, hi, 1);
}
