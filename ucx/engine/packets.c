// Large packets that a network loses. Where an interface or a switch between two hosts takes smaller packets than those
// at the ends, and does not say so, connections come about, pings pass, and the first large put is sent again for ever.
// The kernel knows: it sends segments again and again on one connection, and on another all have been acknowledged.
#include <dirent.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "state.h"

// way is what the sockets of this process show of the way to a host.
struct way {
    const void *address; // of a worker of the host, in UCX's form
    size_t bytes;
    int64_t stuck_us;  // for how long, at the least, a large packet to the host has been sent in vain; 0: none has
    int64_t passed_us; // how long ago a small packet was sent that has arrived there
};

// names reports whether UCX's address of a worker holds the address of a socket's peer: UCX has it there as it is on
// the network.
static int names(const struct way *w, const struct sockaddr_storage *peer)
{
    const struct sockaddr_in *v4 = (const void *)peer;
    const struct sockaddr_in6 *v6 = (const void *)peer;
    if (peer->ss_family == AF_INET)
        return memmem(w->address, w->bytes, &v4->sin_addr, sizeof v4->sin_addr) != NULL;
    return peer->ss_family == AF_INET6 && memmem(w->address, w->bytes, &v6->sin6_addr, sizeof v6->sin6_addr) != NULL;
}

// look adds what socket fd shows. On a link that is cut a packet has been sent again, too, but none that was sent later
// has arrived. The kernel doubles its time-out each time: the sum of those that are over, and the time since the last,
// have passed since the packet was sent first.
static void look(struct way *w, int fd)
{
    enum { TWICE = 2, LARGE = 576 }; // every network takes packets of 576 bytes
    struct tcp_info info = {0};
    struct sockaddr_storage peer;
    socklen_t n = sizeof info, m = sizeof peer;
    int bytes = 0; // that have not been acknowledged
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) != 0 || getpeername(fd, (struct sockaddr *)&peer, &m) != 0 ||
        ioctl(fd, SIOCOUTQ, &bytes) != 0 || !names(w, &peer))
        return;
    int64_t sent_us = info.tcpi_last_data_sent * (int64_t)1000;
    if (bytes == 0 && sent_us < w->passed_us)
        w->passed_us = sent_us;
    if (info.tcpi_sacked > 0) // a small packet has arrived behind a large one that has not
        w->passed_us = 0;
    int64_t stuck_us = info.tcpi_rto - (info.tcpi_rto >> info.tcpi_backoff) + sent_us;
    if (info.tcpi_retransmits >= TWICE && info.tcpi_unacked > 0 && bytes > LARGE && stuck_us > w->stuck_us)
        w->stuck_us = stuck_us;
}

// silence_of returns what the silence of a PE is evidence of, whose worker has the given address: SILENT, or LARGE_LOST
// if small packets reach its host and large ones do not.
enum evidence silence_of(const void *address, size_t bytes)
{
    struct way w = {.address = address, .bytes = bytes, .passed_us = INT64_MAX};
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            look(&w, atoi(entry->d_name));
    if (dir)
        closedir(dir);
    return w.passed_us < w.stuck_us ? LARGE_LOST : SILENT;
}
