// Which features UCX is opened with. Where UCX carries out its own remote memory access (UCP_FEATURE_RMA,
// AMO) with messages, on TCP and in shared memory, any sender can read and write any address of this
// process. A network card checks keys. So these features are requested only where there is such a card, and
// then without TCP, or where the user asks for them.
//
// The devices are those that UCX lists for a first context, which requests messages only.
#include <stdlib.h>

#include <ucs/config/global_opts.h>

#include "state.h"

// defaults are settings of UCX that suit the engine. What the user set in the environment stands. UCX
// takes the name of a transport's setting without that of the transport.
static const struct {
    const char *env, *name, *value;
} defaults[] = {
    // With one lane messages arrive in order; with several the engine would have to restore the order.
    {"UCX_MAX_EAGER_RAILS", "MAX_EAGER_RAILS", "1"},
    {"UCX_MAX_EAGER_LANES", "MAX_EAGER_LANES", "1"},
    // A piece of a large put is one send from the user's memory and one receive.
    {"UCX_TCP_TX_SEG_SIZE", "TX_SEG_SIZE", "64k"},
    {"UCX_TCP_RX_SEG_SIZE", "RX_SEG_SIZE", "128k"},
    // Go's garbage collector returns memory without UCX seeing it, so UCX must not cache registrations.
    {"UCX_RCACHE_ENABLE", "RCACHE_ENABLE", "n"},
    // The engine reaches other hosts. UCX takes network namespaces and containers of one machine for one
    // host and would try shared memory between them, which the PEs of different hosts do not share.
    {"UCX_TLS", "TLS", "^shm"},
    // Lanes in shared memory are only used for tests of the engine; they must report dead peers too.
    {"UCX_MM_ERROR_HANDLING", "MM_ERROR_HANDLING", "y"},
};

// cards_only is the setting of TLS with which every lane to another host is a card's.
static const char cards_only[] = "^shm,tcp";

// cards are the transports of network cards, by how their names begin, and whether the card itself reads and
// writes memory.
static const struct {
    const char *name;
    int rma;
} cards[] = {{"rc_", 1}, {"dc_", 1}, {"gga_", 1}, {"ugni_", 1}, {"ud_", 0}, {"srd", 0}};

enum { DEVICES_BYTES = 4096 };

// found is what a context offers.
struct found {
    int rma; // a card that reads and writes memory
    char devices[DEVICES_BYTES]; // of the cards, each with a comma before it
};

static int fail(char *err, size_t err_bytes, const char *what, ucs_status_t status)
{
    snprintf(err, err_bytes, "%s: %s", what, ucs_status_string(status));
    return 0;
}

static void modify(ucp_config_t *config, const char *env, const char *name, const char *value)
{
    if (!getenv(env))
        ucp_config_modify(config, name, value); // a setting that this UCX does not know is ignored
}

// start opens UCX with the given features. devices and tls are settings, or NULL for the defaults; old_protocols
// chooses those that were UCX's default before 1.16.
static int start(engine_t *e, uint64_t features, const char *devices, const char *tls, int old_protocols, char *err,
                 size_t err_bytes)
{
    ucp_config_t *config;
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return fail(err, err_bytes, "reading UCX's configuration from the UCX_ variables of the environment", status);
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        modify(config, defaults[i].env, defaults[i].name, defaults[i].value);
    if (devices)
        modify(config, "UCX_NET_DEVICES", "NET_DEVICES", devices);
    if (tls)
        modify(config, "UCX_TLS", "TLS", tls);
    if (old_protocols)
        modify(config, "UCX_PROTO_ENABLE", "PROTO_ENABLE", "n");
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | features,
        .mt_workers_shared = 1,
        .estimated_num_eps = e->config.npes,
    };
    addresses_begin(e);
    status = ucp_init(&params, config, &e->context);
    addresses_end();
    ucp_config_release(config);
    if (status != UCS_OK)
        return fail(err, err_bytes, "starting UCX", status);
    return 1;
}

static void add_device(struct found *f, const char *transport, const char *device)
{
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        if (strncmp(transport, cards[i].name, strlen(cards[i].name)) != 0)
            continue;
        f->rma |= cards[i].rma;
        size_t used = strlen(f->devices);
        if (!strstr(f->devices, device))
            snprintf(f->devices + used, sizeof f->devices - used, ",%s", device);
    }
}

// look_through finds the cards in what UCX prints about a context: a line for each resource ends with its
// transport and device, as in "rc_verbs/mlx5_0:1".
static void look_through(char *text, struct found *f)
{
    char *next;
    for (char *line = text; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        char *last = strrchr(line, ' '), *slash = last ? strchr(last, '/') : NULL;
        if (!slash || !strstr(line, "resource"))
            continue;
        *slash = 0;
        add_device(f, last + 1, slash + 1);
    }
}

static void find_cards(ucp_context_h context, struct found *f)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    memset(f, 0, sizeof *f);
    if (!to)
        return;
    ucp_context_print_info(context, to);
    fclose(to);
    look_through(text, f);
    free(text);
}

// context_open opens UCX's context: with the features and the devices that this job needs, and no more.
int context_open(engine_t *e, char *err, size_t err_bytes)
{
    static const uint64_t rma = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    int forced = e->config.rma == RMA_NATIVE || e->config.nic;
    struct found f;
    char devices[DEVICES_BYTES + 256];
    // A peer that goes away is an event of the program, reported by the engine, and not UCX's to print.
    if (!getenv("UCX_LOG_LEVEL"))
        ucs_global_opts_set_value("LOG_LEVEL", "fatal");
    if (!start(e, 0, NULL, NULL, 0, err, err_bytes))
        return 0;
    find_cards(e->context, &f);
    e->rma = forced || (f.rma && e->config.rma == RMA_AUTO);
    e->open_rma = e->rma && (!f.rma || getenv("UCX_TLS"));
    if (!e->rma && !e->config.devices)
        return 1;
    ucp_cleanup(e->context);
    e->context = NULL;
    snprintf(devices, sizeof devices, "%s%s", e->config.devices ? e->config.devices : "", f.devices);
    // UCX lists lanes for atomics wherever a card does remote memory access, and only if atomics were requested.
    return start(e, e->rma ? rma : 0, e->config.devices ? devices : NULL, e->rma && f.rma ? cards_only : NULL,
                 e->open_rma && e->config.old_protocols, err, err_bytes);
}
