// Which of its addresses UCX takes on an interface: of each family it takes the first that the C library lists, and of
// two families IPv4. Another one may be that by which the hosts of the job reach each other.
//
// UCX calls getifaddrs by its name, and a program's own symbols come before those of libraries (admit.c). So the
// getifaddrs below is the one that UCX calls. While this thread opens a part of UCX for an engine, it shows one address
// of each interface that has one of the engine's own; all other callers see all.
#include <dlfcn.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "state.h"

static _Thread_local const engine_t *opening;

// addresses_begin has this thread's calls of getifaddrs show the addresses of e's job, until addresses_end.
void addresses_begin(const engine_t *e) { opening = e; }

void addresses_end(void) { opening = NULL; }

static int is_address(const struct sockaddr *a) { return a && (a->sa_family == AF_INET || a->sa_family == AF_INET6); }

// is_own reports whether a is one of the addresses that e's job uses.
static int is_own(const engine_t *e, const struct sockaddr *a)
{
    const uint8_t *bytes = (const uint8_t *)&((const struct sockaddr_in *)a)->sin_addr;
    size_t n = sizeof(struct in_addr);
    if (a->sa_family == AF_INET6) {
        bytes = ((const struct sockaddr_in6 *)a)->sin6_addr.s6_addr;
        n = sizeof(struct in6_addr);
    }
    for (uint32_t i = 0; i < e->config.nown; i++)
        if (e->config.own[i].family == a->sa_family && memcmp(e->config.own[i].bytes, bytes, n) == 0)
            return 1;
    return 0;
}

// has_own reports whether the interface of the given name has such an address.
static int has_own(const engine_t *e, const struct ifaddrs *list, const char *name)
{
    for (; list; list = list->ifa_next)
        if (is_address(list->ifa_addr) && strcmp(list->ifa_name, name) == 0 && is_own(e, list->ifa_addr))
            return 1;
    return 0;
}

__attribute__((visibility("default"))) int getifaddrs(struct ifaddrs **list)
{
    static int (*next)(struct ifaddrs **);
    int (*library)(struct ifaddrs **) = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (!library) {
        *(void **)&library = dlsym(RTLD_NEXT, "getifaddrs");
        __atomic_store_n(&next, library, __ATOMIC_RELAXED);
    }
    int failed = library(list);
    if (failed || !opening)
        return failed;
    for (struct ifaddrs *i = *list; i; i = i->ifa_next)
        if (is_address(i->ifa_addr) && !is_own(opening, i->ifa_addr) && has_own(opening, *list, i->ifa_name))
            i->ifa_addr->sa_family = AF_UNSPEC; // the list is the caller's own copy
    return 0;
}
