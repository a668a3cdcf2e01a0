// Own bytes over newer ones. Bytes are the unit: neighbours in one word may belong to different PEs.
#include <string.h>

#include "pager.h"

// merge_bytes replaces the bytes of own that equal twin's by latest's. The compiler makes vectors of the loop.
__attribute__((optimize("O3"))) void merge_bytes(char *own, char *twin, const char *latest, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        own[i] = own[i] == twin[i] ? latest[i] : own[i];
}

int64_t first_difference(const char *a, const char *b, uint64_t n)
{
    enum { CHUNK = 64 };
    uint64_t i = 0;
    while (i + CHUNK <= n && !memcmp(a + i, b + i, CHUNK))
        i += CHUNK;
    for (; i < n; i++)
        if (a[i] != b[i])
            return (int64_t)i;
    return -1;
}

int64_t last_difference(const char *a, const char *b, uint64_t n)
{
    enum { CHUNK = 64 };
    while (n >= CHUNK && !memcmp(a + n - CHUNK, b + n - CHUNK, CHUNK))
        n -= CHUNK;
    for (; n > 0; n--)
        if (a[n - 1] != b[n - 1])
            return (int64_t)n - 1;
    return -1;
}
