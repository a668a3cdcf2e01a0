// What C of other packages sees of an engine: a way to other PEs' memory for calls that must not wait for Go, such
// as those of the pager of coherent memory. This header includes no other of the engine.
#ifndef ENGINE_OUTSIDE_H
#define ENGINE_OUTSIDE_H

#include <stdint.h>

// outside reads the symmetric heaps of other PEs. An offset is one in the heap of that PE.
//
// A function returns when its result is there: 0, or -1 if the PE is lost or the engine ends. Any thread may call them,
// one call at a time. They never call Go, and wait for nothing but messages, which targets answer without Go.
//
// interrupted, if it is not NULL, lets a caller give up: a call that takes long asks it about once in a millisecond.
// When it returns another value than 0, the call ends with OUTSIDE_INTERRUPTED, and its result is undefined: an atomic
// may have been applied. A call that UCX's own remote memory access carries out does not ask.
enum { OUTSIDE_INTERRUPTED = 1 };

// outside_read is a word to be raised and bytes to be copied, of one PE. The bytes are those after the word has been
// raised.
struct outside_read {
    int pe;
    uint64_t word, operand, old; // as of fetch_max
    uint64_t offset, bytes;      // as of get; at least 128 bytes
    void *to;
    uint64_t unless; // the bytes are not waited for, and are undefined, if the old value has one of these bits
};

struct outside {
    // get copies any number of bytes to memory of this process. An access to that memory must not need the caller, as a
    // page fault that the caller is to serve does.
    int (*get)(struct outside *o, int pe, uint64_t offset, void *to, uint64_t bytes, int (*interrupted)(void));
    // read does what fetch_max and then get do. It takes the time of one message, unless UCX's own operations carry it
    // out or there are more than 4 MiB.
    int (*read)(struct outside *o, struct outside_read *r, int (*interrupted)(void));
    // fetch_max replaces the aligned 64-bit word at offset by the maximum of it and operand, as unsigned numbers, and
    // stores in *old what it was.
    int (*fetch_max)(struct outside *o, int pe, uint64_t offset, uint64_t operand, uint64_t *old, int (*interrupted)(void));
};

#endif
