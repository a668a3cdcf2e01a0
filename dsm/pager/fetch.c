// How the pager gets a copy. It is the fetch of dsm/version.go, once more: page faults cannot wait for Go. The comments
// there say why it is right.
#include <string.h>

#include "pager.h"

static const uint64_t CLOSED = 1ull << 62, MOVED = 1ull << 63;
enum { HINT_AFTER = 2 };

static uint64_t word_at(uint64_t base, int32_t b) { return base + 8 * (uint64_t)b; }

static int get(struct pager *p, int32_t pe, uint64_t offset, void *to, uint64_t n)
{
    if (p->c.near[pe]) {
        memcpy(to, p->c.near[pe] + offset, n);
        return 1;
    }
    return p->c.outside && p->c.outside->get(p->c.outside, pe, offset, to, n) == 0;
}

static int fetch_max(struct pager *p, int32_t pe, uint64_t offset, uint64_t operand, uint64_t *old)
{
    if (!p->c.near[pe])
        return p->c.outside && p->c.outside->fetch_max(p->c.outside, pe, offset, operand, old) == 0;
    uint64_t *word = (uint64_t *)(p->c.near[pe] + offset);
    *old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (*old < operand && !__atomic_compare_exchange_n(word, old, operand, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return 1;
}

// hinted returns the PE that had b a while ago, or home.
static int32_t hinted(struct pager *p, int32_t b, int32_t home)
{
    uint64_t hint = 0;
    if (!get(p, b % p->c.pes, word_at(p->c.hint, b), &hint, sizeof hint) || hint == 0 || hint > (uint64_t)p->c.pes)
        return home;
    return (int32_t)(hint - 1);
}

// fetch_offset returns where the homes of b have it, in their heaps.
uint64_t fetch_offset(struct pager *p, int32_t b) { return p->c.pub + (uint64_t)b * p->c.block; }

// fetch_bytes_of gets b from its home. It returns 0 if the home is lost.
int fetch_bytes_of(struct pager *p, int32_t b, char *to, int32_t home) { return get(p, home, fetch_offset(p, b), to, p->c.block); }

// fetch_locate finds the home of the newest released version of b, and takes a lease of it. It returns 0 if that PE is lost,
// which *home names then.
int fetch_locate(struct pager *p, int32_t b, int32_t *home, uint64_t *rts, uint64_t now)
{
    uint64_t lease = now + p->c.lease, version;
    if (*rts >= now) { // a notice has told where it is, and its lease is good
        p->stats.fast++;
        return 1;
    }
    for (int hops = 0;; hops++) {
        if (!fetch_max(p, *home, word_at(p->c.ver, b), lease, &version))
            return 0;
        if (!(version & MOVED))
            break;
        *home = (int32_t)(version & ~MOVED);
        p->stats.hops++;
        if (hops + 1 == HINT_AFTER)
            *home = hinted(p, b, *home);
    }
    p->stats.slow++;
    *rts = version > lease ? version : lease;
    if (version & CLOSED)
        *rts = version & ~CLOSED; // a closed version gives no lease: the copy is good until the next fence
    return 1;
}

// renew_own raises the lease of b, whose home is this PE, unless the version is closed or has moved.
void renew_own(struct pager *p, int32_t b, uint64_t *rts, uint64_t now)
{
    uint64_t lease = now + p->c.lease, version;
    if (!fetch_max(p, p->c.pe, word_at(p->c.ver, b), lease, &version) || version & (CLOSED | MOVED))
        return;
    *rts = version > lease ? version : lease;
}
