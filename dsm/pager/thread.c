// One thread that serves the faults of all others, which sleep in the kernel meanwhile. The kernel's own accesses, as
// those of read(2), are served too, if userfaultfd permits it.
#include <string.h>
#include <unistd.h>

#include "pager.h"
#include "uffd.h"

static void serve(struct pager *p, const struct uffd_msg *m)
{
    uint64_t flags = m->arg.pagefault.flags;
    int32_t b = (int32_t)((m->arg.pagefault.address - (uint64_t)p->app) / p->c.block);
    int protected = !!(flags & UFFD_PAGEFAULT_FLAG_WP), write = protected || (flags & UFFD_PAGEFAULT_FLAG_WRITE);
    fault_serve(p, b, write, protected, NULL);
}

// thread_main blocks in the read of the next fault. So a fault takes two system calls of the pager: the read and what
// maps the block. It does not look for faults before it blocks: a PE that is bound to one CPU shares it with its pager.
// It ends at the first access to p->bell.
void *thread_main(void *arg)
{
    struct pager *p = arg;
    struct uffd_msg m[16];
    pthread_setname_np(pthread_self(), "pgas-pager");
    for (;;) {
        ssize_t n = read(p->uffd, m, sizeof m);
        for (ssize_t i = 0; i < n / (ssize_t)sizeof m[0]; i++) {
            if (m[i].event != UFFD_EVENT_PAGEFAULT)
                continue;
            if (m[i].arg.pagefault.address - (uint64_t)p->bell < BELL_BYTES) {
                map_bell(p);
                return NULL;
            }
            serve(p, &m[i]);
        }
    }
}
