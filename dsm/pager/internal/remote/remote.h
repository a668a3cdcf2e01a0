#ifndef REMOTE_H
#define REMOTE_H

#include "../../../../ucx/engine/outside.h"

typedef struct remote {
    struct outside way; // first: the address of a remote is that of its way
    char **heaps;
    uint32_t pes;
    uint64_t delay_ns;
    uint32_t closed;  // calls wait at the gate
    uint32_t held;    // gets that have their bytes wait, too
    uint32_t waiting; // calls that do
    uint64_t lost;    // 1 + the PE that does not answer
    uint64_t gets, atomics;
} remote_t;

remote_t *remote_new(uint32_t pes);
void remote_free(remote_t *r);

#endif
