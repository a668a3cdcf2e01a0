// What travels between two PEs.
//
// A lane (one channel of one PE, to one other PE) opens with a message and its answer: auth.c describes both.
// Each message after that has the lane's tag.
//
// A request is one active message from a lane to the service worker of the other PE: a wire_head and then
// records, applied there in order. A put of a large
// payload has its head and records in the header of the active message and the payload as its data, so
// that the payload goes from the user's memory without a copy.
//
// A reply is one active message back to the channel's origin worker: a wire_head whose seq says which
// requests have been applied, and records with the values that were asked for.
//
// Both ends are the same program on the same kind of machine: words travel as they lie in memory.
#ifndef ENGINE_WIRE_H
#define ENGINE_WIRE_H

#include "outside.h"

#include <stdint.h>

enum { AM_REQUEST = 1, AM_REPLY = 2, AM_PULSE = 3 }; // heartbeat.c has the last

enum {
    WIRE_ACK = 1, // request: answer when everything up to this message is applied
    WIRE_BYE = 2, // request: the channel closes, forget the lane
    WIRE_OPEN = 4, // request: struct wire_open follows, and nothing else. reply: the lane is open
    WIRE_REJECTED = 8, // reply: the target could not apply a record of the request, and has not
};

struct wire_head {
    uint32_t seq;     // request: number of this message on its lane, from 1. reply: last one applied
    uint16_t records; // how many follow
    uint16_t flags;
    uint32_t pe;      // the sender
    uint32_t lane;    // request: number of the lane from pe to this PE, from 1, never used twice. reply: notes of
                      // the lane that have found room: credits
    uint64_t tag;     // known to the ends of the lane only: one for requests, another for replies
};

struct wire_open {
    uint64_t nonce[2]; // of the origin
    uint64_t proof[2];
};

enum {
    REC_PUT = 1, // n bytes follow, for off
    REC_BODY,    // as REC_PUT, but the bytes are the data of the active message
    REC_POST,    // struct wire_post follows: update the word at off
    REC_FETCH,   // struct wire_fetch follows: update the word at off, answer with its old value
    REC_GET,     // struct wire_get follows: answer with n bytes from off
    REC_KEY,     // struct wire_get follows: answer with a struct wire_key for the chunk at off
    REC_VALUE,   // reply: slot n has the value off
    REC_BYTES,   // reply: struct wire_get follows, then n bytes for off of its slot
    REC_STREAM,  // as REC_BYTES, but the bytes are the data of the active message
    REC_SCATTER, // struct wire_stride follows, then n bytes: blocks, the first for off
    REC_GATHER,  // struct wire_get and struct wire_stride follow: answer with n bytes, blocks from off on
    REC_SPREAD,  // as REC_SCATTER, but what follows is the data of the active message
    REC_NOTE,    // struct wire_post follows: leave a note of tag n about operand bytes at off
};

struct wire_rec {
    uint8_t kind;
    uint8_t op;    // of a word: enum word_op. of REC_GET: 1 if the bytes are to be read before the next record
    uint8_t bytes; // of a word: 4 or 8
    uint8_t zero;
    uint32_t n;
    uint64_t off;
};

// The atomic operations, in the order of transport.Op.
enum word_op {
    WORD_FETCH, WORD_SET, WORD_SWAP, WORD_CAS, WORD_ADD, WORD_AND, WORD_OR, WORD_XOR,
    // no CPU and no NIC has an instruction for these
    WORD_MIN, WORD_MAX, WORD_MIN_UNSIGNED, WORD_MAX_UNSIGNED, WORD_ADD_FLOAT, WORD_MIN_FLOAT, WORD_MAX_FLOAT,
    WORD_OPS
};

struct wire_post {
    uint64_t operand;
};

struct wire_fetch {
    uint64_t operand;
    uint64_t cond;
};

struct wire_get {
    uint32_t slot;
    uint32_t zero;
    uint64_t pos; // where in the slot's destination
};

// Blocks lie step bytes apart in the heap, and one behind the other in a message.
struct wire_stride {
    uint32_t block;
    uint32_t zero;
    uint64_t step;
};

// Native access to a chunk: where it is and what UCX has packed about it, of the given length. KEY_BYTES
// hold both; no length says that there is no such access.
struct wire_key {
    uint64_t base;
    uint32_t bytes;
    uint32_t zero;
};

enum { KEY_BYTES = 512 };

#define WIRE_PAD(n) (((n) + 7u) & ~(size_t)7)

#endif
