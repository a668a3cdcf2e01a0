// SipHash-2-4 with a result of 128 bits, as J.-P. Aumasson and D. J. Bernstein specify it: a keyed hash for
// short messages. Without the key its results look like random numbers, and cannot be computed for a new message.
#include <endian.h>

#include "compute.h"

static uint64_t turned(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

static void rounds(uint64_t v[4], int n)
{
    while (n-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = turned(v[1], 13) ^ v[0];
        v[3] = turned(v[3], 16) ^ v[2];
        v[0] = turned(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = turned(v[1], 17) ^ v[2];
        v[3] = turned(v[3], 21) ^ v[0];
        v[2] = turned(v[2], 32);
    }
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

// sip_hash writes the hash of n bytes under key to out. Words of key and out are numbers: the specification's
// bytes, the first the least.
void sip_hash(const uint64_t key[2], const void *bytes, size_t n, uint64_t out[2])
{
    uint64_t v[4] = {
        key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee,
        key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573,
    };
    uint64_t word, last = (uint64_t)n << 56;
    const unsigned char *p = bytes;
    size_t left = n;
    for (; left >= sizeof word; left -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        absorb(v, le64toh(word));
    }
    for (size_t i = 0; i < left; i++)
        last |= (uint64_t)p[i] << (8 * i);
    absorb(v, last);
    v[2] ^= 0xee;
    rounds(v, 4);
    out[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    rounds(v, 4);
    out[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
}
