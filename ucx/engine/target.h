// Layer 3: what an engine does for other PEs, on its service worker. No function of this layer waits, or uses a
// channel of this PE.
#ifndef ENGINE_TARGET_H
#define ENGINE_TARGET_H

#include "state.h"

// inbound.c
inbound_t **find_inbound(engine_t *e, uint64_t key);
inbound_t *add_inbound(engine_t *e, uint64_t key);
void free_inbound(inbound_t *in);
void remove_inbound(engine_t *e, inbound_t *in);
void hold_early(engine_t *e, inbound_t *in, uint32_t seq, const void *header, size_t header_n, const void *data, size_t n);

// The queue of notes of a PE, as pgas/transport/shm has it.
enum { NOTE_QUEUE_CAP = 512, NOTE_QUEUE_ENTRIES = 4096 };

struct note_queue {
    uint64_t tail __attribute__((aligned(128)));
    uint64_t taken __attribute__((aligned(128)));
    uint64_t overflow __attribute__((aligned(128)));
    uint32_t space_wanted __attribute__((aligned(128)));
};

struct note_entry {
    uint64_t state, stamp, bytes, off;
    uint64_t unused[4];
};

// note_stamp returns the stamp of a note, as transport.StampOf.
static inline uint64_t note_stamp(uint32_t tag, uint32_t pe)
{
    return (uint64_t)tag << 32 | pe;
}

// note_queue.c
uint64_t note_push(char *heap, uint64_t queue, uint64_t stamp, uint64_t bytes, uint64_t off);
int note_publish_overflow(char *heap, uint64_t queue, uint32_t n);
int note_arrived(engine_t *e, inbound_t *in, uint32_t tag, uint64_t bytes, uint64_t off);
void notes_drain(engine_t *e);
void engine_refill(engine_t *e);
void notes_free(engine_t *e);

// heap_keys.c
void engine_key(engine_t *e, uint64_t off, char *bytes);
void engine_drop_chunks(engine_t *e);

// target.c
ucs_status_t on_request(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucp_am_recv_param_t *param);
int engine_deliver(engine_t *e, const void *message, size_t bytes);
unsigned serve_once(engine_t *e);
void serve_free(engine_t *e);

// heartbeat.c
ucs_status_t on_pulse(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucp_am_recv_param_t *param);
void engine_watch(engine_t *e, uint32_t pe, const void *address, size_t address_bytes, int witness);
int64_t heartbeat_tick(engine_t *e);
void heartbeat_free(engine_t *e);

#endif
