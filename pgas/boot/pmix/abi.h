#ifndef PGAS_PMIX_ABI_H
#define PGAS_PMIX_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The part of PMIx's binary interface that client.c uses.

enum {
    ABI_BOOL = 1,
    ABI_STRING = 3,
    ABI_UINT32 = 14,
    ABI_GLOBAL = 3, // a scope: processes of every host
};

static const uint32_t ABI_RANK_WILDCARD = UINT32_MAX - 1;

struct pmix_proc {
    char nspace[256];
    uint32_t rank;
};

// pmix_value has a union as large as its largest member: two pointers and a character.
struct pmix_value {
    uint16_t type;
    union {
        bool flag;
        char *string;
        uint32_t uint32;
        void *largest[3];
    } data;
};

struct pmix_info {
    char key[512];
    uint32_t flags;
    struct pmix_value value;
};

#endif
