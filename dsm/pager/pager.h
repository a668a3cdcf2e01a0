// One PE's copies of the blocks of a region, kept coherent by page faults (userfaultfd).
//
//   app     the region as the program accesses it: a mapping of a memfd, registered with userfaultfd
//   alias   the same memfd mapped again, never registered: what the pager and fences read and write
//   twin    the PE's part of the symmetric array pub: the block as it was before the first write
//
// What serves a fault is the faulting thread itself, in a handler of SIGBUS (signal.c), or one thread for all, the
// pager (thread.c). It calls no Go, takes no lock that is ever held in Go, and waits for nothing but the answers of
// other PEs' service threads, which need no Go either. So faults are served while Go is stopped.
//
// A block's lock is held while a fault is served or inside one call of a fence, and never across a message.
#ifndef DSM_PAGER_H
#define DSM_PAGER_H

#include <pthread.h>
#include <stdint.h>

#include "../../ucx/engine/outside.h"

enum {
    VALID = 1,     // the copy may be read
    DIRTY = 2,     // the block has a twin
    WRITABLE = 4,  // the program may write it without a fault
    MAPPED = 8,    // the program may have it mapped
    TOUCHED = 16,  // accessed or invalidated before
    WHOLE = 32,    // every byte counts as changed
    IN_DIRTY = 64, // the block is in the list of dirty blocks
    IN_COPIES = 128,
    ALLOCATED = 256, // its pages exist
    POISONED = 512,  // it has been given up: accesses fail
    PINNED = 1024,   // its pages are not given back
};

enum { BELL_BYTES = 1 << 16 }; // of pager.bell: a page at least
enum { ENDED_KEPT = 16 };      // regions that have ended whose addresses are not used again

enum faults { FAULTS_BY_SIGNAL, FAULTS_BY_THREAD };

struct block {
    uint32_t lock;
    uint32_t flags;
    int32_t home;
    uint32_t generation; // changes when a fence makes what is being fetched out of date
    uint64_t rts;        // the end of the lease of the copy, or of the version that a notice told of
};

struct list {
    int32_t *blocks, *spare; // a fence takes blocks and leaves spare
    uint64_t n;
};

struct pager_config {
    uint64_t block, blocks;
    int32_t pes, pe;
    uint64_t pub, ver, hint; // offsets in the heap of every PE: of block 0, and of its words
    char **near;             // by PE: the heap in this process, or NULL
    struct outside *outside; // reaches the other PEs
    uint64_t lease;
    uint64_t keep; // blocks that may have pages, besides dirty and pinned ones; 0: all
    int user_only;
    enum faults faults; // what serves them; where there can be no handler, the thread does
};

struct pager_stats {
    uint64_t reads, writes, upgrades; // faults
    uint64_t fast, slow, hops, bytes; // fetches
    uint64_t lost;
    uint64_t evicted; // copies whose pages have been given back
};

struct pager {
    struct pager_config c;
    int uffd, memory;
    char *app, *alias, *tmp;
    char *bell; // FAULTS_BY_THREAD: the first access to it ends the pager
    struct block *blk;
    uint32_t lists; // the lock of the lists
    struct list dirty, copies;
    struct list ring; // blocks with pages, from ring_first on (evict.c)
    uint64_t ring_first;
    uint64_t now;
    uint32_t fences; // acquires so far
    uint32_t closing; // there may be copies that were dropped, or whose leases had ended before they came
    int32_t lost;    // 1 + a PE whose loss has ended a fetch
    struct pager_stats stats;
    pthread_t thread;
    // FAULTS_BY_SIGNAL (serving.c):
    uint32_t serving;     // a lock: one thread serves at a time, and has tmp, stats and stack
    char *stack;          // of the thread that serves
    uint64_t handed_over; // 1 + a block that the thread is to fetch
    uint32_t rung, ending;
};

// A fence of Go sees of a block:
struct known {
    uint32_t flags, generation;
    int32_t home;
    uint64_t rts, now;
};

// memory.c
int pager_probe(int user_only, char *why, uint64_t n);
struct pager *pager_open(const struct pager_config *c, char *why, uint64_t n);
void pager_close(struct pager *p);

// fault.c
enum served { SERVED, SERVED_LOST, SERVED_INTERRUPTED };
enum served fault_serve(struct pager *p, int32_t b, int write, int protected, int (*interrupted)(void));
enum served fault_fetch(struct pager *p, int32_t b);

// thread.c
void *thread_main(void *arg);

// signal.c
int signal_usable(void);
int signal_lost(void);
int signal_watch(struct pager *p);
void signal_unwatch(struct pager *p);

// serving.c
enum { STACK_BYTES = 256 << 10 };
int serving_begin(struct pager *p, int *waited, int (*interrupted)(void));
void serving_end(struct pager *p);
void serving_hand_over(struct pager *p, int32_t b);
void serving_stop(struct pager *p);
void *serving_main(void *arg);

// fence.c
int64_t pager_written(struct pager *p, int32_t *into, uint64_t room);
void pager_merge(struct pager *p, int32_t b, const char *latest, int32_t home, uint64_t rts, int64_t range[2]);
int pager_changes(struct pager *p, int32_t b, char *own, char *twin);
void pager_settle(struct pager *p, int32_t b);
void pager_drop(struct pager *p, int32_t b, int32_t home, uint64_t rts);
void pager_expire(struct pager *p, uint64_t now);
void pager_drop_all(struct pager *p, const uint64_t *stale);
struct known pager_known(struct pager *p, int32_t b);
void pager_zeros(struct pager *p, int32_t b);
int pager_install(struct pager *p, int32_t b, uint32_t generation, const char *data, int32_t home, uint64_t rts);
void pager_ready(struct pager *p, int32_t lo, int32_t hi, int write);
void pager_overwritten(struct pager *p, int32_t lo, int32_t hi);

// block.c: under the block's lock
void block_lock(struct block *x);
void block_unlock(struct block *x);
char *copy_of(struct pager *p, int32_t b);
char *twin_of(struct pager *p, int32_t b);
int block_allocate(struct pager *p, int32_t b);
void block_make_twin(struct pager *p, int32_t b);
void block_hold_back(struct pager *p, int32_t b);
void block_validate(struct pager *p, int32_t b);
int block_is_current(struct pager *p, int32_t b, uint32_t generation);
int block_take(struct pager *p, int32_t b, uint32_t generation, const char *data, int32_t home, uint64_t rts);
int block_take_in_place(struct pager *p, int32_t b, uint32_t generation, int32_t home, uint64_t rts);
int block_take_zeros(struct pager *p, int32_t b);
void lists_lock(struct pager *p);
void lists_unlock(struct pager *p);
void list_add(struct pager *p, struct list *l, int32_t b);

// evict.c
void evict_note(struct pager *p, int32_t b);
void evict(struct pager *p, int32_t except);
void pager_pin(struct pager *p, int32_t lo, int32_t hi, int keep);

// map.c: what the program has mapped
void map_blocks(struct pager *p, int32_t b, uint64_t n, int writable);
void map_writable(struct pager *p, int32_t b, uint64_t n);
void map_protect(struct pager *p, int32_t b, uint64_t n);
void map_drop(struct pager *p, int32_t b, uint64_t n);
void map_bell(struct pager *p);
void map_poison(struct pager *p, int32_t b);

// fetch.c
void renew_own(struct pager *p, int32_t b, uint64_t *rts, uint64_t now);
uint64_t fetch_offset(struct pager *p, int32_t b);
enum fetched { FETCH_DONE, FETCH_LOST, FETCH_INTERRUPTED };
enum fetched fetch_locate(struct pager *p, int32_t b, int32_t *home, uint64_t *rts, uint64_t now, int *brought, int (*interrupted)(void));
enum fetched fetch_bytes_of(struct pager *p, int32_t b, char *to, int32_t home, int (*interrupted)(void));

// merge.c
enum kernel { KERNEL_BEST, KERNEL_BYTES, KERNEL_WORDS, KERNEL_AVX2 };
int kernel_permitted(enum kernel k);
int merge_release(enum kernel k, char *own, char *twin, const char *latest, uint64_t n, int64_t range[2]);
void merge_fetch(enum kernel k, char *own, char *twin, const char *latest, uint64_t n);

#endif
