// Layer 2: the state of an engine, and what touches no lane of it.
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "types.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

enum {
    TICK_NS = 100 * 1000,       // how often channels are looked after
    BATCH_TICKS = 16,           // what a batch gathers leaves by itself at one tick in so many
    LONG_TICK_NS = 800 * 1000,  // how often the service thread ticks while others make progress without a pause
    DROWSY_NS = 6400 * 1000,    // how often while the same wait goes on: its end wakes the thread
    SLOW_TICK_NS = 2000 * 1000, // how often it ticks while answers are owed and have not come for long
    DEEP_NS = 10 * 1000 * 1000, // idle for so long, it sleeps until something happens
    NAP_NS = 1000 * 1000,       // longest sleep of a waiter before it polls again, at first
    NAP_DOUBLINGS = 3,          // how often that doubles while nothing arrives
    YIELD_NS = 20 * 1000,       // after so much waiting in vain, the awaited PE may need this CPU
    SPIN_BESIDE_NS = 100 * 1000, // for so long a thread polls while waiters are to sleep
    CLOCK_EVERY = 16,           // polls between two readings of the clock
    SERVE_EVERY = 8,            // polls of the channel's worker between two of the service worker, while waiting
    // a longer message takes longer by the service lane, because both ends would use its one connection
    SERVICE_LANE_MAX = 2 << 10,
    KEPT_MAX = 256 << 10,       // bytes of a lane's copies of what went by the service lane
    COPY_MAX = 4 << 10,         // an answer up to this size is copied to where others are gathered
    GATHER_MAX = 15 << 10,      // so many bytes of blocks are gathered in a reply, more in memory of their own
    PACK_MAX = PIECE_BYTES / 2, // larger blocks are transfers of their own
    HELD_MAX = 4 * UNACKED_MAX, // bytes of a lane's messages that wait for their turn
};

// held is a request that came out of order.
typedef struct held {
    struct held *next;
    uint32_t seq;
    size_t header_bytes, data_bytes;
    char bytes[];
} held_t;

// inbound is the target's side of a lane.
typedef struct inbound {
    uint64_t key;            // pe above the lane's number; 0 free (numbers start at 1)
    uint64_t tags[2];        // of requests, of replies
    uint32_t applied;        // seq of the last request applied
    uint32_t notes_credited; // notes that have found room
    uint32_t overflow;       // notes that have not
    held_t *held;            // sorted by seq
    uint64_t held_bytes;
} inbound_t;

// opened records which lanes one PE has ever opened to this PE.
struct opened {
    uint32_t all;     // every number up to this one
    uint32_t nbeyond, cap;
    uint32_t *beyond; // and these
};

// lane_name identifies a lane.
struct lane_name {
    uint32_t origin, target, lane;
    uint64_t origin_nonce[2], target_nonce[2];
};

enum { NONCE_BYTES = 16 }; // of an engine, before UCX's address

// pulse is what this PE knows about whether another PE lives.
typedef struct pulse {
    struct pulse *next;
    uint32_t pe;
    int witness;   // pinged only while a peer is in doubt
    int lost_data; // a lane to it has lost data: its next answer ends the waits of this PE
    int accused;
    void *address; // of its service worker
    size_t address_bytes;
    ucp_ep_h ep;
    int broken;     // ep has failed
    int32_t status; // what it has failed with
    int sending;    // UCX holds a ping
    uint64_t nonce; // of the outstanding ping; 0: there is none
    uint32_t beats; // since the last attempt to connect
    int64_t silent_ns;
    int64_t heard_ns; // when the last answer came
} pulse_t;

struct engine {
    struct engine_config config;
    ucp_context_h context;
    int rma;      // UCX was opened with its own remote memory access
    int open_rma; // and carries it out with messages, for any sender

    // Service side, guarded by serving.
    uint32_t serving __attribute__((aligned(64)));
    ucp_worker_h worker;
    int fd;
    inbound_t **inbound; // open addressing
    uint32_t inbound_cap, inbound_used;
    inbound_t *last_inbound;
    struct reply *free_replies;
    struct chunk *chunks;                           // of the heap, as far as they have been asked for
    struct service_lane *service_lane;              // by PE; NULL until used
    uint32_t service_lanes;                         // of these, those that have been opened
    uint64_t service_lane_sent;                     // messages that went this way
    // 0, or 1 + the first PE that was found unreachable or silent; its status in the upper half
    uint64_t lost;
    uint64_t served;                                // requests applied
    uint64_t rejected;                              // records that were out of bounds or not understood
    uint64_t refused;                               // messages that cannot be the job's
    uint64_t nonce[2];                              // of this engine
    struct opened *opened;                          // by PE
    struct overflow_note *overflow, **overflow_end; // notes that have found no room, in order
    uint32_t noverflow;

    // Heartbeats, guarded by serving but for what only the service thread uses.
    pulse_t *pulses;          // the successor comes first
    uint32_t watching;        // there are any
    uint32_t answers;         // on their way
    uint64_t next_ping;       // its nonce; 0: none has been chosen
    uint32_t relay_hops;      // how far pings go on that others' pings demand
    int64_t relay_until_ns;   // and how long
    int64_t suspect_until_ns; // witnesses are asked until then
    int64_t beat_at_ns, next_beat_ns;
    int64_t waits_until_ns;       // of the service thread: this PE has waited a moment ago
    uint32_t progress_calls_seen; // the same

    // The threads that make progress, read by the service thread.
    uint32_t progressing __attribute__((aligned(64))); // threads inside a waiting call
    uint32_t progress_calls;                           // ever
    // polls for which others are expected to need this CPU, as of the last yield
    uint32_t neighbours;
    uint32_t met;                                      // waits that were met since a time slice was last lost
    uint32_t vain_stays;                               // beside other load, since a word came to a waiter that polled

    // Written by the service thread, read by all threads.
    uint32_t polling __attribute__((aligned(64))); // it sleeps on the worker's event fd
    uint32_t deep;                                 // it sleeps and does not tick channels
    uint32_t drowsy;                               // it sleeps because others make progress: enum drowsy
    uint64_t ticks;
    int kick; // eventfd that ends its sleep

    pthread_t thread;
    int started;
    uint32_t stop;
    uint32_t leaving; // together with the other PEs

    pthread_t connect_watcher; // connect_timeout.c
    int connect_watching;      // it has been started
    int connect_watch_stop;    // eventfd that ends it

    pthread_mutex_t list;
    channel_t **channels;
    uint32_t nchannels, channels_cap;
    uint32_t *lanes_to; // lanes that this PE has ever opened, by target

    char *address; // the nonce, and then UCX's
    size_t address_bytes;
};

static inline int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int try_lock(uint32_t *lock)
{
    return __atomic_load_n(lock, __ATOMIC_RELAXED) == 0 && __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void unlock(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

// How the service thread sleeps while others make progress. A waiter that leaves it a wait ends either sleep, and the
// end of any wait ends the long one.
enum drowsy { AWAKE, LIGHTLY, FOR_LONG };

// before reports whether message a was sent before message b; numbers wrap.
static inline int before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

// contention.c
int contended(const engine_t *e);
int64_t spin_limit_ns(const engine_t *e);
int64_t engine_yield(engine_t *e);

// wakeup.c
void clear_eventfd(int fd);
int64_t nap_ns(unsigned vain);
void engine_kick(engine_t *e);
void ring_doorbell(engine_t *e);
int awaited(const engine_t *e, uint64_t *lo, uint64_t *hi);
void ring_for_word(engine_t *e, uint64_t off);
int sleeps(const engine_t *e);
void ring_if_waiting(engine_t *e);

// fault.c
// Why a PE counts as lost: a connection to it has ended, it does not answer, it does not and large packets to its host
// do not arrive, or data for it was lost though it answers.
enum evidence { CUT, SILENT, LARGE_LOST, SURE };
void engine_fail_peer(engine_t *e, uint32_t pe, int32_t status, enum evidence evidence);
int engine_heard_from_any(engine_t *e);
void engine_suspect(engine_t *e);
uint64_t engine_lost(engine_t *e);

// packets.c
enum evidence silence_of(const void *address, size_t bytes);

// auth.c
int random_words(uint64_t *to, size_t n);
void prove_lane(const engine_t *e, const struct lane_name *name, uint64_t proof[2], uint64_t tags[2]);
void refuse(engine_t *e);
int was_opened(const engine_t *e, uint32_t pe, uint32_t lane);
int record_opened(engine_t *e, uint32_t pe, uint32_t lane);
void opened_free(engine_t *e);

// addresses.c
void addresses_begin(const engine_t *e);
void addresses_end(void);

// features.c
int context_open(engine_t *e, char *err, size_t err_bytes);

// admit.c
int admit_only(const engine_t *e, ucp_worker_h worker, int fd);
void admit_end(ucp_worker_h worker);

// accept.c
uint8_t *listeners_before(void);
int listeners_narrow(engine_t *e, ucp_worker_h worker, uint8_t *ports);

// worker.c
void block_signals(sigset_t *saved);
int say_status(char *err, size_t err_bytes, const char *what, ucs_status_t status);
int ports_left(void);
int worker_open(engine_t *e, ucp_worker_h *worker, int *fd, char *err, size_t err_bytes);
int worker_set_handler(ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t cb, void *arg, char *err, size_t err_bytes);
int worker_set_handlers(engine_t *e, ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t cb, void *arg, char *err, size_t err_bytes);
void worker_close(ucp_worker_h worker);

// connect_timeout.c
int connect_watch_start(engine_t *e);
void connect_watch_end(engine_t *e);

#endif
