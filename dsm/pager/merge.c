// Own bytes are those in which a copy differs from its twin. They are told apart by the byte, because neighbours in one
// word may belong to different PEs.
//
// Two operations need them. A release writes own bytes over the latest version, and the result becomes both copy and
// twin. A fetch writes own bytes over what it brought, which becomes the twin. Each is written three times: for vectors
// of 32 bytes, for words, and by the byte, which is the plain statement that the tests hold the others to.
#include <string.h>

#include "pager.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// note_range extends range by the changed byte i.
static inline void note_range(int64_t range[2], int64_t first, int64_t last)
{
    if (range[0] < 0)
        range[0] = first;
    range[1] = last;
}

static void release_bytes(char *own, char *twin, const char *latest, uint64_t from, uint64_t n, int64_t range[2])
{
    for (uint64_t i = from; i < n; i++) {
        if (own[i] != twin[i]) {
            note_range(range, i, i);
            twin[i] = own[i];
        } else if (latest) {
            own[i] = twin[i] = latest[i];
        }
    }
}

static void fetch_bytes(char *own, char *twin, const char *latest, uint64_t from, uint64_t n)
{
    for (uint64_t i = from; i < n; i++) {
        if (own[i] == twin[i])
            own[i] = latest[i];
        twin[i] = latest[i];
    }
}

static inline uint64_t load(const char *at)
{
    uint64_t w;
    memcpy(&w, at, sizeof w);
    return w;
}

static inline void store(char *at, uint64_t w)
{
    memcpy(at, &w, sizeof w);
}

// own_mask returns 0xff in each byte in which a and b differ.
static inline uint64_t own_mask(uint64_t a, uint64_t b)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7full;
    uint64_t x = a ^ b;
    uint64_t high = (((x & low) + low) | x) & ~low; // the high bit of each byte that is not 0
    return (high >> 7) * 0xff;
}

static uint64_t release_words(char *own, char *twin, const char *latest, uint64_t n, int64_t range[2])
{
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t mine = load(own + i), was = load(twin + i);
        if (mine == was) {
            if (latest) {
                store(own + i, load(latest + i));
                store(twin + i, load(latest + i));
            }
            continue;
        }
        release_bytes(own, twin, latest, i, i + 8, range);
    }
    return i;
}

static uint64_t fetch_words(char *own, char *twin, const char *latest, uint64_t n)
{
    uint64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t mine = load(own + i), new = load(latest + i);
        uint64_t mask = own_mask(mine, load(twin + i));
        store(own + i, (mine & mask) | (new & ~mask));
        store(twin + i, new);
    }
    return i;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t release_avx2(char *own, char *twin, const char *latest, uint64_t n, int64_t range[2])
{
    uint64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i mine = _mm256_loadu_si256((const __m256i *)(own + i));
        __m256i was = _mm256_loadu_si256((const __m256i *)(twin + i));
        __m256i same = _mm256_cmpeq_epi8(mine, was);
        uint32_t changed = ~(uint32_t)_mm256_movemask_epi8(same);
        if (changed)
            note_range(range, i + __builtin_ctz(changed), i + 31 - __builtin_clz(changed));
        else if (!latest)
            continue;
        if (latest)
            mine = _mm256_blendv_epi8(mine, _mm256_loadu_si256((const __m256i *)(latest + i)), same);
        _mm256_storeu_si256((__m256i *)(own + i), mine);
        _mm256_storeu_si256((__m256i *)(twin + i), mine);
    }
    return i;
}

__attribute__((target("avx2"))) static uint64_t fetch_avx2(char *own, char *twin, const char *latest, uint64_t n)
{
    uint64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i mine = _mm256_loadu_si256((const __m256i *)(own + i));
        __m256i was = _mm256_loadu_si256((const __m256i *)(twin + i));
        __m256i new = _mm256_loadu_si256((const __m256i *)(latest + i));
        _mm256_storeu_si256((__m256i *)(own + i), _mm256_blendv_epi8(mine, new, _mm256_cmpeq_epi8(mine, was)));
        _mm256_storeu_si256((__m256i *)(twin + i), new);
    }
    return i;
}
#endif

// kernel_permitted reports whether this processor has what k needs.
int kernel_permitted(enum kernel k)
{
    if (k != KERNEL_AVX2)
        return 1;
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") != 0;
#else
    return 0;
#endif
}

static enum kernel choose(enum kernel k)
{
    if (k != KERNEL_BEST)
        return k;
    return kernel_permitted(KERNEL_AVX2) ? KERNEL_AVX2 : KERNEL_WORDS;
}

// merge_release writes own bytes over latest, or over the twin if latest is NULL, into the copy and the twin. It stores
// the first and last own byte in range, or -1 twice, and reports whether there is one.
int merge_release(enum kernel k, char *own, char *twin, const char *latest, uint64_t n, int64_t range[2])
{
    uint64_t done = 0;
    range[0] = range[1] = -1;
    k = choose(k);
#if defined(__x86_64__)
    if (k == KERNEL_AVX2)
        done = release_avx2(own, twin, latest, n, range);
#endif
    if (k == KERNEL_WORDS)
        done = release_words(own, twin, latest, n, range);
    release_bytes(own, twin, latest, done, n, range);
    return range[0] >= 0;
}

// merge_fetch writes latest into the copy, but for own bytes, and into the twin.
void merge_fetch(enum kernel k, char *own, char *twin, const char *latest, uint64_t n)
{
    uint64_t done = 0;
    k = choose(k);
#if defined(__x86_64__)
    if (k == KERNEL_AVX2)
        done = fetch_avx2(own, twin, latest, n);
#endif
    if (k == KERNEL_WORDS)
        done = fetch_words(own, twin, latest, n);
    fetch_bytes(own, twin, latest, done, n);
}
