// Fetching and, or, xor on a UCX that gets them wrong.
//
// Debian 12's build of UCX 1.13.1 is miscompiled: over shared memory and to itself, a fetching and, or
// or xor combines the word with itself instead of with the operand (disassemble uct_sm_ep_atomic64_fetch
// and look for the operand). So the first such operation of a process tries one on a private worker, and
// if the answer is wrong they are done by compare-swaps from then on, each posted when the one before
// has failed. That is as atomic, and costs one or two round trips more.

#include "shim.h"

#include <pthread.h>

typedef struct gx_chain {
    gx_ep    *ep;
    gx_rkey  *key;
    uint64_t remote;
    uint64_t value; // of the caller
    uint64_t guess; // what the word is compared with
    uint32_t op;
} gx_chain;

_Static_assert(sizeof(gx_chain) <= GX_COPY_MAX, "a chain lives in the slot's buffer");

// gx_read returns the word at the start of from.
static uint64_t gx_read(const uint64_t *from, uint32_t bytes)
{
    uint32_t low;
    if (bytes == 8) {
        return *from;
    }
    memcpy(&low, from, sizeof(low));
    return low;
}

static uint64_t gx_combine(uint32_t op, uint64_t a, uint64_t b)
{
    return op == UCP_ATOMIC_OP_AND ? (a & b) : op == UCP_ATOMIC_OP_OR ? (a | b) : (a ^ b);
}

static void gx_chained(void *request, ucs_status_t status, void *user_data);

// gx_chain_next posts compare-swaps until one succeeds or has to be waited for.
static int32_t gx_chain_next(gx_slot *s)
{
    gx_chain *c = (gx_chain *)s->copy;
    for (;;) {
        if (c->ep->ep == 0) {
            gx_finish(s, UCS_ERR_CANCELED); // closed meanwhile
            return s->status;
        }
        gx_word(&s->operand, s->word, c->guess);
        gx_word(&s->result, s->word, gx_combine(c->op, c->guess, c->value));
        ucs_status_ptr_t posted =
                gx_post_fetch((ucp_ep_h)c->ep->ep, (ucp_rkey_h)c->key->rkey, c->remote,
                              UCP_ATOMIC_OP_CSWAP, s->word, &s->operand, &s->result, gx_chained, s);
        uint64_t old = gx_read(&s->result, s->word);
        if (posted != NULL || old == c->guess) {
            return gx_posted(s, posted);
        }
        c->guess = old;
    }
}

static void gx_chained(void *request, ucs_status_t status, void *user_data)
{
    gx_slot *s   = user_data;
    gx_chain *c  = (gx_chain *)s->copy;
    uint64_t old = gx_read(&s->result, s->word);
    ucp_request_free(request);
    if (status != UCS_OK || old == c->guess) {
        gx_finish(s, status);
        return;
    }
    c->guess = old;
    gx_chain_next(s);
}

int32_t gx_chain_start(gx_ep *ep, gx_slot *s, uint32_t op, uint64_t operand, uint64_t remote,
                       gx_rkey *key)
{
    gx_chain *c = (gx_chain *)s->copy;
    uint64_t value;
    gx_word(&value, s->word, operand);
    *c = (gx_chain){.ep = ep, .key = key, .remote = remote, .value = gx_read(&value, s->word), .op = op};
    return gx_chain_next(s);
}

// gx_try_fetch_or reports whether a fetching or on a worker's own memory has the right effect.
static int gx_try_fetch_or(ucp_worker_h worker, ucp_ep_h ep, ucp_rkey_h key, void *base, uint32_t bytes)
{
    uint64_t word = 0, operand = 0, result = 0;
    gx_word(&word, bytes, 0x0f);
    gx_word(&operand, bytes, 0xf0);
    memcpy(base, &word, bytes);
    gx_slot s = {.status = UCS_INPROGRESS};
    gx_worker unused = {0};
    s.worker = (uintptr_t)&unused;
    ucs_status_ptr_t posted = gx_post_fetch(ep, key, (uintptr_t)base, UCP_ATOMIC_OP_OR, bytes, &operand,
                                            &result, gx_sent, &s);
    gx_posted(&s, posted);
    while (s.status == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    memcpy(&word, base, bytes);
    return s.status == UCS_OK && gx_read(&word, bytes) == 0xff && gx_read(&result, bytes) == 0x0f;
}

// gx_try_key tries both widths on a context with some memory and a worker.
static int gx_try_key(ucp_context_h context, ucp_worker_h worker, ucp_ep_h ep)
{
    ucp_mem_h memh;
    void *base, *packed;
    size_t len;
    ucp_rkey_h key;
    int ok = 0;
    char detail[GX_DETAIL] = "";
    if (gx_mem_map(context, NULL, 4096, &memh, &base, &len, detail) != UCS_OK) {
        return 0;
    }
    if (gx_rkey_pack(context, memh, &packed, &len) == UCS_OK) {
        if (ucp_ep_rkey_unpack(ep, packed, &key) == UCS_OK) {
            ok = gx_try_fetch_or(worker, ep, key, base, 4) && gx_try_fetch_or(worker, ep, key, base, 8);
            ucp_rkey_destroy(key);
        }
        gx_rkey_buffer_release(packed);
    }
    ucp_mem_unmap(context, memh);
    return ok;
}

// gx_try_self carries the trial out, in a context with nothing but the transport to itself, which shares the code in
// question with shared memory. Whatever goes wrong on the way counts as broken, which is safe.
static int gx_try_self(void)
{
    ucp_config_t *config;
    ucp_context_h context;
    gx_worker *w;
    char detail[GX_DETAIL] = "";
    int ok = 0;
    if (ucp_config_read(NULL, NULL, &config) != UCS_OK) {
        return 0;
    }
    int32_t status = ucp_config_modify(config, "TLS", "self");
    if (status == UCS_OK) {
        status = gx_context_create(UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64, 0, 0, NULL,
                                   0, config, &context, detail);
    }
    ucp_config_release(config);
    if (status != UCS_OK) {
        return 0;
    }
    if (gx_worker_create(context, 0, 0, NULL, &w, detail) == UCS_OK) {
        ucp_address_t *address;
        size_t len;
        if (gx_worker_address(w, 0, &address, &len) == UCS_OK) {
            ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
            ucp_ep_h ep;
            if (ucp_ep_create(gx_ucp(w), &params, &ep) == UCS_OK) {
                ok = gx_try_key(context, gx_ucp(w), ep);
            }
            gx_worker_release_address(w, address);
        }
        gx_worker_destroy(w); // and its endpoint
    }
    ucp_cleanup(context);
    return ok;
}

static int gx_bitwise_wrong;

static void gx_try_bitwise(void)
{
    gx_bitwise_wrong = !gx_try_self();
}

int gx_bitwise_broken(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, gx_try_bitwise);
    return gx_bitwise_wrong;
}
