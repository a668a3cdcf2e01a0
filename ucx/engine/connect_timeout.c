// Connections that do not come about. UCX 1.13 connects with a connect(2) that blocks: for two minutes, if nothing
// answers at the address. A call of the program would last so long, and the service thread, which answers the
// heartbeats of other PEs, would seem to be silent.
//
// So a thread of the engine scans the sockets of this process at intervals. It shuts one down that has been connecting
// to a host of the job for most of PGAS_PEER_TIMEOUT: connect(2) then fails, and UCX reports that the peer cannot be
// reached. Where one has failed so a moment ago, the next to that address fails at once, for there may be several.
//
// The sockets of the program are not touched: those of Go do not block, and others go elsewhere.
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

enum {
    SCANS = 16,                      // in a time-out
    GIVE_UP_SCANS = 10,              // scans until a connection is ended
    MAX_SCAN_NS = 500 * 1000 * 1000, // the longest between two
    MIN_SCAN_NS = 5 * 1000 * 1000,   // the shortest
    ATTEMPTS_MAX = 16,               // sockets that are remembered at a time
};

// address is of a peer: its family, and its bytes in the order of the network.
struct address {
    int family;
    uint8_t bytes[16];
};

// attempt is a socket that is connecting.
struct attempt {
    ino_t inode;   // 0: the entry is free
    int64_t ns;    // that it has been seen connecting
    uint32_t scan; // the last at which it was
    int ours;      // it goes to a host of the job
    struct address to;
};

struct attempts {
    const engine_t *engine;
    struct attempt all[ATTEMPTS_MAX];
    uint32_t scans;
    struct address dead; // where the last connection was given up
    int64_t dead_ns;     // for how long that counts
};

// is_connecting reports whether fd is a socket that waits in connect(2) for an answer.
static int is_connecting(int fd)
{
    struct tcp_info info;
    socklen_t n = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 && info.tcpi_state == TCP_SYN_SENT &&
           !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static ino_t inode_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

// read_table looks for the socket with the given inode in a table of the kernel's, and says where it connects to: a
// socket that has no connection yet does not tell itself.
static int read_table(const char *path, int family, ino_t inode, struct address *to)
{
    FILE *f = fopen(path, "re");
    char line[512], hex[33];
    int found = 0;
    while (f && !found && fgets(line, sizeof line, f)) {
        unsigned long i;
        if (sscanf(line, " %*u: %*[0-9A-F]:%*x %32[0-9A-F]:%*x %*x %*x:%*x %*x:%*x %*x %*u %*u %lu", hex, &i) != 2 || i != inode)
            continue;
        size_t words = family == AF_INET ? 1 : 4;
        found = 1;
        *to = (struct address){.family = family};
        for (size_t k = 0; k < words && found; k++) {
            uint32_t word;
            found = sscanf(hex + 8 * k, "%8x", &word) == 1;
            memcpy(to->bytes + 4 * k, &word, sizeof word);
        }
    }
    if (f)
        fclose(f);
    return found;
}

static int covers(const struct engine_source *s, const struct address *a)
{
    if (s->family != a->family)
        return 0;
    for (uint32_t bit = 0; bit < s->bits; bit++)
        if ((s->bytes[bit / 8] ^ a->bytes[bit / 8]) & (0x80 >> bit % 8))
            return 0;
    return 1;
}

// is_of_job reports whether the socket with the given inode connects to a host of the job, and to which address.
static int is_of_job(const engine_t *e, ino_t inode, struct address *to)
{
    if (!read_table("/proc/self/net/tcp", AF_INET, inode, to) && !read_table("/proc/self/net/tcp6", AF_INET6, inode, to))
        return 0;
    const struct engine_source *hosts = e->config.nhosts ? e->config.hosts : e->config.sources;
    uint32_t n = e->config.nhosts ? e->config.nhosts : e->config.nsources;
    for (uint32_t i = 0; i < n; i++)
        if (covers(&hosts[i], to))
            return 1;
    return 0;
}

// attempt_of returns the entry of a socket, a new one if there is none; NULL if there is no room for it.
static struct attempt *attempt_of(struct attempts *d, ino_t inode)
{
    struct attempt *room = NULL;
    for (uint32_t i = 0; i < ATTEMPTS_MAX; i++) {
        if (d->all[i].inode == inode)
            return &d->all[i];
        if (d->all[i].inode == 0)
            room = &d->all[i];
    }
    if (room) {
        *room = (struct attempt){.inode = inode};
        room->ours = is_of_job(d->engine, inode, &room->to);
    }
    return room;
}

// check_socket adds ns to the time that a connecting socket has had, and gives it up if that is too long.
static void check_socket(struct attempts *d, int fd, int64_t ns, int64_t most)
{
    ino_t inode = inode_of(fd);
    struct attempt *x = inode ? attempt_of(d, inode) : NULL;
    if (!x)
        return;
    x->ns += x->scan ? ns : 0;
    x->scan = d->scans;
    int dead = d->dead_ns > 0 && memcmp(&d->dead, &x->to, sizeof x->to) == 0;
    if (!x->ours || (x->ns < most && !dead) || inode_of(fd) != inode)
        return;
    shutdown(fd, SHUT_RDWR);
    d->dead = x->to;
    d->dead_ns = d->engine->config.peer_timeout_ns;
}

// scan checks every socket of this process, ns after the scan before.
static void scan(struct attempts *d, int64_t ns, int64_t most)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    d->scans++;
    d->dead_ns -= ns;
    while (dir && (entry = readdir(dir)) != NULL) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && is_connecting(fd))
            check_socket(d, fd, ns, most);
    }
    if (dir)
        closedir(dir);
    for (uint32_t i = 0; i < ATTEMPTS_MAX; i++)
        if (d->all[i].scan != d->scans)
            d->all[i].inode = 0;
}

// connect_watch_main runs the thread. Time in which it does not run, as in a process that is stopped, counts for
// little.
static void *connect_watch_main(void *arg)
{
    engine_t *e = arg;
    struct attempts d = {.engine = e};
    int64_t period = e->config.peer_timeout_ns / SCANS, before = now_ns();
    period = period > MAX_SCAN_NS ? MAX_SCAN_NS : period < MIN_SCAN_NS ? MIN_SCAN_NS : period;
    int64_t most = e->config.peer_timeout_ns / SCANS * GIVE_UP_SCANS;
    pthread_setname_np(pthread_self(), "pgas-dial");
    for (;;) {
        struct pollfd stop = {.fd = e->connect_watch_stop, .events = POLLIN};
        if (poll(&stop, 1, (int)(period / 1000000)) > 0)
            return NULL;
        int64_t now = now_ns(), ns = now - before;
        before = now;
        scan(&d, ns < 2 * period ? ns : 2 * period, most);
    }
}

// connect_watch_start starts the thread where the job has other hosts, and returns 0 or an errno. The caller blocks
// signals.
int connect_watch_start(engine_t *e)
{
    if (e->config.nsources == 0 && e->config.nhosts == 0)
        return 0;
    if ((e->connect_watch_stop = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0)
        return errno;
    int failed = pthread_create(&e->connect_watcher, NULL, connect_watch_main, e);
    e->connect_watching = !failed;
    if (failed)
        close(e->connect_watch_stop);
    return failed;
}

// connect_watch_end ends it.
void connect_watch_end(engine_t *e)
{
    if (!e->connect_watching)
        return;
    eventfd_write(e->connect_watch_stop, 1);
    pthread_join(e->connect_watcher, NULL);
    close(e->connect_watch_stop);
    e->connect_watching = 0;
}
