// What the program has mapped. All system calls on the registered mapping are here.
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pager.h"
#include "uffd.h"

static struct uffdio_range range_of(struct pager *p, int32_t b, uint64_t n)
{
    return (struct uffdio_range){(uint64_t)p->app + (uint64_t)b * p->c.block, n * p->c.block};
}

static int map_range(struct pager *p, struct uffdio_range r, int writable)
{
    struct uffdio_continue c = {.range = r, .mode = writable ? 0 : UFFDIO_CONTINUE_MODE_WP};
    while (ioctl(p->uffd, UFFDIO_CONTINUE, &c)) {
        if (errno != EAGAIN)
            return errno;
        if (c.mapped > 0) { // the address space is being changed: go on behind what is mapped
            c.range.start += (uint64_t)c.mapped;
            c.range.len -= (uint64_t)c.mapped;
        }
        c.mapped = 0;
    }
    return 0;
}

// map_blocks maps blocks whose pages exist, and wakes the threads that wait for them. Pages that are mapped already, as
// after a signal that has made a thread fault twice, stay as they are.
void map_blocks(struct pager *p, int32_t b, uint64_t n, int writable)
{
    struct uffdio_range all = range_of(p, b, n);
    if (map_range(p, all, writable) == 0)
        return;
    long page = sysconf(_SC_PAGESIZE);
    for (uint64_t at = all.start; at < all.start + all.len; at += (uint64_t)page)
        map_range(p, (struct uffdio_range){at, (uint64_t)page}, writable);
    ioctl(p->uffd, UFFDIO_WAKE, &all);
}

static void protect(struct pager *p, int32_t b, uint64_t n, uint64_t mode)
{
    struct uffdio_writeprotect w = {.range = range_of(p, b, n), .mode = mode};
    while (ioctl(p->uffd, UFFDIO_WRITEPROTECT, &w) && errno == EAGAIN)
        ;
}

void map_writable(struct pager *p, int32_t b, uint64_t n) { protect(p, b, n, 0); }
void map_protect(struct pager *p, int32_t b, uint64_t n) { protect(p, b, n, UFFDIO_WRITEPROTECT_MODE_WP); }

// map_drop unmaps blocks. Their pages stay in the file. The call is the kernel's own: UCX watches the C library's.
void map_drop(struct pager *p, int32_t b, uint64_t n)
{
    struct uffdio_range r = range_of(p, b, n);
    syscall(SYS_madvise, r.start, r.len, MADV_DONTNEED);
}

// map_bell ends the access to p->bell.
void map_bell(struct pager *p)
{
    struct uffdio_zeropage z = {.range = {(uint64_t)p->bell, BELL_BYTES}};
    while (ioctl(p->uffd, UFFDIO_ZEROPAGE, &z) && errno == EAGAIN)
        ;
}

// map_poison makes every access to b a fault that ends no wait: the thread gets SIGBUS.
void map_poison(struct pager *p, int32_t b)
{
    struct uffdio_poison x = {.range = range_of(p, b, 1)};
    if (ioctl(p->uffd, UFFDIO_POISON, &x) == 0)
        return;
    struct uffdio_range r = x.range;
    mprotect((void *)r.start, r.len, PROT_NONE);
    ioctl(p->uffd, UFFDIO_WAKE, &r);
}
