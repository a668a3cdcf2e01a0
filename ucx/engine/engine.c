// The life of an engine: UCX's context, the service worker, its thread.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine.h"

// make_address puts the engine's nonce before UCX's address: an origin that connects needs both.
static int make_address(engine_t *e, char *err, size_t err_bytes)
{
    ucp_address_t *address;
    size_t bytes;
    ucs_status_t status = ucp_worker_get_address(e->worker, &address, &bytes);
    if (status != UCS_OK)
        return say_status(err, err_bytes, "getting the address of the service worker", status);
    e->address_bytes = sizeof e->nonce + bytes;
    if ((e->address = malloc(e->address_bytes))) {
        memcpy(e->address, e->nonce, sizeof e->nonce);
        memcpy(e->address + sizeof e->nonce, address, bytes);
    }
    ucp_worker_release_address(e->worker, address);
    return e->address != NULL;
}

static int open_all(engine_t *e, char *err, size_t err_bytes)
{
    e->opened = calloc(e->config.npes, sizeof *e->opened);
    e->lanes_to = calloc(e->config.npes, sizeof *e->lanes_to);
    if (!e->opened || !e->lanes_to || !random_words(e->nonce, 2)) {
        snprintf(err, err_bytes, "no memory, or no random numbers");
        return 0;
    }
    if (!context_open(e, err, err_bytes) || !worker_open(e, &e->worker, &e->fd, err, err_bytes) ||
        !worker_set_handlers(e, e->worker, AM_REQUEST, on_request, e, err, err_bytes) ||
        !worker_set_handler(e->worker, AM_PULSE, on_pulse, e, err, err_bytes))
        return 0;
    return make_address(e, err, err_bytes);
}

// keep_list replaces a list of the caller's by a copy. It returns 0 without memory.
static int keep_list(const struct engine_source **list, uint32_t n)
{
    const struct engine_source *theirs = *list;
    struct engine_source *copy = n ? malloc(n * sizeof *copy) : NULL;
    *list = copy;
    if (copy)
        memcpy(copy, theirs, n * sizeof *copy);
    return !n || copy;
}

// engine_open makes an engine that does not serve yet. On failure it returns NULL and writes the reason to err.
engine_t *engine_open(const struct engine_config *config, char *err, size_t err_bytes)
{
    engine_t *e;
    if (posix_memalign((void **)&e, 64, sizeof *e))
        return NULL;
    memset(e, 0, sizeof *e);
    e->config = *config;
    int kept = keep_list(&e->config.sources, config->nsources);
    kept = keep_list(&e->config.hosts, config->nhosts) && kept;
    pthread_mutex_init(&e->list, NULL);
    e->kick = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    sigset_t saved;
    block_signals(&saved);
    int ok = kept && open_all(e, err, err_bytes);
    e->config.devices = NULL; // they belong to the caller
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    if (ok)
        return e;
    engine_close(e);
    return NULL;
}

// engine_start starts the service thread and returns 0 or an errno.
int engine_start(engine_t *e)
{
    sigset_t saved;
    block_signals(&saved);
    int failed = pthread_create(&e->thread, NULL, service_main, e);
    e->started = !failed;
    if (!failed)
        failed = connect_watch_start(e);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return failed;
}

// finish_connecting completes the connections that are being set up. UCX 1.13 ends the process if a worker is destroyed
// while it still has to answer a connecting PE, for example one that begins to watch this PE.
static void finish_connecting(ucp_worker_h worker)
{
    enum { PATIENCE_NS = 300 * 1000 * 1000, NAP_US = 100 };
    ucp_request_param_t param = {0};
    ucs_status_ptr_t r = ucp_worker_flush_nbx(worker, &param);
    if (!UCS_PTR_IS_PTR(r))
        return;
    for (int64_t until = now_ns() + PATIENCE_NS; ucp_request_check_status(r) == UCS_INPROGRESS && now_ns() < until;)
        if (!ucp_worker_progress(worker))
            usleep(NAP_US);
    ucp_request_free(r);
}

// engine_close ends the service and frees everything. Its channels must have been closed.
void engine_close(engine_t *e)
{
    if (e->started) {
        __atomic_store_n(&e->stop, 1, __ATOMIC_SEQ_CST);
        engine_kick(e);
        pthread_join(e->thread, NULL); // connect_timeout.c still sees to it that it does not wait in connect(2)
    }
    free(e->address);
    if (e->worker && e->started)
        finish_connecting(e->worker);
    if (e->worker)
        worker_close(e->worker);
    connect_watch_end(e);
    serve_free(e);
    opened_free(e);
    heartbeat_free(e);
    engine_drop_chunks(e);
    free(e->service_lane);
    free((void *)e->config.sources);
    free((void *)e->config.hosts);
    if (e->context)
        ucp_cleanup(e->context);
    close(e->kick);
    pthread_mutex_destroy(&e->list);
    free(e->channels);
    free(e);
}

const void *engine_address(engine_t *e, size_t *bytes)
{
    *bytes = e->address_bytes;
    return e->address;
}

// engine_deep returns the word that is not 0 while the service thread does not tick channels. A thread that makes a
// channel dirty must then kick it.
uint32_t *engine_deep(engine_t *e)
{
    return &e->deep;
}

// engine_ticks returns the service thread's clock, for the age of what a lane has buffered.
uint64_t *engine_ticks(engine_t *e)
{
    return &e->ticks;
}

// engine_served returns the number of requests applied so far.
uint64_t engine_served(engine_t *e)
{
    return __atomic_load_n(&e->served, __ATOMIC_RELAXED);
}

// engine_inbound returns the number of lanes of other PEs to this one that are open.
uint32_t engine_inbound(engine_t *e)
{
    return __atomic_load_n(&e->inbound_used, __ATOMIC_RELAXED);
}

// engine_rejected returns the number of records that were out of bounds or not understood.
uint64_t engine_rejected(engine_t *e)
{
    return __atomic_load_n(&e->rejected, __ATOMIC_RELAXED);
}

// engine_refused returns the number of messages that cannot be this job's.
uint64_t engine_refused(engine_t *e)
{
    return __atomic_load_n(&e->refused, __ATOMIC_RELAXED);
}

// engine_open_rma reports whether UCX was opened with remote memory access that it carries out with messages.
int engine_open_rma(engine_t *e)
{
    return e->open_rma;
}

// engine_stop_serving has the engine apply and answer nothing more, as if its process had been stopped, until
// engine_serve_again. It reports 0 while another thread serves. For tests.
int engine_stop_serving(engine_t *e)
{
    return try_lock(&e->serving);
}

void engine_serve_again(engine_t *e)
{
    unlock(&e->serving);
}

// engine_service_lane_sent returns the number of messages that went by the service lane.
uint64_t engine_service_lane_sent(engine_t *e)
{
    return __atomic_load_n(&e->service_lane_sent, __ATOMIC_RELAXED);
}

static int add_channel(engine_t *e, channel_t *c)
{
    pthread_mutex_lock(&e->list);
    if (e->nchannels == e->channels_cap) {
        uint32_t cap = e->channels_cap ? 2 * e->channels_cap : 8;
        channel_t **grown = realloc(e->channels, cap * sizeof *grown);
        if (grown) {
            e->channels = grown;
            e->channels_cap = cap;
        }
    }
    int ok = e->nchannels < e->channels_cap;
    if (ok)
        e->channels[e->nchannels++] = c;
    pthread_mutex_unlock(&e->list);
    return ok;
}

static void remove_channel(engine_t *e, channel_t *c)
{
    pthread_mutex_lock(&e->list);
    for (uint32_t i = 0; i < e->nchannels; i++)
        if (e->channels[i] == c)
            e->channels[i] = e->channels[--e->nchannels];
    pthread_mutex_unlock(&e->list);
}

static void free_channel(channel_t *c)
{
    for (uint32_t i = 0; i < c->nopened; i++)
        lane_drop_keys(c->opened[i]);
    if (c->worker)
        worker_close(c->worker);
    for (uint32_t i = 0; i < c->nopened; i++) {
        lane_drop_waiting(c->opened[i]);
        free(c->opened[i]->out);
        free(c->opened[i]->address);
        free(c->opened[i]->kept);
        free(c->opened[i]);
    }
    while (c->free_bufs) {
        sendbuf_t *b = c->free_bufs;
        c->free_bufs = b->next;
        free(b);
    }
    close(c->kick);
    free(c->lanes);
    free(c->opened);
    free(c->slots);
    free(c);
}

static int make_tables(channel_t *c)
{
    c->lanes = calloc(c->engine->config.npes, sizeof *c->lanes);
    c->opened = calloc(c->engine->config.npes, sizeof *c->opened);
    c->slots = calloc(SLOTS, sizeof *c->slots);
    if (!c->lanes || !c->opened || !c->slots)
        return 0;
    for (uint32_t i = SLOTS; i-- > 0;) {
        c->slots[i].token = c->engine->config.first / SLOTS * SLOTS + i;
        c->slots[i].channel = c;
        c->slots[i].next = c->free_slots;
        c->free_slots = &c->slots[i];
    }
    return 1;
}

// channel_open makes a channel with an origin worker. On failure it returns NULL and writes the reason to err.
channel_t *channel_open(engine_t *e, char *err, size_t err_bytes)
{
    channel_t *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->engine = e;
    c->renew_at = e->config.connections;
    c->kick = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    sigset_t saved;
    block_signals(&saved);
    int ok = make_tables(c) && worker_open(e, &c->worker, &c->fd, err, err_bytes) &&
             worker_set_handlers(e, c->worker, AM_REPLY, on_reply, c, err, err_bytes) && add_channel(e, c);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    if (ok)
        return c;
    free_channel(c);
    return NULL;
}

// engine_leave makes the channels that close from now on wait for their targets for as long as a PE may be silent. The
// PE leaves the job together with the others, and none of them may lose what is on its way.
void engine_leave(engine_t *e)
{
    __atomic_store_n(&e->leaving, 1, __ATOMIC_RELAXED);
}

// channel_close tells the targets to forget the lanes, and frees the channel, which no other thread may be using. It
// waits a little for them to answer: a connection that is closed with unread data in it loses what the target has not
// read yet.
void channel_close(channel_t *c)
{
    enum { PATIENCE_NS = 500 * 1000 * 1000 };
    int64_t patience = PATIENCE_NS;
    if (__atomic_load_n(&c->engine->leaving, __ATOMIC_RELAXED) && patience < c->engine->config.peer_timeout_ns)
        patience = c->engine->config.peer_timeout_ns;
    remove_channel(c->engine, c);
    channel_bye(c, patience);
    free_channel(c);
}

void channel_kick(channel_t *c)
{
    eventfd_write(c->kick, 1);
}
