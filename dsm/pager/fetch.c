// How the pager gets a copy. It is the fetch of dsm/internal/protocol/fetch.go, once more: page faults cannot wait for
// Go. The comments there say why it is right.
#include <string.h>

#include "pager.h"

static const uint64_t CLOSED = 1ull << 62, MOVED = 1ull << 63;
enum { HINT_AFTER = 2 };

static uint64_t word_at(uint64_t base, int32_t b) { return base + 8 * (uint64_t)b; }

// fetched_by returns what a call of struct outside has come to.
static enum fetched fetched_by(int result)
{
    return result == 0 ? FETCH_DONE : result == OUTSIDE_INTERRUPTED ? FETCH_INTERRUPTED : FETCH_LOST;
}

static enum fetched get(struct pager *p, int32_t pe, uint64_t offset, void *to, uint64_t n, int (*interrupted)(void))
{
    if (!p->c.near[pe])
        return p->c.outside ? fetched_by(p->c.outside->get(p->c.outside, pe, offset, to, n, interrupted)) : FETCH_LOST;
    memcpy(to, p->c.near[pe] + offset, n);
    return FETCH_DONE;
}

static enum fetched fetch_max(struct pager *p, int32_t pe, uint64_t offset, uint64_t operand, uint64_t *old, int (*interrupted)(void))
{
    if (!p->c.near[pe])
        return p->c.outside ? fetched_by(p->c.outside->fetch_max(p->c.outside, pe, offset, operand, old, interrupted)) : FETCH_LOST;
    uint64_t *word = (uint64_t *)(p->c.near[pe] + offset);
    *old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (*old < operand && !__atomic_compare_exchange_n(word, old, operand, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return FETCH_DONE;
}

// hinted returns the PE that had b a while ago, or home.
static int32_t hinted(struct pager *p, int32_t b, int32_t home, int (*interrupted)(void))
{
    uint64_t hint = 0;
    if (get(p, b % p->c.pes, word_at(p->c.hint, b), &hint, sizeof hint, interrupted) != FETCH_DONE || hint == 0 || hint > (uint64_t)p->c.pes)
        return home;
    return (int32_t)(hint - 1);
}

// fetch_offset returns where the homes of b have it, in their heaps.
uint64_t fetch_offset(struct pager *p, int32_t b) { return p->c.pub + (uint64_t)b * p->c.block; }

// fetch_bytes_of gets b from its home.
enum fetched fetch_bytes_of(struct pager *p, int32_t b, char *to, int32_t home, int (*interrupted)(void))
{
    return get(p, home, fetch_offset(p, b), to, p->c.block, interrupted);
}

// TOGETHER_BYTES bounds the blocks whose bytes are asked for with their leases: if the home has moved, they come in
// vain.
enum { TOGETHER_BYTES = 64 << 10 };

// take_lease raises the lease of b at home, and stores what its version word was. If b is not too long and home is on
// another host, the same message brings b's bytes to p->tmp; *brought tells whether they are those of the version.
static enum fetched take_lease(struct pager *p, int32_t b, int32_t home, uint64_t lease, uint64_t *version, int *brought, int (*interrupted)(void))
{
    struct outside_read r = {
        .pe = home, .word = word_at(p->c.ver, b), .operand = lease, .offset = fetch_offset(p, b), .bytes = p->c.block, .to = p->tmp, .unless = MOVED,
    };
    *brought = 0;
    if (p->c.near[home] || p->c.block > TOGETHER_BYTES)
        return fetch_max(p, home, r.word, lease, version, interrupted);
    enum fetched result = p->c.outside ? fetched_by(p->c.outside->read(p->c.outside, &r, interrupted)) : FETCH_LOST;
    *version = r.old;
    *brought = result == FETCH_DONE && !(r.old & MOVED);
    return result;
}

// fetch_locate finds the home of the newest released version of b, and takes a lease of it. *brought tells whether b's
// bytes are in p->tmp, too. If it returns FETCH_LOST, *home is the PE that is lost.
enum fetched fetch_locate(struct pager *p, int32_t b, int32_t *home, uint64_t *rts, uint64_t now, int *brought, int (*interrupted)(void))
{
    uint64_t lease = now + p->c.lease, version;
    *brought = 0;
    if (*rts >= now) { // a notice has told where it is, and its lease is good
        p->stats.fast++;
        return FETCH_DONE;
    }
    for (int hops = 0;; hops++) {
        enum fetched r = take_lease(p, b, *home, lease, &version, brought, interrupted);
        if (r != FETCH_DONE)
            return r;
        if (!(version & MOVED))
            break;
        *home = (int32_t)(version & ~MOVED);
        p->stats.hops++;
        if (hops + 1 == HINT_AFTER)
            *home = hinted(p, b, *home, interrupted);
    }
    p->stats.slow++;
    *rts = version > lease ? version : lease;
    if (version & CLOSED)
        *rts = version & ~CLOSED; // a closed version gives no lease: the copy is good until the next fence
    return FETCH_DONE;
}

// renew_own raises the lease of b, whose home is this PE, unless the version is closed or has moved.
void renew_own(struct pager *p, int32_t b, uint64_t *rts, uint64_t now)
{
    uint64_t lease = now + p->c.lease, version;
    if (fetch_max(p, p->c.pe, word_at(p->c.ver, b), lease, &version, NULL) != FETCH_DONE || version & (CLOSED | MOVED))
        return;
    *rts = version > lease ? version : lease;
}
