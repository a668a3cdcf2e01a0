// Opening and closing: descriptors, mappings, and the thread.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pager.h"
#include "uffd.h"

static int fail(char *why, uint64_t n, const char *what)
{
    snprintf(why, n, "%s: %s", what, strerror(errno));
    return -1;
}

// descriptor returns a userfaultfd: one that serves faults of the kernel too, if that is permitted and wanted.
static int descriptor(int user_only)
{
    int fd = -1;
    if (!user_only)
        fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd < 0 && !user_only) {
        int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
        if (device >= 0) {
            fd = ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC);
            close(device);
        }
    }
    if (fd < 0)
        fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    return fd;
}

// with_features returns a userfaultfd with what a region needs, or -1. For SIGBUS in place of sleep it needs no
// privilege.
static int with_features(int user_only, int by_signal, char *why, uint64_t n)
{
    const uint64_t wanted = (by_signal ? UFFD_FEATURE_SIGBUS : 0) | UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
    for (uint64_t features = wanted | UFFD_FEATURE_POISON;; features = wanted) {
        int fd = descriptor(user_only || by_signal);
        if (fd < 0)
            return fail(why, n, "userfaultfd");
        struct uffdio_api api = {.api = UFFD_API, .features = features};
        if (ioctl(fd, UFFDIO_API, &api) == 0)
            return fd;
        close(fd);
        if (features == wanted)
            return fail(why, n, "userfaultfd: this kernel cannot write-protect shared memory (Linux 6.4 can)");
    }
}

// hang_bell makes the memory whose first access ends the pager: it blocks in a read of faults, which ends by a fault
// alone.
static int hang_bell(struct pager *p, char *why, uint64_t n)
{
    p->bell = mmap(NULL, BELL_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->bell == MAP_FAILED)
        return fail(why, n, "address space of the region");
    madvise(p->bell, BELL_BYTES, MADV_DONTFORK);
    struct uffdio_register r = {.range = {(uint64_t)p->bell, BELL_BYTES}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(p->uffd, UFFDIO_REGISTER, &r))
        return fail(why, n, "userfaultfd: registering memory");
    return 0;
}

// make_stack makes the stack on which faults are served, with an inaccessible page below it.
static int make_stack(struct pager *p, char *why, uint64_t n)
{
    long page = sysconf(_SC_PAGESIZE);
    char *m = mmap(NULL, STACK_BYTES + (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED)
        return fail(why, n, "address space of the region");
    p->stack = m + page;
    return mprotect(m, (size_t)page, PROT_NONE) ? fail(why, n, "memory of the region") : 0;
}

static int map_memory(struct pager *p, char *why, uint64_t n)
{
    uint64_t bytes = p->c.block * p->c.blocks;
    p->memory = memfd_create("pgas-dsm", MFD_CLOEXEC);
    if (p->memory < 0 || ftruncate(p->memory, (off_t)bytes))
        return fail(why, n, "memory of the region");
    p->alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, p->memory, 0);
    p->app = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, p->memory, 0);
    if (p->alias == MAP_FAILED || p->app == MAP_FAILED)
        return fail(why, n, "address space of the region");
    madvise(p->app, bytes, MADV_NOHUGEPAGE);
    madvise(p->app, bytes, MADV_DONTFORK);
    struct uffdio_register r = {
        .range = {(uint64_t)p->app, bytes},
        .mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP,
    };
    if (ioctl(p->uffd, UFFDIO_REGISTER, &r))
        return fail(why, n, "userfaultfd: registering memory");
    return p->c.faults == FAULTS_BY_THREAD ? hang_bell(p, why, n) : make_stack(p, why, n);
}

static void *zeroed(uint64_t n, uint64_t size)
{
    void *m = mmap(NULL, n * size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return m == MAP_FAILED ? NULL : m;
}

static int make_list(struct pager *p, struct list *l)
{
    l->blocks = zeroed(p->c.blocks, sizeof(int32_t));
    l->spare = zeroed(p->c.blocks, sizeof(int32_t));
    return l->blocks && l->spare;
}

static int make_tables(struct pager *p, char *why, uint64_t n)
{
    uint64_t blocks = p->c.blocks;
    p->blk = zeroed(blocks, sizeof *p->blk);
    p->tmp = malloc(p->c.block);
    if (!p->blk || !make_list(p, &p->dirty) || !make_list(p, &p->copies) || !make_list(p, &p->ring) || !p->tmp)
        return fail(why, n, "tables of the region");
    for (uint64_t b = 0; b < blocks; b++)
        p->blk[b].home = (int32_t)(b % (uint64_t)p->c.pes);
    return 0;
}

static void unmap(void *at, uint64_t n)
{
    if (at && at != MAP_FAILED)
        munmap(at, n);
}

// The addresses of the last regions that have ended. They stay inaccessible, so that a late access to an array faults:
// the kernel would give a free range to the next mapping, and the access would read that.
static struct {
    pthread_mutex_t mu;
    struct range {
        char *at;
        uint64_t bytes;
    } last[ENDED_KEPT];
    uint64_t n; // ranges ever kept
} ended = {.mu = PTHREAD_MUTEX_INITIALIZER};

// make_inaccessible has accesses to the region fault from here on.
static void make_inaccessible(struct pager *p)
{
    mmap(p->app, p->c.block * p->c.blocks, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

// keep_addresses gives back those of the oldest of the ended regions instead of this one's.
static void keep_addresses(struct pager *p)
{
    pthread_mutex_lock(&ended.mu);
    struct range *oldest = &ended.last[ended.n++ % ENDED_KEPT];
    unmap(oldest->at, oldest->bytes);
    *oldest = (struct range){p->app, p->c.block * p->c.blocks};
    pthread_mutex_unlock(&ended.mu);
}

static void release(struct pager *p)
{
    uint64_t blocks = p->c.blocks, bytes = p->c.block * blocks;
    int mapped = p->app && p->app != MAP_FAILED;
    if (mapped)
        make_inaccessible(p); // first: accesses do not read what is left
    int fds[] = {p->uffd, p->memory};
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    unmap(p->bell, BELL_BYTES);
    if (p->stack)
        unmap(p->stack - sysconf(_SC_PAGESIZE), STACK_BYTES + (uint64_t)sysconf(_SC_PAGESIZE));
    unmap(p->alias, bytes);
    unmap(p->blk, blocks * sizeof *p->blk + 1);
    int32_t *lists[] = {p->dirty.blocks, p->dirty.spare, p->copies.blocks, p->copies.spare, p->ring.blocks, p->ring.spare};
    for (int i = 0; i < 6; i++)
        unmap(lists[i], blocks * sizeof(int32_t) + 1);
    if (mapped)
        keep_addresses(p);
    free(p->tmp);
    free(p->c.near);
    free(p);
}

// start starts the thread, with all signals blocked: one of Go's handlers must not run on it.
static int start(struct pager *p)
{
    sigset_t all, saved;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    int err = pthread_create(&p->thread, NULL, p->c.faults == FAULTS_BY_THREAD ? thread_main : serving_main, p);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return err;
}

// stop ends the thread.
static void stop(struct pager *p)
{
    if (p->c.faults == FAULTS_BY_SIGNAL)
        serving_stop(p);
    else
        (void)*(volatile char *)p->bell;
    pthread_join(p->thread, NULL);
}

struct pager *pager_open(const struct pager_config *c, char *why, uint64_t n)
{
    struct pager *p = calloc(1, sizeof *p);
    if (!p) {
        fail(why, n, "a pager");
        free(c->near);
        return NULL;
    }
    p->c = *c;
    p->memory = -1;
    if (c->faults == FAULTS_BY_SIGNAL && !signal_usable())
        p->c.faults = FAULTS_BY_THREAD;
    p->uffd = with_features(c->user_only, p->c.faults == FAULTS_BY_SIGNAL, why, n);
    if (p->uffd < 0 || map_memory(p, why, n) || make_tables(p, why, n)) {
        release(p);
        return NULL;
    }
    if ((errno = start(p))) {
        fail(why, n, "starting the pager");
        release(p);
        return NULL;
    }
    if (p->c.faults == FAULTS_BY_SIGNAL && !signal_watch(p)) {
        fail(why, n, "memory of the region");
        stop(p);
        release(p);
        return NULL;
    }
    return p;
}

// pager_close ends the thread after the mapping is inaccessible, so a thread that is in a fault gets a signal.
void pager_close(struct pager *p)
{
    make_inaccessible(p);
    if (p->c.faults == FAULTS_BY_SIGNAL)
        signal_unwatch(p);
    stop(p);
    release(p);
}

// pager_probe tries on one page what a region needs.
int pager_probe(int user_only, char *why, uint64_t n)
{
    long page = sysconf(_SC_PAGESIZE);
    char *heap = calloc(1, (size_t)page);
    struct pager_config c = {.block = (uint64_t)page, .blocks = 1, .pes = 1, .user_only = user_only, .faults = FAULTS_BY_THREAD, .near = calloc(1, sizeof(char *))};
    if (!heap || !c.near)
        return fail(why, n, "memory");
    c.near[0] = heap;
    struct pager *p = pager_open(&c, why, n);
    if (!p) {
        free(heap);
        return -1;
    }
    struct uffdio_continue map = {.range = {(uint64_t)p->app, (uint64_t)page}, .mode = UFFDIO_CONTINUE_MODE_WP};
    int bad = !block_allocate(p, 0) || ioctl(p->uffd, UFFDIO_CONTINUE, &map) ? fail(why, n, "userfaultfd: this kernel cannot map shared memory write-protected (Linux 6.4 can)") : 0;
    pager_close(p);
    free(heap);
    return bad;
}
