// Which addresses may connect. UCX's TCP listens on a port of its own for every worker, and trusts every
// connection: its own protocol lets the other side end this process, or write anywhere in it, before the
// engine sees a byte. So the listeners of the engine's workers accept only the sources that the job has. The
// kernel enforces that with a filter on the socket: a segment from another address is dropped before there is
// a connection. A connection that is accepted inherits the filter. Where the kernel takes none, admit.c does what can
// be done without it.
//
// UCX does not say which sockets are its own. Those of a worker are the ones that began to listen while it
// was made, and whose ports are in its address.
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "state.h"

// MAX_SOURCES of IPv6 take no more instructions than the kernel allows.
enum { MAX_FILTER = 4096, MAX_SOURCE_INSTRUCTIONS = 13, V4_SOURCE = 12, V6_SOURCE = 8 };

struct filter {
    struct sock_filter code[MAX_FILTER];
    unsigned short n;
};

static void emit(struct filter *f, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
    f->code[f->n++] = (struct sock_filter)BPF_JUMP(code, k, jt, jf);
}

// emit_source lets a segment pass whose source begins with the bits of s.
static void emit_source(struct filter *f, const struct engine_source *s)
{
    uint32_t words = s->family == AF_INET ? 1 : 4, field = s->family == AF_INET ? V4_SOURCE : V6_SOURCE;
    struct sock_filter *misses[4];
    uint32_t i;
    for (i = 0; i < words && i * 32 < s->bits; i++) {
        uint32_t left = s->bits - i * 32, mask = left >= 32 ? UINT32_MAX : ~(UINT32_MAX >> left), word;
        memcpy(&word, s->bytes + 4 * i, sizeof word);
        emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)SKF_NET_OFF + field + 4 * i);
        emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
        misses[i] = &f->code[f->n];
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, ntohl(word) & mask);
    }
    emit(f, BPF_RET | BPF_K, 0, 0, UINT32_MAX);
    while (i-- > 0)
        misses[i]->jf = (uint8_t)(&f->code[f->n] - misses[i] - 1);
}

// narrow attaches the filter to one listener of the given family and reports whether the kernel took it.
static int narrow(const engine_t *e, int fd, int family)
{
    struct filter *f = malloc(sizeof *f);
    if (!f)
        return 0;
    f->n = 0;
    for (uint32_t i = 0; i < e->config.nsources; i++)
        if (e->config.sources[i].family == family && f->n + MAX_SOURCE_INSTRUCTIONS < MAX_FILTER)
            emit_source(f, &e->config.sources[i]);
    emit(f, BPF_RET | BPF_K, 0, 0, 0);
    struct sock_fprog program = {.len = f->n, .filter = f->code};
    int ok = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
    free(f);
    return ok;
}

// port_of returns the port that fd listens on, in network byte order, and its family; 0 if it does not listen.
static uint16_t port_of(int fd, int *family)
{
    struct sockaddr_storage bound;
    socklen_t n = sizeof(int);
    int listens = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) != 0 || !listens)
        return 0;
    n = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &n) != 0)
        return 0;
    *family = bound.ss_family;
    if (bound.ss_family == AF_INET)
        return ((struct sockaddr_in *)&bound)->sin_port;
    return bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port : 0;
}

// next_socket returns the next descriptor of this process that listens, and its port; -1 after the last.
static int next_socket(DIR *d, uint16_t *port, int *family)
{
    struct dirent *entry;
    while ((entry = readdir(d)) != NULL) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && (*port = port_of(fd, family)) != 0)
            return fd;
    }
    return -1;
}

// listeners_before returns a table of the ports that are listened on already, or NULL without memory.
uint8_t *listeners_before(void)
{
    uint8_t *ports = calloc(UINT16_MAX + 1, 1);
    DIR *d = ports ? opendir("/proc/self/fd") : NULL;
    uint16_t port;
    int family;
    while (d && next_socket(d, &port, &family) >= 0)
        ports[port] = 1;
    if (d)
        closedir(d);
    return ports;
}

// listeners_narrow attaches the filter to each listener that is not in ports and whose port is in the
// worker's address, or registers it with admit.c. It frees ports. It returns 0 if neither was possible.
int listeners_narrow(engine_t *e, ucp_worker_h worker, uint8_t *ports)
{
    ucp_address_t *address = NULL;
    size_t bytes = 0;
    int ok = ports && ucp_worker_get_address(worker, &address, &bytes) == UCS_OK;
    DIR *d = ok ? opendir("/proc/self/fd") : NULL;
    uint16_t port;
    int fd, family;
    ok = ok && d;
    while (ok && (fd = next_socket(d, &port, &family)) >= 0)
        if (!ports[port] && memmem(address, bytes, &port, sizeof port)) {
            fcntl(fd, F_SETFD, FD_CLOEXEC); // a program that this PE starts must not hold the port
            ok = e->config.nsources == 0 || (!e->config.unfiltered && narrow(e, fd, family)) || admit_only(e, worker, fd);
        }
    if (d)
        closedir(d);
    if (address)
        ucp_worker_release_address(worker, address);
    free(ports);
    return ok;
}
