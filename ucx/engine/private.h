// What only the C files of the engine share.
#ifndef ENGINE_PRIVATE_H
#define ENGINE_PRIVATE_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine.h"

enum {
    TICK_NS = 100 * 1000,          // how often channels are looked after
    BATCH_TICKS = 16,              // what a batch gathers leaves by itself at one tick in so many
    LONG_TICK_NS = 800 * 1000,     // how often the service thread looks in while others drive without a pause
    DEEP_NS = 10 * 1000 * 1000,    // idle for so long, it sleeps until something happens
    NAP_NS = 1000 * 1000,          // longest sleep of a waiter before it looks around
    YIELD_NS = 20 * 1000,          // after so much waiting for nothing, whoever is waited for may need this CPU
    CLOCK_EVERY = 16,              // looks between two looks at the clock
    SERVE_EVERY = 8,               // looks at the own worker between two at the service worker, while waiting
    EXPRESS_MAX = 2 << 10,         // a longer message takes longer by express: both ends would be at its one connection
    COPY_MAX = 4 << 10,            // an answer up to this size is copied to where others are gathered
    GATHER_MAX = 15 << 10,         // so many bytes of blocks are gathered in a reply, more in memory of their own
    PACK_MAX = PIECE_BYTES / 2,    // larger blocks are transfers of their own
    HELD_MAX = 4 * UNACKED_MAX,    // bytes of a lane's messages that wait for their turn
};

// reply is the memory of one answer: it lives until UCX has sent it.
typedef struct reply {
    struct reply *next;
    engine_t *engine;
    char *piece; // data besides, or NULL
    uint32_t used;
    uint32_t records;
    char data[BUFFER_BYTES];
} reply_t;

// held is a request that came before its turn.
typedef struct held {
    struct held *next;
    uint32_t seq;
    size_t header_bytes, data_bytes;
    char bytes[];
} held_t;

// inbound is the target's side of a lane.
typedef struct inbound {
    uint64_t key;      // pe above the lane's number; 0 free (numbers start at 1)
    uint64_t tags[2];  // of requests, of replies
    uint32_t applied;  // seq of the last request applied
    uint32_t roomed;   // notes that have found room
    uint32_t spilled;  // notes that have not
    held_t *held;      // sorted by seq
    uint64_t held_bytes;
} inbound_t;

// opened is which lanes of one PE have ever been opened to this one.
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

// express is the way from this PE's service worker to another PE's.
typedef struct express {
    ucp_ep_h ep;
    uint32_t broken;
} express_t;

enum { NONCE_BYTES = 16 }; // of an engine, before UCX's address

// pulse is what a PE knows about whether another lives: heartbeat.c.
typedef struct pulse pulse_t;

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
    reply_t *free_replies;
    struct chunk *chunks; // of the heap, as far as they have been asked for
    express_t *express; // by PE; NULL until used
    uint64_t expressed; // messages that went this way
    uint64_t lost;     // 0, or 1 + the PE that was given up first for its silence, above its status
    uint64_t served;   // requests applied
    uint64_t rejected; // records that were out of bounds or not understood
    uint64_t refused;  // messages that cannot be the job's
    uint64_t nonce[2]; // of this engine
    struct opened *opened; // by PE
    struct spill *spilled, **spilled_end; // notes that have found no room, in order
    uint32_t nspilled;

    // Heartbeats, guarded by serving but for what only the service thread uses.
    pulse_t *pulses;   // the successor comes first
    uint32_t watching; // there are any
    uint32_t answers;  // on their way
    uint64_t next_ping; // its nonce; 0: none has been chosen
    uint32_t relay_hops;    // how far pings go on that others' pings demand
    int64_t relay_until_ns; // and how long
    int64_t doubt_until_ns; // witnesses are asked until then
    int64_t beat_at_ns, next_beat_ns;
    int64_t waits_until_ns; // of the service thread: this PE has waited a moment ago
    uint32_t drives_seen;   // the same

    // Who drives, read by the service thread.
    uint32_t drivers __attribute__((aligned(64))); // threads inside a waiting call
    uint32_t drives;                               // ever
    uint32_t neighbours; // looks for which others are expected to need this CPU, as at the last offer

    // Written by the service thread, read by everybody.
    uint32_t polling __attribute__((aligned(64))); // it sleeps on the worker's event fd
    uint32_t deep;                                 // it sleeps and does not look after channels
    uint64_t ticks;
    int kick; // eventfd that ends its sleep

    pthread_t thread;
    int started;
    uint32_t stop;

    pthread_t dialer; // dial.c
    int dials;        // it has been started
    int dial_stop;    // eventfd that ends it

    pthread_mutex_t list;
    channel_t **channels;
    uint32_t nchannels, channels_cap;
    uint32_t *lanes_to; // lanes ever opened from here, by PE

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

// before says whether message a was sent before message b; numbers wrap.
static inline int before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

// features.c
int context_open(engine_t *e, char *err, size_t err_bytes);

// listen.c
uint8_t *listeners_before(void);
int listeners_narrow(engine_t *e, ucp_worker_h worker, uint8_t *ports);

// proof.c
int random_words(uint64_t *to, size_t n);
void prove_lane(const engine_t *e, const struct lane_name *name, uint64_t proof[2], uint64_t tags[2]);
void refuse(engine_t *e);
int was_opened(const engine_t *e, uint32_t pe, uint32_t lane);
int note_opened(engine_t *e, uint32_t pe, uint32_t lane);
void opened_free(engine_t *e);
// heartbeat.c
ucs_status_t on_pulse(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucp_am_recv_param_t *param);
// Why a PE is given up: a connection to it has ended, it does not answer, or data for it was lost though it does.
enum evidence { CUT, SILENT, SURE };
void engine_give_up(engine_t *e, uint32_t pe, int32_t status, enum evidence evidence);
int engine_has_met(engine_t *e);

// dial.c: connections that do not come about
int dial_start(engine_t *e);
void dial_end(engine_t *e);
void engine_doubt(engine_t *e);
int64_t heartbeat_tick(engine_t *e);
void heartbeat_free(engine_t *e);

// notes.c
int note_arrived(engine_t *e, inbound_t *in, uint32_t tag, uint64_t bytes, uint64_t off);
void notes_settle(engine_t *e);
void notes_free(engine_t *e);
void lane_append_note(lane_t *l, uint32_t tag, uint64_t bytes, uint64_t off);

ucs_status_t on_request(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucp_am_recv_param_t *param);
unsigned serve_once(engine_t *e);
void *service_main(void *arg);
void serve_free(engine_t *e);
inbound_t **find_inbound(engine_t *e, uint64_t key);
void ring_word(engine_t *e, uint64_t off);
void wake_pe(engine_t *e);

// order.c
enum native_kind { NATIVE_PUT, NATIVE_GET, NATIVE_WORD };
void lane_mixes(lane_t *l);
void pass_fence(lane_t *l);
void order_native(lane_t *l, uint64_t off, uint64_t n, enum native_kind kind);

// channel.c
ucs_status_t on_reply(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucp_am_recv_param_t *param);
void lane_send(lane_t *l, int ask);
void lane_leave(lane_t *l);
void lane_ask_again(lane_t *l);
void lane_send_ask(lane_t *l);
void lane_need_room(lane_t *l, uint32_t n);
void lane_append(lane_t *l, struct wire_rec rec, const void *rest, uint32_t n);
void lane_begin(lane_t *l, uint32_t first);
void lane_bye(lane_t *l);
void lane_fail(lane_t *l, int32_t status);
void lane_drop_waiting(lane_t *l);
void note_silence(channel_t *c, lane_t *l, int64_t ns);
void lane_reap(lane_t *l);
int lane_report(lane_t *l);
int lane_clean(const lane_t *l);
void slot_end(channel_t *c, slot_t *s, int32_t status);
void channel_tick(channel_t *c);
int tick_channels(engine_t *e);

slot_t *lane_ask(lane_t *l, unsigned kind, uint64_t off, char *dst, uint32_t n);
slot_t *lane_slot(lane_t *l, char *dst, uint64_t n, int detached);
void lane_ask_room(lane_t *l, uint32_t record, uint32_t n);
void lane_ask_more(lane_t *l, struct wire_rec rec, const void *rest, uint32_t n);
void lane_ask_all(lane_t *l, slot_t *s, uint64_t off, uint64_t at, uint64_t n, int read);
int lane_finish_get(lane_t *l, slot_t *s, char *dst, uint64_t n, int64_t budget_ns, slot_t **slot);

void lane_send_own(lane_t *l, struct wire_rec rec, char *piece, uint32_t n, int ask);
void lane_put_pieces(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value, uint64_t loan);
void lane_put_with(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value);
sendbuf_t *take_buf(channel_t *c);
void give_buf(channel_t *c, sendbuf_t *b);

// express.c
enum way { BY_LANE, SENT, KEPT_BY_UCX };
enum way express_send(lane_t *l, sendbuf_t *b, size_t n);

// lend.c
uint64_t lane_lend_with(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value);
void loan_part(lane_t *l, uint64_t loan);
void loan_part_end(lane_t *l, uint64_t loan);

// strided.c
void move_blocks(char *to, uint64_t to_step, const char *from, uint64_t from_step, uint64_t bytes, uint64_t count);
void slot_scatter(slot_t *s, uint64_t at, const char *from, uint64_t n);

// native.c
int lane_native(lane_t *l);
void lane_native_flush(lane_t *l);
void lane_drop_keys(lane_t *l);
uint64_t native_put(lane_t *l, uint64_t off, const char *src, uint64_t n, uint64_t loan);
uint64_t native_get(lane_t *l, uint64_t off, char *dst, uint64_t n, int wait);
void wait_native(lane_t *l, uint32_t left);
void engine_key(engine_t *e, uint64_t off, char *bytes);
void engine_drop_chunks(engine_t *e);

// wait.c
typedef int (*condition)(channel_t *c, lane_t *l, uint64_t arg);
int drive(channel_t *c, lane_t *l, condition done, uint64_t arg, int64_t budget_ns, int interruptible);
void drain(int fd);

// word.c
uint64_t word_apply(void *at, unsigned op, unsigned bytes, uint64_t operand, uint64_t cond);
uint64_t word_changed(unsigned op, unsigned bytes, uint64_t old, uint64_t operand);

#endif
