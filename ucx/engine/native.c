// Operations that UCX carries out itself, without the target's program. Where a NIC does them they are
// the right path, for gets of any size and for puts too large to be gathered.
//
// The heap is registered by its owner in chunks, each when an initiator first asks for it; the
// initiator keeps the key. A chunk that cannot be registered is reached by active messages all the same.
//
// Order. UCX orders these operations neither among themselves nor with active messages. So a fence
// waits for those before it to be complete, and those after a fence wait until the messages before it
// are acknowledged. A quiet flushes the endpoint too. Operations on the same bytes need no fence: ordering.c
// makes them wait for each other.
#include <stdlib.h>

#include "transfer.h"

struct key {
    ucp_rkey_h rkey;
    uint64_t base; // address of the chunk at its owner
    int refused;
};

// on_fetched ends a slot that a native operation has written, or no longer will.
static void on_fetched(void *request, ucs_status_t status, void *arg)
{
    slot_t *s = arg;
    channel_t *c = s->channel;
    on_native(request, status, c->lanes[s->pe]);
    slot_end(c, s, status);
}

// lane_text returns what UCX prints about the lane's endpoint: its own lanes, each with a transport, a device and what
// it is used for. The caller frees the text. It is NULL if the lane has no endpoint, and without memory.
char *lane_text(lane_t *l)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = l->status == UCS_OK && l->ep ? open_memstream(&text, &n) : NULL;
    if (!f)
        return NULL;
    ucp_ep_print_info(l->ep, f);
    fclose(f);
    return text;
}

// has_rma reports whether UCX lists a lane of its own for remote memory access at the lane's endpoint. For access that
// UCX emulates with messages it lists none.
static int has_rma(lane_t *l)
{
    char *text = lane_text(l);
    int has = text && (strstr(text, " rma#") || strstr(text, " amo#"));
    free(text);
    return has;
}

// lane_native reports whether the lane's gets and large puts are UCX's own.
int lane_native(lane_t *l)
{
    if (l->use_native == 0) {
        int wanted = l->channel->engine->config.rma;
        int native = wanted == RMA_NATIVE || (wanted == RMA_AUTO && l->channel->engine->rma && l->status == UCS_OK && has_rma(l));
        l->use_native = native ? 1 : -1;
        if (native)
            lane_start_ordering(l);
    }
    return l->use_native > 0 && l->status == UCS_OK;
}

// Keys.

static void take_key(lane_t *l, struct key *k, const char *bytes)
{
    struct wire_key wire;
    memcpy(&wire, bytes, sizeof wire);
    k->base = wire.base;
    k->refused = wire.bytes == 0 || ucp_ep_rkey_unpack(l->ep, bytes + sizeof wire, &k->rkey) != UCS_OK;
}

static void request_key(lane_t *l, uint64_t chunk, struct key *k)
{
    char bytes[KEY_BYTES];
    slot_t *s = lane_request(l, REC_KEY, chunk * CHUNK_BYTES, bytes, sizeof bytes);
    if (!s)
        return;
    lane_send(l, 0);
    channel_await_all(l->channel, s);
    if (l->status != UCS_OK)
        return; // the slot is gone with the lane
    take_key(l, k, bytes);
    slot_release(l->channel, s);
}

// key_of returns the key of the chunk that holds off, or NULL if the chunk can only be reached by messages.
static struct key *key_of(lane_t *l, uint64_t off)
{
    uint64_t heap = l->channel->engine->config.heap_bytes;
    if (!l->keys && !(l->keys = calloc((heap + CHUNK_BYTES - 1) / CHUNK_BYTES, sizeof *l->keys)))
        return NULL;
    struct key *k = &l->keys[off / CHUNK_BYTES];
    if (!k->rkey && !k->refused)
        request_key(l, off / CHUNK_BYTES, k);
    return k->rkey && l->status == UCS_OK ? k : NULL;
}

// lane_drop_keys frees the keys of a lane.
void lane_drop_keys(lane_t *l)
{
    uint64_t n = (l->channel->engine->config.heap_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    for (uint64_t i = 0; l->keys && i < n; i++)
        if (l->keys[i].rkey)
            ucp_rkey_destroy(l->keys[i].rkey);
    free(l->keys);
    l->keys = NULL;
}

// Operations. NATIVE_MAX of them may be on their way on one lane.

static uint64_t in_chunk(uint64_t off, uint64_t n)
{
    uint64_t left = CHUNK_BYTES - off % CHUNK_BYTES;
    return n < left ? n : left;
}

static void on_zcopy_sent(void *request, ucs_status_t status, void *arg)
{
    sendbuf_t *b = arg;
    lane_t *l = b->lane;
    source_release(l, b->handle);
    give_buf(l->channel, b);
    on_native(request, status, l);
}

// put_zcopy puts a piece of a zero-copy source: b holds the handle.
static void put_zcopy(lane_t *l, const char *src, uint64_t n, uint64_t remote, ucp_rkey_h rkey, uint64_t handle)
{
    sendbuf_t *b = take_buf(l->channel);
    if (!b) {
        lane_fail(l, UCS_ERR_NO_MEMORY);
        return;
    }
    b->lane = l;
    b->handle = handle;
    ucp_request_param_t param = native_param(l);
    param.cb.send = on_zcopy_sent;
    param.user_data = b;
    count_message(l, 1, n);
    ucs_status_ptr_t r = ucp_put_nbx(l->ep, src, n, remote, rkey, &param);
    count_native(l, r);
    if (UCS_PTR_IS_PTR(r))
        source_hold(l, handle);
    else
        give_buf(l->channel, b);
}

// native_put puts what it can of n bytes and returns how many. src may be reused on return or, with a handle, when that
// is released.
uint64_t native_put(lane_t *l, uint64_t off, const char *src, uint64_t n, uint64_t handle)
{
    uint64_t done = 0;
    struct key *k;
    order_native(l, off, n, NATIVE_PUT);
    while (done < n && (k = key_of(l, off + done))) {
        uint64_t piece = in_chunk(off + done, n - done), remote = k->base + (off + done) % CHUNK_BYTES;
        ucp_request_param_t param = native_param(l);
        l->native_dirty = 1;
        if (handle)
            put_zcopy(l, src + done, piece, remote, k->rkey, handle);
        else {
            count_message(l, 1, piece);
            count_native(l, ucp_put_nbx(l->ep, src + done, piece, remote, k->rkey, &param));
        }
        done += piece;
    }
    wait_native(l, handle ? NATIVE_MAX : 0);
    return done;
}

// native_get asks for what it can of n bytes and returns how many. With wait they have come on return;
// otherwise a quiet completes them.
uint64_t native_get(lane_t *l, uint64_t off, char *dst, uint64_t n, int wait)
{
    uint64_t done = 0;
    struct key *k;
    order_native(l, off, n, NATIVE_GET);
    while (done < n && (k = key_of(l, off + done))) {
        uint64_t piece = in_chunk(off + done, n - done);
        ucp_request_param_t param = native_param(l);
        count_message(l, 1, piece);
        count_native(l, ucp_get_nbx(l->ep, dst + done, piece, k->base + (off + done) % CHUNK_BYTES, k->rkey, &param));
        done += piece;
    }
    wait_native(l, wait ? 0 : NATIVE_MAX);
    return done;
}

static const ucp_atomic_op_t native_ops[] = {
    [WORD_FETCH] = UCP_ATOMIC_OP_ADD, [WORD_SET] = UCP_ATOMIC_OP_SWAP, [WORD_SWAP] = UCP_ATOMIC_OP_SWAP, [WORD_CAS] = UCP_ATOMIC_OP_CSWAP,
    [WORD_ADD] = UCP_ATOMIC_OP_ADD,   [WORD_AND] = UCP_ATOMIC_OP_AND,  [WORD_OR] = UCP_ATOMIC_OP_OR,     [WORD_XOR] = UCP_ATOMIC_OP_XOR,
};

// post_word hands one atomic operation to UCX. Its old value goes to result, which for a compare-swap
// holds what to swap in, and is read and written until the operation is complete; NULL if UCX need not
// answer. s, if there is one, ends with the operation. It returns what UCX did, NULL if it is complete.
static ucs_status_ptr_t post_word(lane_t *l, const struct word_args *args, uint64_t *result, slot_t *s)
{
    struct key *k = NULL;
    order_native(l, args->off, args->bytes, NATIVE_WORD);
    if (l->status == UCS_OK && !(k = key_of(l, args->off)))
        lane_fail(l, UCS_ERR_UNSUPPORTED);
    if (l->status != UCS_OK)
        return UCS_STATUS_PTR(l->status);
    uint64_t operand = args->op == WORD_CAS ? args->cond : args->op == WORD_FETCH ? 0 : args->operand;
    ucp_request_param_t param = native_param(l);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(args->bytes);
    if (result) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = result;
    }
    if (s) {
        param.cb.send = on_fetched;
        param.user_data = s;
    }
    l->native_dirty = 1;
    count_message(l, 1, args->bytes);
    ucs_status_ptr_t r =
        ucp_atomic_op_nbx(l->ep, native_ops[args->op], &operand, 1, k->base + args->off % CHUNK_BYTES, k->rkey, &param);
    count_native(l, r);
    return r;
}

// fetch_word applies one operation that UCX has, waits, and stores the word's old value.
static int fetch_word(lane_t *l, const struct word_args *args, uint64_t *old)
{
    uint64_t result = args->operand;
    post_word(l, args, &result, NULL);
    wait_native(l, 0);
    if (l->status != UCS_OK) {
        l->lost = 1;
        return lane_report(l);
    }
    *old = args->bytes == 4 ? (uint32_t)result : result;
    return ENGINE_DONE;
}

// change_word does what fetch_word does, for operations that UCX does not have: it compares and swaps until no other
// update came between.
static int change_word(lane_t *l, const struct word_args *args, uint64_t *old)
{
    struct word_args step = {.off = args->off, .bytes = args->bytes, .op = WORD_FETCH};
    uint64_t seen, found;
    int r = fetch_word(l, &step, &seen);
    for (step.op = WORD_CAS; r == ENGINE_DONE; seen = found) {
        step.cond = seen;
        step.operand = word_changed(args->op, args->bytes, seen, args->operand);
        if (step.operand == seen)
            break;
        r = fetch_word(l, &step, &found);
        if (r != ENGINE_DONE || found == seen)
            break;
    }
    *old = seen;
    return r;
}

// lane_nic has UCX carry out one atomic operation. With old it waits and stores the word's old value in *old; without,
// a quiet completes it. It returns ENGINE_DONE or ENGINE_LOST.
int lane_nic(lane_t *l, struct word_args *args, uint64_t *old)
{
    uint64_t ignored;
    int swaps = args->op == WORD_SET || args->op == WORD_SWAP;
    if (args->op >= WORD_MIN)
        return change_word(l, args, old ? old : &ignored);
    if (old || args->op == WORD_CAS || args->op == WORD_FETCH)
        return fetch_word(l, args, old ? old : &ignored);
    post_word(l, args, swaps ? &l->discard : NULL, NULL); // UCX has no swap without an answer
    wait_native(l, NATIVE_MAX);
    if (l->status != UCS_OK)
        l->lost = 1;
    return l->status == UCS_OK ? ENGINE_DONE : ENGINE_LOST;
}

// lane_nic_fetch_nb does what lane_nic does, but leaves the old value in s, the slot of a pending fetch. It waits only
// for an operation that takes a loop.
void lane_nic_fetch_nb(lane_t *l, struct word_args *args, slot_t *s)
{
    channel_t *c = l->channel;
    if (args->op >= WORD_MIN) {
        if (change_word(l, args, &s->value) == ENGINE_DONE)
            slot_end(c, s, UCS_OK);
        else
            l->lost = 1; // for the next quiet to report
        return;
    }
    s->value = args->operand;
    s->native = 1;
    ucs_status_ptr_t r = post_word(l, args, &s->value, s);
    if (!UCS_PTR_IS_PTR(r))
        slot_end(c, s, UCS_PTR_STATUS(r));
    wait_native(l, NATIVE_MAX);
    if (l->status != UCS_OK)
        l->lost = 1;
}
