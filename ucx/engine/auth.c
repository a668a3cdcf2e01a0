// Which senders are served. Any process that reaches a worker of UCX's can send it messages, and can name any
// PE as their sender. So a lane opens with a proof that its origin has the key of the job, and every message
// on it, either way, carries a number that only its two ends can compute.
//
// An engine picks a nonce when it starts and publishes it with its address, through the exchange of the job,
// which is authenticated. An origin that opens a lane picks another. Its first message names the lane and holds
// its nonce and a proof: a keyed hash over both PEs, the number of the lane, and both nonces. The target makes
// the same hash. If they are equal it registers the lane and answers; otherwise it answers nothing and keeps
// nothing. The origin sends nothing else until that answer has come. Its tag proves that the target has the key too.
//
//	origin  head{OPEN, pe, lane, tag 0} nonce proof
//	target  head{OPEN, tag of answers}
//	either  head{..., tag of requests or of answers} records
//
// Nothing can be replayed: not to another PE or another job, because the target's nonce is part of the hash;
// not to the same PE, because a lane's number opens once. Numbers to one PE are given without gaps, so the
// target remembers only the number up to which all have been used, and the few beyond it.
//
// Tags are compared before anything else of a message is looked at. A second connection cannot borrow a lane's:
// it would have to read the job's traffic to learn it (docs/use/security.md says what that means).
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "state.h"

// What a hash is for.
enum { FOR_PROOF = 1, FOR_TAGS = 2 }; // 3 is heartbeat.c's

// random_words fills the n words at to and reports whether the kernel had random numbers.
int random_words(uint64_t *to, size_t n)
{
    return getrandom(to, n * sizeof *to, 0) == (ssize_t)(n * sizeof *to);
}

static void hash_lane(const engine_t *e, uint32_t what, const struct lane_name *name, uint64_t out[2])
{
    struct {
        uint32_t what, origin, target, lane;
        uint64_t origin_nonce[2], target_nonce[2];
    } said = {.what = what, .origin = name->origin, .target = name->target, .lane = name->lane};
    memcpy(said.origin_nonce, name->origin_nonce, sizeof said.origin_nonce);
    memcpy(said.target_nonce, name->target_nonce, sizeof said.target_nonce);
    sip_hash(e->config.key, &said, sizeof said, out);
}

// prove_lane computes the proof of a lane, and its tags: of requests, and of answers.
void prove_lane(const engine_t *e, const struct lane_name *name, uint64_t proof[2], uint64_t tags[2])
{
    hash_lane(e, FOR_PROOF, name, proof);
    hash_lane(e, FOR_TAGS, name, tags);
}

// refuse counts a message that cannot be one of this job's. The first is reported: a process outside the job
// has reached its network. The report is one system call, because threads of C and of Go write to standard error.
void refuse(engine_t *e)
{
    char line[512];
    if (__atomic_fetch_add(&e->refused, 1, __ATOMIC_RELAXED) != 0)
        return;
    int n = snprintf(line, sizeof line,
                     "pgas: PE %u: a message without this job's proof has come to a port of UCX's, and was thrown away; more are "
                     "only counted: a process outside the job reaches its network: keep them apart (docs/use/security.md)\n",
                     e->config.pe);
    while (write(STDERR_FILENO, line, (size_t)n) < 0 && errno == EINTR)
        ;
}

// Which lanes a PE has opened to this one.

static int beyond(const struct opened *o, uint32_t lane)
{
    for (uint32_t i = 0; i < o->nbeyond; i++)
        if (o->beyond[i] == lane)
            return (int)i;
    return -1;
}

// was_opened reports whether lane number lane of pe has ever been opened.
int was_opened(const engine_t *e, uint32_t pe, uint32_t lane)
{
    const struct opened *o = &e->opened[pe];
    return lane <= o->all || beyond(o, lane) >= 0;
}

// record_opened records lane number lane of pe as opened; it returns 0 without memory.
int record_opened(engine_t *e, uint32_t pe, uint32_t lane)
{
    struct opened *o = &e->opened[pe];
    int i;
    if (lane != o->all + 1) {
        if (o->nbeyond == o->cap) {
            uint32_t cap = o->cap ? 2 * o->cap : 8;
            uint32_t *grown = realloc(o->beyond, cap * sizeof *grown);
            if (!grown)
                return 0;
            o->beyond = grown;
            o->cap = cap;
        }
        o->beyond[o->nbeyond++] = lane;
        return 1;
    }
    for (o->all++; (i = beyond(o, o->all + 1)) >= 0; o->all++)
        o->beyond[i] = o->beyond[--o->nbeyond];
    return 1;
}

void opened_free(engine_t *e)
{
    for (uint32_t pe = 0; e->opened && pe < e->config.npes; pe++)
        free(e->opened[pe].beyond);
    free(e->opened);
    free(e->lanes_to);
}
