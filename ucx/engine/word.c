// Atomic operations on words of the heap, with the CPU's own instructions: the CPU's other users of the
// same words (sync/atomic in Go) and this engine are one domain of atomicity.
#include "private.h"

#define APPLY(type)                                                                                      \
    do {                                                                                                 \
        type *w = at;                                                                                    \
        type v = (type)operand, old = (type)cond;                                                        \
        switch (op) {                                                                                    \
        case WORD_FETCH:                                                                                 \
            return __atomic_load_n(w, __ATOMIC_SEQ_CST);                                                 \
        case WORD_SET:                                                                                   \
        case WORD_SWAP:                                                                                  \
            return __atomic_exchange_n(w, v, __ATOMIC_SEQ_CST);                                          \
        case WORD_CAS:                                                                                   \
            __atomic_compare_exchange_n(w, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
            return old;                                                                                  \
        case WORD_ADD:                                                                                   \
            return __atomic_fetch_add(w, v, __ATOMIC_SEQ_CST);                                           \
        case WORD_AND:                                                                                   \
            return __atomic_fetch_and(w, v, __ATOMIC_SEQ_CST);                                           \
        case WORD_OR:                                                                                    \
            return __atomic_fetch_or(w, v, __ATOMIC_SEQ_CST);                                            \
        case WORD_XOR:                                                                                   \
            return __atomic_fetch_xor(w, v, __ATOMIC_SEQ_CST);                                           \
        }                                                                                                \
    } while (0)

// word_apply updates the aligned word at and returns its old value, zero-extended.
uint64_t word_apply(void *at, unsigned op, unsigned bytes, uint64_t operand, uint64_t cond)
{
    if (bytes == 8)
        APPLY(uint64_t);
    else
        APPLY(uint32_t);
    return 0;
}
