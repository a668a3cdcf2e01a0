// Heartbeats: how a PE notices that another PE has fallen silent, even with no operation outstanding to it.
//
// In a job on several hosts each PE has successors on other hosts. Pings follow successors and reach every PE in at
// most twice as many hops as there are PEs (pgas/transport/ucp chooses the successors). While a PE waits for anything,
// its service thread sends its successors a ping at every beat. A successor's service thread answers, independently of
// its program, and pings its own successors in turn. So every PE is watched while any PE waits, and nothing is sent
// while none does.
//
//	outstanding  a ping that has not been answered; there is one at a time
//	silence      the time since then, in beats of this thread: a pause of this process adds next to nothing
//	witness      another PE that is pinged when this one first waits, and once a peer has been silent for half of the
//	             time-out. When none of them answers then, the fault may be this PE's own, and the accusation says so
//
// A peer that is silent for the time-out is accused: waits of this PE end, and the launcher learns of it from a
// word of the host segment. The launcher tells the PEs of all hosts, and it hears both ends of a link.
//
// Heartbeats also decide about a lane that has lost data in a connection's reset. If its peer answers, the
// peer lives and the data is lost: waits end at once. If the peer does not answer, it may have ended normally.
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target.h"

enum {
    BEATS = 8,                       // in a time-out
    MAX_BEAT_NS = 500 * 1000 * 1000, // the longest between two
    MIN_BEAT_NS = 10 * 1000 * 1000,  // the shortest
    HOLD_BEATS = 3,                  // for so many a ping keeps its receiver pinging
    REOPEN_BEATS = 2,                // between two attempts to connect
    ANSWERS_MAX = 1024,              // on their way at a time: more pings are not answered
};

enum { PING = 1, PONG };
enum { FOR_PULSES = 3 }; // beside those of auth.c

// wire_pulse is a ping, or its answer.
struct wire_pulse {
    uint64_t nonce; // random, of the ping; its answer has the same
    uint32_t pe;    // the sender
    uint16_t kind;
    uint16_t zero;
    uint32_t hops; // of a ping: how many more PEs are to be pinged because of it
    uint32_t zero2;
    uint64_t proof[2]; // that the sender has the job's key
};

static int64_t beat_ns(const engine_t *e)
{
    int64_t ns = e->config.peer_timeout_ns / BEATS;
    return ns > MAX_BEAT_NS ? MAX_BEAT_NS : ns < MIN_BEAT_NS ? MIN_BEAT_NS : ns;
}

// Peers.

// pulse_of returns the pulse of pe, which it creates if there is none. address may be NULL if there is one.
static pulse_t *pulse_of(engine_t *e, uint32_t pe, const void *address, size_t address_bytes)
{
    for (pulse_t *p = e->pulses; p; p = p->next)
        if (p->pe == pe)
            return p;
    pulse_t *p = calloc(1, sizeof *p);
    if (!p || !(p->address = malloc(address_bytes))) {
        free(p);
        return NULL;
    }
    memcpy(p->address, address, address_bytes);
    p->address_bytes = address_bytes;
    p->pe = pe;
    p->witness = 1;
    pulse_t **end = &e->pulses;
    while (*end)
        end = &(*end)->next;
    *end = p;
    return p;
}

// first_beat_ns returns how long after the start the first pings go out. UCX 1.13 ends a process whose peer goes away
// while the two connect, and in a job that ends at once all PEs would: they connect to those that they watch when they
// first ping them.
static int64_t first_beat_ns(const engine_t *e)
{
    const int64_t most = 1000 * 1000 * 1000, part = e->config.peer_timeout_ns / 8;
    return part < most ? part : most;
}

// engine_watch registers pe for pings while this PE waits; if it is a witness, only while another peer is in
// doubt. Call it before the first wait.
void engine_watch(engine_t *e, uint32_t pe, const void *address, size_t address_bytes, int witness)
{
    while (!try_lock(&e->serving))
        cpu_relax();
    pulse_t *p = pulse_of(e, pe, (const char *)address + NONCE_BYTES, address_bytes - NONCE_BYTES);
    if (p)
        p->witness = witness;
    if (!e->watching)
        e->next_beat_ns = now_ns() + first_beat_ns(e);
    e->watching = 1;
    unlock(&e->serving);
}

void heartbeat_free(engine_t *e)
{
    while (e->pulses) {
        pulse_t *p = e->pulses;
        e->pulses = p->next;
        free(p->address);
        free(p);
    }
}

// Endpoints.

static void on_pulse_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    pulse_t *p = arg;
    (void)ep;
    p->broken = 1;
    p->status = status;
}

static void close_pulse(pulse_t *p)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucp_ep_h ep = p->ep;
    p->ep = NULL;
    ucs_status_ptr_t r = ucp_ep_close_nbx(ep, &param);
    if (UCS_PTR_IS_PTR(r))
        ucp_request_free(r);
}

// connected reports whether p has an endpoint that has not failed. If not, it tries to create one at intervals.
static int connected(engine_t *e, pulse_t *p)
{
    if (p->ep && !p->broken)
        return 1;
    if (p->beats++ % REOPEN_BEATS || (p->status != UCS_OK && p->status != UCS_ERR_CONNECTION_RESET))
        return 0; // to a host that is cut off UCX would wait in the kernel
    if (p->ep)
        close_pulse(p);
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = p->address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = on_pulse_error, .arg = p},
    };
    p->broken = 0;
    ucs_status_t status = ucp_ep_create(e->worker, &params, &p->ep);
    if (status == UCS_OK)
        return 1;
    p->ep = NULL;
    p->status = status;
    return 0;
}

// Messages.

// sent_pulse is a message that UCX may still be sending.
typedef struct sent_pulse {
    struct wire_pulse message;
    engine_t *engine;
    pulse_t *ping; // to which PE the ping went; NULL: it is an answer
} sent_pulse_t;

static void let_go(sent_pulse_t *s)
{
    if (s->ping)
        s->ping->sending = 0;
    else
        s->engine->answers--;
    free(s);
}

static void on_pulse_sent(void *request, ucs_status_t status, void *arg)
{
    (void)status; // a pulse that was not sent shows as a missing answer
    let_go(arg);
    ucp_request_free(request);
}

// prove computes the proof of a pulse. Replaying one gains an attacker nothing: an answer whose nonce is not
// outstanding is ignored, and a repeated ping costs its receiver a few pings of its own.
static void prove(const engine_t *e, const struct wire_pulse *m, uint64_t proof[2])
{
    struct {
        uint64_t what;
        struct wire_pulse m;
    } said = {FOR_PULSES, *m};
    memset(said.m.proof, 0, sizeof said.m.proof);
    sip_hash(e->config.key, &said, sizeof said, proof);
}

static int proven(const engine_t *e, const struct wire_pulse *m)
{
    uint64_t proof[2];
    prove(e, m, proof);
    return m->pe < e->config.npes && ((proof[0] ^ m->proof[0]) | (proof[1] ^ m->proof[1])) == 0;
}

static void send_pulse(engine_t *e, ucp_ep_h ep, sent_pulse_t *s, unsigned flags)
{
    prove(e, &s->message, s->message.proof);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_AM_SEND_FLAG_EAGER | flags,
        .cb.send = on_pulse_sent,
        .user_data = s,
    };
    if (!UCS_PTR_IS_PTR(ucp_am_send_nbx(ep, AM_PULSE, NULL, 0, &s->message, sizeof s->message, &param)))
        let_go(s);
}

static uint64_t nonce(engine_t *e)
{
    while (!e->next_ping)
        if (!random_words(&e->next_ping, 1))
            e->next_ping = (uint64_t)now_ns();
    return e->next_ping++;
}

// ping sends a ping, unless UCX still holds the one before it.
static void ping(engine_t *e, pulse_t *p, uint32_t hops)
{
    int fresh = !p->ep || p->broken; // pings sent by a connection that failed get no answer
    if (!connected(e, p) || p->sending || (p->nonce && !fresh))
        return;
    sent_pulse_t *s = malloc(sizeof *s);
    if (!s)
        return;
    p->nonce = nonce(e);
    p->sending = 1;
    *s = (sent_pulse_t){{.nonce = p->nonce, .pe = e->config.pe, .kind = PING, .hops = hops}, e, p};
    send_pulse(e, p->ep, s, UCP_AM_SEND_FLAG_REPLY);
}

// answer sends the answer to a ping.
static void answer(engine_t *e, const struct wire_pulse *m, ucp_ep_h ep)
{
    sent_pulse_t *s;
    if (!ep || e->answers >= ANSWERS_MAX || !(s = malloc(sizeof *s)))
        return;
    e->answers++;
    *s = (sent_pulse_t){{.nonce = m->nonce, .pe = e->config.pe, .kind = PONG}, e, NULL};
    send_pulse(e, ep, s, 0);
}

static uint32_t hops_most(const engine_t *e) { return 2 * e->config.npes; }

// relay keeps this PE pinging because another PE waits. The first time it pings at once, so that pings reach every PE
// in less than a beat.
static void relay(engine_t *e, uint32_t hops)
{
    int64_t now = now_ns();
    if (now > e->relay_until_ns || hops > e->relay_hops)
        e->next_beat_ns = 0;
    if (now > e->relay_until_ns || hops >= e->relay_hops) {
        e->relay_hops = hops < hops_most(e) ? hops : hops_most(e);
        e->relay_until_ns = now + HOLD_BEATS * beat_ns(e);
    }
}

static void answered(engine_t *e, const struct wire_pulse *m)
{
    for (pulse_t *p = e->pulses; p; p = p->next) {
        if (p->pe != m->pe || !p->nonce || p->nonce != m->nonce)
            continue;
        p->nonce = 0;
        p->silent_ns = 0;
        p->beats = 0;
        p->heard_ns = now_ns();
        if (p->lost_data)
            engine_fail_peer(e, p->pe, UCS_ERR_CONNECTION_RESET, SURE);
        p->lost_data = 0;
    }
}

// on_pulse handles pings and their answers, on the service worker.
ucs_status_t on_pulse(void *arg, const void *header, size_t header_n, void *data, size_t n, const ucp_am_recv_param_t *param)
{
    engine_t *e = arg;
    struct wire_pulse m;
    (void)header;
    if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) && !header_n && n == sizeof m)
        memcpy(&m, data, sizeof m);
    else
        memset(&m, 0, sizeof m);
    if (!proven(e, &m)) {
        refuse(e);
        return UCS_OK;
    }
    if (m.kind == PONG) {
        answered(e, &m);
    } else if (m.kind == PING) {
        answer(e, &m, param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP ? param->reply_ep : NULL);
        if (m.hops > 0)
            relay(e, m.hops - 1);
    }
    return UCS_OK;
}

// Beats.

// waits reports whether this PE waits or waited a moment ago: a wait leaves the transport and returns at intervals.
static int waits(engine_t *e, int64_t now)
{
    uint32_t progress_calls = __atomic_load_n(&e->progress_calls, __ATOMIC_RELAXED);
    if (__atomic_load_n(&e->progressing, __ATOMIC_RELAXED) || sleeps(e) || progress_calls != e->progress_calls_seen)
        e->waits_until_ns = now + beat_ns(e);
    e->progress_calls_seen = progress_calls;
    return now < e->waits_until_ns;
}

// find_lost_data looks for lanes whose connection has failed with operations lost that no call has reported.
static void find_lost_data(engine_t *e)
{
    pthread_mutex_lock(&e->list);
    for (uint32_t i = 0; i < e->nchannels; i++) {
        channel_t *c = e->channels[i];
        if (!try_lock(&c->lock))
            continue;
        for (uint32_t k = 0; k < c->nopened; k++) {
            lane_t *l = c->opened[k];
            if (l->status != UCS_ERR_CONNECTION_RESET || !l->lost || l->suspected || !l->address || !try_lock(&e->serving))
                continue;
            pulse_t *p = pulse_of(e, l->pe, l->address, l->address_bytes);
            l->suspected = 1;
            if (p)
                p->lost_data = 1;
            unlock(&e->serving);
        }
        unlock(&c->lock);
    }
    pthread_mutex_unlock(&e->list);
}

// grow_silent adds a beat to the silence of a peer, and accuses it when that is too long.
static void grow_silent(engine_t *e, pulse_t *p, int64_t ns)
{
    p->silent_ns += ns;
    if (2 * p->silent_ns > e->config.peer_timeout_ns)
        engine_suspect(e);
    if (p->silent_ns <= e->config.peer_timeout_ns || p->accused || (p->witness && !p->lost_data))
        return;
    p->accused = 1;
    engine_fail_peer(e, p->pe, UCS_ERR_TIMED_OUT, silence_of(p->address, p->address_bytes));
}

static void beat(engine_t *e, int64_t now, int waiting)
{
    int64_t ns = now - e->beat_at_ns, most = 2 * beat_ns(e);
    int relaying = now < e->relay_until_ns && e->relay_hops > 0;
    int suspecting = now < __atomic_load_n(&e->suspect_until_ns, __ATOMIC_RELAXED);
    uint32_t hops = waiting ? hops_most(e) : e->relay_hops - 1;
    e->beat_at_ns = now;
    e->next_beat_ns = now + beat_ns(e);
    for (pulse_t *p = e->pulses; p; p = p->next) {
        int fresh = waiting && !p->ep && p->status == UCS_OK; // connect while all is well
        int wanted = p->lost_data || (p->witness ? suspecting || fresh : waiting || relaying);
        if (!wanted) {
            p->nonce = 0;
            p->silent_ns = 0;
            p->beats = 0;
            continue;
        }
        // What UCX still holds has not been answered either: the peer may have stopped before the first connection.
        if (p->nonce || p->sending || p->broken || !p->ep)
            grow_silent(e, p, p->silent_ns || p->nonce ? (ns < most ? ns : most) : 1);
        ping(e, p, !p->witness && (waiting || relaying) ? hops : 0);
    }
}

// heartbeat_tick sends the pulses that are due and returns how long the service thread, which calls it in every
// round, may sleep.
int64_t heartbeat_tick(engine_t *e)
{
    enum { LONG_NS = 1000 * 1000 * 1000 };
    if (!e->watching)
        return LONG_NS;
    int64_t now = now_ns();
    if (now >= e->next_beat_ns) {
        int waiting = waits(e, now);
        if (waiting)
            find_lost_data(e);
        if (try_lock(&e->serving)) {
            beat(e, now, waiting);
            unlock(&e->serving);
        }
    }
    int quiet = now >= e->waits_until_ns && now >= e->relay_until_ns && !sleeps(e);
    return quiet ? LONG_NS : beat_ns(e);
}
