// UCX's workers, and what every one of them needs: an event descriptor, a handler for each kind of message, and
// listeners that strangers do not reach.
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "state.h"

// UCX starts a thread of its own with the first worker; like the service thread it must not take
// signals that are Go's.
void block_signals(sigset_t *saved)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, saved);
}

// say_status writes what has failed, and how, to err. It returns 0.
int say_status(char *err, size_t err_bytes, const char *what, ucs_status_t status)
{
    snprintf(err, err_bytes, "%s: %s", what, ucs_status_string(status));
    return 0;
}

// ports is held while workers of this process open and close their ports: accept.c tells a new listener by its port,
// which another worker may just have given up.
static pthread_mutex_t ports = PTHREAD_MUTEX_INITIALIZER;

static int open_alone(engine_t *e, ucp_worker_h *worker, int *fd, char *err, size_t err_bytes)
{
    ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };
    uint8_t *before = listeners_before();
    addresses_begin(e);
    ucs_status_t status = ucp_worker_create(e->context, &params, worker);
    addresses_end();
    if (status != UCS_OK) {
        free(before);
        return say_status(err, err_bytes, "creating a UCX worker", status);
    }
    if (!listeners_narrow(e, *worker, before)) {
        snprintf(err, err_bytes, "keeping strangers from the ports of a UCX worker: the kernel takes no filter for a socket (%s), and this program is no executable of its own; PGAS_ACCEPT_FROM=any does without", strerror(errno));
        return 0;
    }
    status = ucp_worker_get_efd(*worker, fd);
    if (status != UCS_OK)
        return say_status(err, err_bytes, "getting the event file descriptor of a UCX worker", status);
    return 1;
}

// ports_left reports whether the kernel has ports for the listeners of another worker. Where it has none, UCX 1.13
// tries again and again within ucp_worker_create. Connections that have been closed keep their ports for a minute, so a
// worker that is made in place of another may come to that.
int ports_left(void)
{
    enum { SPARE = 8 };
    int fds[SPARE], n = 0, ok = 1;
    while (ok && n < SPARE) {
        struct sockaddr_in any = {.sin_family = AF_INET};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            break; // UCX will say what is wrong
        fds[n++] = fd;
        ok = bind(fd, (struct sockaddr *)&any, sizeof any) == 0 || errno != EADDRINUSE;
    }
    while (n > 0)
        close(fds[--n]);
    return ok;
}

// worker_open makes a worker of e. On failure it returns 0 and writes the reason to err; *worker is NULL if there is
// none.
int worker_open(engine_t *e, ucp_worker_h *worker, int *fd, char *err, size_t err_bytes)
{
    pthread_mutex_lock(&ports);
    int ok = open_alone(e, worker, fd, err, err_bytes);
    pthread_mutex_unlock(&ports);
    return ok;
}

// worker_set_handler registers the handler of one id of active messages.
int worker_set_handler(ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t cb, void *arg, char *err, size_t err_bytes)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = id,
        .cb = cb,
        .arg = arg,
    };
    ucs_status_t status = ucp_worker_set_am_recv_handler(worker, &param);
    if (status != UCS_OK)
        return say_status(err, err_bytes, "registering a handler of active messages", status);
    return 1;
}

static ucs_status_t on_foreign(void *arg, const void *header, size_t header_n, void *data, size_t n, const ucp_am_recv_param_t *param)
{
    (void)header, (void)header_n, (void)data, (void)n, (void)param;
    refuse(arg);
    return UCS_OK;
}

// worker_set_handlers registers the handler of one id, and has every other message refused. UCX 1.13 makes a table of
// handlers up to the largest id, fills in those that are registered and calls whatever it finds: so every id of
// the table is registered, the largest first.
int worker_set_handlers(engine_t *e, ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t cb, void *arg, char *err, size_t err_bytes)
{
    enum { IDS = 32 };
    for (unsigned i = IDS; i-- > 0;)
        if (!worker_set_handler(worker, i, i == id ? cb : on_foreign, i == id ? arg : e, err, err_bytes))
            return 0;
    return 1;
}

void worker_close(ucp_worker_h worker)
{
    pthread_mutex_lock(&ports);
    admit_end(worker);
    ucp_worker_destroy(worker); // completes what its endpoints still hold
    pthread_mutex_unlock(&ports);
}
