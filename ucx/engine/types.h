// What C and Go share: sizes, settings, and the structures that Go reads and appends to.
//
// Locks, outermost first: engine.list (the set of channels), channel.lock, engine.serving. None is held
// while sleeping, but channel.lock by a thread that waits on that channel.
#ifndef ENGINE_TYPES_H
#define ENGINE_TYPES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <ucp/api/ucp.h>

#if UCP_API_VERSION < UCP_VERSION(1, 13)
#error "the headers of UCX are older than 1.13: install libucx-dev 1.13 or newer"
#endif

#include "compute.h"

enum {
    SMALL_MAX = 8 << 10,       // a put up to this size is copied into the lane's buffer
    BUFFER_BYTES = 16 << 10,   // of one message of small operations
    PIECE_BYTES = 64000,       // of one message of a large put or get: with its heads, one packet of the kernel's
    UNACKED_MAX = 8 << 20,     // bytes on a lane that its target has not said it has applied
    GET_BYTES_MAX = 4 << 20,   // bytes on a lane that have been asked for and have not come
    PENDING_MAX = 256,         // messages of a lane that UCX has not sent yet
    MARKS = 16,                // requests for an acknowledgement on their way
    SLOTS = 2048,              // answers that a channel waits for
    FETCHES_MAX = SLOTS / 2,   // of these, old values that the program has not asked for yet: the others stay usable
    CHUNK_BYTES = 64 << 20,    // of the heap are registered at a time
    NATIVE_MAX = 256,          // operations of UCX's own on their way on a lane
    ZCOPY_MAX = 64,            // sources of puts that UCX may be reading at a time, on a lane
    NOTE_SMALL_MAX = 15 << 10, // a put up to this size is copied into the lane's buffer, to leave at once with its note
    NOTES_MAX = 2048,          // notes on a lane that have not found room at their target
    SLOT_BYTES = 64,           // a get up to this size needs no pinned destination
    STACK_MAX = 128 << 10,     // no variable on a goroutine's stack is larger
};

// Numbers of 32 bits wrap. Tests start them shortly before they wrap. Tests of other packages set this for it.
#ifndef FIRST_NUMBER
#define FIRST_NUMBER 0
#endif

// Results of the waiting calls.
enum {
    ENGINE_DONE,
    ENGINE_AGAIN,  // the time is up: check the context, call again
    ENGINE_WANTED, // another goroutine wants the channel: let it in, call again
    ENGINE_LOST,   // something could not be completed: channel.lost_pe and lost_status say what
};

// How gets and large puts go.
enum rma_choice { RMA_AUTO, RMA_AM, RMA_NATIVE };

// A source is a range of addresses that connections may come from: those that begin with the given bits.
struct engine_source {
    uint8_t family; // AF_INET or AF_INET6
    uint8_t bits;
    uint8_t bytes[16]; // as on the network
};

enum { OWN_MAX = 16 };

// serve_event is an event of a trace: pgas/boot/record has the layout.
struct serve_event {
    int64_t start, took; // nanoseconds of now_ns
    uint64_t zero, served, tag;
};

// contention is boot.Contention: what waiters know of other programs on their CPUs. boot/contention.go has the rules.
struct contention {
    int64_t until; // now_ns until which waiters sleep; 0: they need not
    int64_t span;  // how long that time is, or was
    int64_t ended; // when the load was over
    int64_t clean; // yields of probers since the last loss
    int64_t lost;  // slices that counted, ever
};

// The numbers of its rules.
enum {
    LOST_SLICE_NS = 1000 * 1000,
    CONTENTION_FIRST_SPAN = 8,
    CONTENTION_LONGER_SPAN = 4,
    CONTENTION_LONGEST_SPAN = 64,
    CONTENTION_RECENTLY = 8,
    CONTENTION_PROBE_NS = 20 * 1000 * 1000,
    CONTENTION_CLEAN_YIELDS = 32,
    CONTENTION_SLEEP_COSTS_NS = 64 * 1000,
};

struct engine_config {
    struct serve_event *serve_log; // of the service thread; NULL: it keeps none
    uint64_t *serve_next;          // how many events were to be logged
    uint64_t serve_capacity, serve_tag;
    char *heap;
    uint64_t heap_bytes;
    uint64_t *waiting;      // boot.State.Waiting of this PE
    uint64_t *waiting_for_group; // its WaitingForGroup, or NULL
    uint32_t *doorbell;     // boot.State.Doorbell of this PE
    uint64_t notes;         // where in the heap the queue of notes is; 0: there is none
    uint64_t *failed;       // boot.Header.Failed
    uint64_t *messages;     // counts messages that carry operations, their bytes and the operations; or NULL
    uint64_t key[2];        // of the job: a sender proves that it has it
    uint64_t *accused;      // boot.Header.Accused, or NULL: the launcher is not told
    struct contention *contention; // of this PE, or NULL: it does not ask
    uint32_t *accused_bell; // futex word, bumped and woken after accused
    uint32_t pe;
    uint32_t npes;
    // where the numbers of messages, notes and slots start: the same at all engines of a job
    uint32_t first;
    int64_t spin_ns;                     // how long a thread polls before it sleeps
    int64_t peer_timeout_ns;             // how long a peer that owes an answer may be silent
    uint32_t connections;                // that a channel keeps at most, if it can; and the service worker
    int oversubscribed;                  // more PEs than CPUs: yield between polls
    int rma;                             // enum rma_choice
    int nic;                             // atomics are UCX's own
    int old_protocols;                   // with UCX's new ones, atomics that it emulates fail
    const char *devices;                 // that UCX may use besides cards: interfaces, separated by commas; NULL: all
    const struct engine_source *sources; // addresses whose connections are accepted; none: any
    uint32_t nsources;
    const struct engine_source *hosts; // addresses of the job's hosts, where UCX connects to; none: the sources
    uint32_t nhosts;
    struct engine_source own[OWN_MAX]; // addresses of this host that UCX is to take on their interfaces (addresses.c)
    uint32_t nown;
    uint32_t unfiltered; // as if the kernel took no filter for a socket (admit.c)
};

// The accused word holds a PE, the PE that accuses it from ACCUSER_SHIFT on, and flags: boot/accuse.go reads it.
#define ACCUSER_SHIFT 20
#define ACCUSED_CERTAINLY ((uint64_t)1 << 62) // others answer the accuser
#define ACCUSED_SILENT ((uint64_t)1 << 61)    // for the time-out; otherwise a connection to it has ended
#define ACCUSED_LARGE_LOST ((uint64_t)1 << 60) // small packets reach its host, and large ones do not
#define ACCUSED ((uint64_t)1 << 63)

static inline uint64_t accusation(uint32_t pe, uint32_t accuser, uint64_t flags)
{
    return ACCUSED | flags | (uint64_t)accuser << ACCUSER_SHIFT | pe;
}

// watched reports whether a PE sleeps whose boot.State.Waiting is w, and on which bytes of its heap: all of them if *hi
// is UINT64_MAX. boot/doorbell.go has the codes.
static inline int watched(uint64_t w, uint64_t *lo, uint64_t *hi)
{
    enum { ANY_WORD = 1 };
    uint64_t bytes = (w & 7) ? (uint64_t)1 << 3 * (w & 7) : 8;
    *lo = w == ANY_WORD ? 0 : w & ~(bytes - 1);
    *hi = w == ANY_WORD ? UINT64_MAX : *lo + bytes;
    return w != 0;
}

// The comparisons of a wait, in the order of transport.Cmp.
enum cmp { CMP_EQ, CMP_NE, CMP_GT, CMP_GE, CMP_LT, CMP_LE };

// blocked is boot.Blocked: what a PE is blocked in, for reports. op is written last.
struct blocked {
    uint32_t op; // 0: nothing
    int32_t peer;
    uint64_t seq;
    int64_t since; // Unix nanoseconds
    uint32_t team;
};

typedef struct engine engine_t;
typedef struct channel channel_t;
typedef struct lane lane_t;

// sendbuf is the memory of one message: it lives until UCX has sent it.
typedef struct sendbuf {
    struct sendbuf *next;
    lane_t *lane;
    uint64_t handle;  // of the zero-copy put whose data it carries, or 0
    char *piece;      // data of its own, or NULL
    const void *rest; // of a message that waits: its data, if its head is in the header
    size_t header_bytes, rest_bytes;
    char data[BUFFER_BYTES];
} sendbuf_t;

// What happens to a slot when its answer comes.
enum detached {
    AWAITED,       // a thread waits, and releases it
    DETACHED,      // no thread waits: its end counts at the lane and releases it
    PENDING_FETCH, // no thread waits: its end counts at the lane, Go takes the value and releases it
};

// slot is one expected answer.
typedef struct slot {
    uint32_t token; // its index, and above it a count of its uses: a late answer finds another count
    int32_t status; // UCS_INPROGRESS until the answer is complete
    uint32_t pe;
    uint32_t detached; // enum detached
    channel_t *channel;
    uint32_t native; // UCX writes value and says when: until then the slot is not free, even if the lane fails
    uint64_t left;   // bytes that have not come
    uint64_t bytes;
    uint64_t value;
    char *dst;            // where a get goes, or room
    uint64_t block, step; // of a strided get: bytes of a block, and between two starts; 0 if it goes in one piece
    char *bounce;         // stands in for dst while that may move
    struct slot *next;
    char room[SLOT_BYTES];
} slot_t;

// mark remembers how many bytes had been sent when an acknowledgement was asked for.
struct mark {
    uint32_t seq;
    uint64_t bytes;
};

// spans are intervals of a heap; the last of SPANS may be wider than what it stands for.
enum { SPANS = 8 };

struct span {
    uint64_t start, end;
};

struct spans {
    uint32_t used;
    struct span list[SPANS];
};

// kept is the head of a copy of a message.
struct kept {
    uint32_t seq, bytes;
};

// lane is what one channel has with one PE. All fields are guarded by channel.lock; Go appends to buf. It lives as long
// as its channel. Its connection may be closed while nothing is outstanding (renew.c): then ep and out are NULL, and
// all fields behind ep are as they were before the lane was first opened.
struct lane {
    channel_t *channel;
    uint32_t pe;
    int32_t status; // UCS_OK while the peer is believed to live
    void *address;  // of the PE's service worker
    size_t address_bytes;
    uint32_t suspected; // a heartbeat decides whether its peer has failed
    uint32_t lost;      // operations were dropped since the last report
    uint32_t told;      // a loss has been reported: every later quiet reports it too
    uint32_t closing;   // ep has been closed or is being closed

    uint64_t zcopy_issued;           // zero-copy puts ever issued: handles, from 1
    uint64_t zcopy_released;         // those up to this number may be used again
    uint32_t zcopy_parts[ZCOPY_MAX]; // of the last ones: what UCX still reads

    // Copies of messages that went by the service lane and are not known to be applied, each behind a struct kept.
    char *kept;
    uint32_t kept_bytes;
    uint32_t kept_room;
    uint32_t kept_acked; // acked as service_lane_overdue has last seen it
    int64_t kept_ns;     // when service_lane_overdue first saw that, or 0

    ucp_ep_h ep;
    sendbuf_t *out; // being filled
    uint32_t used;  // bytes of out->data, the head included
    uint32_t records;
    uint32_t replies;          // of these, those that will be answered
    // seq of the last message that went by the service lane, or of one that has been acknowledged
    uint32_t service_lane_seq;
    uint64_t born;             // engine.ticks when the first record went in
    int64_t left_ns;           // when notes or signals have last left at once
    int64_t silent_ns;         // how long waits have waited without an answer

    uint32_t ticked_sent, ticked_acked; // sent and acked as the service thread has last seen them
    int64_t still_ns, unacked_ns;       // and since when

    uint32_t number;                   // of the lanes of this PE to that one
    uint32_t open;                     // the target has acknowledged the opening
    uint32_t told_bye;                 // the target has been told to forget the lane
    uint64_t tags[2];                  // of requests, of replies
    sendbuf_t *waiting, **waiting_end; // messages to send once it is open, in order

    uint32_t sent;          // seq of the last message
    uint32_t acked;         // seq of the last message known to be applied
    uint32_t ack_requested; // seq of the last message that asked for an acknowledgement, or of one that has it
    uint32_t pending;       // messages that UCX still holds
    uint32_t detached;      // detached slots in use
    uint64_t get_bytes;     // bytes of gets that have not come
    uint64_t sent_bytes;    // ever
    uint64_t acked_bytes;   // of these, known to be applied
    struct mark marks[MARKS];
    uint32_t first_mark, marks_used;

    int32_t use_native;    // 0 not known yet, 1 yes, -1 no
    uint32_t native;       // requests of UCX's own operations on their way
    uint32_t native_dirty; // some may not be complete there
    uint32_t fenced;       // messages up to this seq come before native operations; or one that has been acknowledged
    struct key *keys;      // by chunk
    uint64_t discard;      // where unwanted old values go

    // Bytes that may not be written yet: see ordering.c.
    struct spans message_writes; // by messages that no native operation has waited for
    struct spans native_puts;    // by native puts
    struct spans native_atomics; // by native atomics

    uint32_t notes_sent;     // notes ever issued
    uint32_t notes_credited; // those up to this number have found room at the target
    uint32_t notes_marked;   // noted when an acknowledgement was last asked for
};

struct channel {
    uint32_t lock;    // 0 free, 1 taken: by Go, or by the service thread's tick
    uint32_t dirty;   // something may have to leave or to be acknowledged
    uint32_t want;    // goroutines that want the lock while one waits under it
    uint32_t asleep;  // a waiter sleeps under the lock: kick it
    uint32_t batch;   // what is gathered may wait for long: the program will flush when it needs it
    uint32_t skipped; // ticks that did not let it out, for that
    uint32_t vain;    // sleeps of waiters since anything has arrived
    uint32_t muted;   // event descriptors that have ended these in vain: bits of sleep_for_arrival
    engine_t *engine;
    ucp_worker_h worker;
    int fd;          // event fd of worker
    int kick;        // eventfd that ends the sleep of a waiter
    lane_t **lanes;  // by PE, NULL until used
    lane_t **opened; // in the order of their first opening
    uint32_t nopened;
    uint32_t connected; // lanes that have been connected since the worker was made
    uint32_t renew_at;  // at so many of them the worker is replaced
    int64_t renew_after_ns; // and not before
    uint32_t reached;   // a PE has answered on a worker that has been replaced
    uint32_t renewing;  // the worker is being replaced: its endpoints end
    uint32_t renewed;   // how often it has been replaced
    uint32_t cursor; // in opened, of a quiet of all
    slot_t *slots;
    slot_t *free_slots;
    sendbuf_t *free_bufs;
    uint32_t free_count;
    uint32_t answered; // bumped by every complete answer
    uint32_t polls;    // by waiters, however short their stays: every so often one serves
    int64_t ticked_ns; // when the service thread last looked

    uint32_t lost_pe; // valid after ENGINE_LOST
    int32_t lost_status;
};

// strided is a strided transfer: count blocks of the given bytes, whose starts are local_stride bytes apart in
// this process and remote_stride bytes in the heap of the target.
struct strided {
    uint64_t bytes, count, local_stride, remote_stride;
};

// What one operation on a remote word needs.
struct word_args {
    uint64_t off, operand, cond;
    uint32_t op, bytes;
    uint32_t notified, tag; // whether a note with that tag follows it
};

#endif
