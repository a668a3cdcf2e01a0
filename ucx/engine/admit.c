// Which connections UCX gets to see where the kernel takes no filter for a listener: since 6.18, Linux gives filters of
// TCP sockets to privileged processes alone. UCX calls accept(2) by its name, and a program's own symbols come before
// those of libraries. So the accept below is the one that UCX calls. For a listener that an engine has registered it
// closes the connections of strangers, before UCX has read a byte of them; for all others it is the C library's.
//
// Against the filter, a stranger sees a connection that ends at once, instead of none.
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "state.h"

typedef int accept_function(int, struct sockaddr *restrict, socklen_t *restrict);

// admission is a listener of a worker.
struct admission {
    struct admission *next;
    const engine_t *engine;
    ucp_worker_h worker;
    int fd;
};

static struct {
    pthread_mutex_t mu;
    struct admission *first;
} process = {.mu = PTHREAD_MUTEX_INITIALIZER};

// begins reports whether the first bits of two addresses are equal.
static int begins(const uint8_t *address, const struct engine_source *s)
{
    uint32_t whole = s->bits / 8, rest = s->bits % 8;
    return memcmp(address, s->bytes, whole) == 0 && (!rest || ((address[whole] ^ s->bytes[whole]) >> (8 - rest)) == 0);
}

// admits reports whether the engine accepts connections from an address. One of IPv4 may come in the form of IPv6.
static int admits(const engine_t *e, const struct sockaddr_storage *from)
{
    uint8_t family = (uint8_t)from->ss_family;
    const uint8_t *bytes = (const uint8_t *)&((const struct sockaddr_in *)from)->sin_addr;
    if (family == AF_INET6) {
        const struct in6_addr *a = &((const struct sockaddr_in6 *)from)->sin6_addr;
        int mapped = IN6_IS_ADDR_V4MAPPED(a);
        family = mapped ? AF_INET : AF_INET6;
        bytes = a->s6_addr + (mapped ? 12 : 0);
    } else if (family != AF_INET) {
        return 0;
    }
    for (uint32_t i = 0; i < e->config.nsources; i++)
        if (e->config.sources[i].family == family && begins(bytes, &e->config.sources[i]))
            return 1;
    return 0;
}

// welcome reports whether the listener fd accepts connections from an address.
static int welcome(int fd, const struct sockaddr_storage *from)
{
    int yes = 1;
    pthread_mutex_lock(&process.mu);
    for (struct admission *a = process.first; a; a = a->next)
        if (a->fd == fd)
            yes = admits(a->engine, from);
    pthread_mutex_unlock(&process.mu);
    return yes;
}

static int registered(int fd)
{
    int found = 0;
    pthread_mutex_lock(&process.mu);
    for (struct admission *a = process.first; a; a = a->next)
        found |= a->fd == fd;
    pthread_mutex_unlock(&process.mu);
    return found;
}

// end_at_once closes a connection so that the other side gets a reset.
static void end_at_once(int fd)
{
    struct linger now = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

// accept accepts a connection as accept(2) does. At a registered listener it drops those of strangers and goes on: the
// caller may not be told again of one that waits behind them.
__attribute__((visibility("default"))) int accept(int fd, struct sockaddr *restrict to, socklen_t *restrict bytes)
{
    static accept_function *next;
    accept_function *library = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (!library) {
        *(void **)&library = dlsym(RTLD_NEXT, "accept");
        __atomic_store_n(&next, library, __ATOMIC_RELAXED);
    }
    if (!registered(fd))
        return library(fd, to, bytes);
    for (;;) {
        struct sockaddr_storage from;
        socklen_t n = sizeof from;
        int connection = library(fd, (struct sockaddr *)&from, &n);
        if (connection < 0)
            return connection;
        if (!welcome(fd, &from)) {
            end_at_once(connection);
            continue;
        }
        if (to && bytes) {
            memcpy(to, &from, n < *bytes ? n : *bytes);
            *bytes = n;
        }
        return connection;
    }
}

// admit_only registers a listener of the worker. It returns 0 if that would have no effect: UCX calls another accept
// than the one above, as in a library that a program of another language has loaded.
int admit_only(const engine_t *e, ucp_worker_h worker, int fd)
{
    struct admission *a = malloc(sizeof *a);
    if (!a || dlsym(RTLD_DEFAULT, "accept") != (void *)accept) {
        free(a);
        return 0;
    }
    *a = (struct admission){.engine = e, .worker = worker, .fd = fd};
    pthread_mutex_lock(&process.mu);
    a->next = process.first;
    process.first = a;
    pthread_mutex_unlock(&process.mu);
    return 1;
}

// admit_end forgets the listeners of a worker that is about to be destroyed.
void admit_end(ucp_worker_h worker)
{
    pthread_mutex_lock(&process.mu);
    for (struct admission **at = &process.first; *at;) {
        struct admission *a = *at;
        if (a->worker == worker) {
            *at = a->next;
            free(a);
        } else {
            at = &a->next;
        }
    }
    pthread_mutex_unlock(&process.mu);
}
