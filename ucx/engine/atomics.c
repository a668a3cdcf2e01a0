// Atomic operations on words of the heap, with the CPU's own instructions: the CPU's other users of the
// same words (sync/atomic in Go) and this engine are one domain of atomicity.
#include "compute.h"

#define APPLY(type)                                                                                      \
    do {                                                                                                 \
        type *w = word;                                                                                    \
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
        old = __atomic_load_n(w, __ATOMIC_SEQ_CST);                                                      \
        do                                                                                               \
            v = (type)word_changed(op, bytes, old, operand);                                             \
        while (v != old && !__atomic_compare_exchange_n(w, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        return old;                                                                                      \
    } while (0)

// word_apply updates an aligned word and returns its old value, zero-extended.
uint64_t word_apply(void *word, unsigned op, unsigned bytes, uint64_t operand, uint64_t cond)
{
    if (bytes == 8)
        APPLY(uint64_t);
    else
        APPLY(uint32_t);
}

// Floating-point numbers compare as Go's min and max have it: a NaN wins, and -0 is below 0. Those of 4
// bytes are widened and narrowed, which is exact.

static double float_min(double a, double b)
{
    if (a != a || b != b)
        return a + b;
    if (a == b)
        return __builtin_signbit(a) ? a : b;
    return a < b ? a : b;
}

static double float_max(double a, double b)
{
    if (a != a || b != b)
        return a + b;
    if (a == b)
        return __builtin_signbit(a) ? b : a;
    return a > b ? a : b;
}

static double float_changed(unsigned op, double a, double b)
{
    return op == WORD_MIN_FLOAT ? float_min(a, b) : float_max(a, b);
}

static uint64_t changed8(unsigned op, uint64_t old, uint64_t operand)
{
    double a, b;
    memcpy(&a, &old, sizeof a);
    memcpy(&b, &operand, sizeof b);
    a = op == WORD_ADD_FLOAT ? a + b : float_changed(op, a, b);
    memcpy(&old, &a, sizeof a);
    return old;
}

static uint64_t changed4(unsigned op, uint32_t old, uint32_t operand)
{
    float a, b;
    memcpy(&a, &old, sizeof a);
    memcpy(&b, &operand, sizeof b);
    a = op == WORD_ADD_FLOAT ? a + b : (float)float_changed(op, a, b);
    memcpy(&old, &a, sizeof a);
    return old;
}

static int64_t extended(unsigned bytes, uint64_t v)
{
    return bytes == 8 ? (int64_t)v : (int32_t)v;
}

static uint64_t narrowed(unsigned bytes, uint64_t v)
{
    return bytes == 8 ? v : (uint32_t)v;
}

// word_changed returns what op, one of those from WORD_MIN on, makes of a word whose value is old.
uint64_t word_changed(unsigned op, unsigned bytes, uint64_t old, uint64_t operand)
{
    operand = narrowed(bytes, operand);
    switch (op) {
    case WORD_MIN:
        return extended(bytes, operand) < extended(bytes, old) ? operand : old;
    case WORD_MAX:
        return extended(bytes, operand) > extended(bytes, old) ? operand : old;
    case WORD_MIN_UNSIGNED:
        return operand < old ? operand : old;
    case WORD_MAX_UNSIGNED:
        return operand > old ? operand : old;
    }
    return bytes == 8 ? changed8(op, old, operand) : changed4(op, (uint32_t)old, (uint32_t)operand);
}
