// Faults served by the faulting thread. The kernel sends it SIGBUS in place of putting it to sleep
// (UFFD_FEATURE_SIGBUS), the handler serves the fault, and the access is done again when the handler returns. So no
// thread hands over to another.
//
// The handler runs on the thread's signal stack, which Go has made for its own handlers and is small: what serves runs
// on a stack of the pager (stack.h). All signals are blocked until the handler returns. That includes those that the C
// library keeps for itself: their handlers would start at the top of the signal stack, over this one's frame.
//
// Addresses outside of all regions are for the handler that was there before, which is Go's: it is called as if it had
// got the signal. A thread that blocks SIGBUS must not access a region: the kernel ends the process.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "pager.h"
#include "stack.h"

// A watch is a region of which the handler knows. It is never freed, so that the handler can go through all of them
// without a lock, and another region uses it again.
struct watch {
    struct pager *pager; // NULL: free
    uint32_t inside;     // threads that look at pager or use it
    struct watch *next;
};

// The handler is the process's, and so is what it knows.
static struct {
    struct watch *first;
    struct sigaction before;
    pthread_once_t once;
    int installed;
} process = {.once = PTHREAD_ONCE_INIT};

// enter returns the watch of the region that at is in, or NULL. Its pager stays until leave.
static struct watch *enter(uint64_t at)
{
    for (struct watch *w = __atomic_load_n(&process.first, __ATOMIC_ACQUIRE); w; w = w->next) {
        // Before the load: signal_unwatch has them the other way round.
        __atomic_add_fetch(&w->inside, 1, __ATOMIC_SEQ_CST);
        struct pager *p = __atomic_load_n(&w->pager, __ATOMIC_SEQ_CST);
        if (p && at - (uint64_t)p->app < p->c.block * p->c.blocks)
            return w;
        __atomic_sub_fetch(&w->inside, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void leave(struct watch *w) { __atomic_sub_fetch(&w->inside, 1, __ATOMIC_RELEASE); }

// interrupted reports whether Go wants to interrupt this thread. Go does so by SIGURG.
static int interrupted(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGURG) == 1;
}

#if defined(__aarch64__)
#include <asm/sigcontext.h>

// is_write reports whether the access was a store: bit WnR of the exception's syndrome.
static int is_write(const ucontext_t *u)
{
    const char *at = (const char *)u->uc_mcontext.__reserved, *end = at + sizeof u->uc_mcontext.__reserved;
    while (end - at >= (long)sizeof(struct esr_context)) {
        const struct esr_context *e = (const struct esr_context *)at;
        if (e->head.magic == ESR_MAGIC)
            return (int)(e->esr >> 6 & 1);
        if (e->head.magic == 0 || e->head.size == 0)
            break;
        at += e->head.size;
    }
    return 0;
}
#elif defined(__x86_64__)
// is_write reports whether the access was a store: bit 1 of the page fault's error code.
static int is_write(const ucontext_t *u) { return (int)(u->uc_mcontext.gregs[REG_ERR] >> 1 & 1); }
#else
static int is_write(const ucontext_t *u)
{
    (void)u;
    return 0;
}
#endif

struct fault {
    struct pager *p;
    int32_t b;
    int write, waited;
    enum served result;
};

// serve serves a fault on the pager's stack. If another thread has served meanwhile, and the block's flags permit the
// access, the access is just done again.
static void serve(void *arg)
{
    struct fault *f = arg;
    struct pager *p = f->p;
    uint32_t flags = __atomic_load_n(&p->blk[f->b].flags, __ATOMIC_RELAXED), enough = VALID | MAPPED | (f->write ? WRITABLE : 0);
    if (f->waited && (flags & enough) == enough)
        return;
    f->result = fault_serve(p, f->b, f->write, f->write && flags & MAPPED, interrupted);
    if (f->result == SERVED_INTERRUPTED)
        serving_hand_over(p, f->b);
}

// serve_here serves the fault of an access to at. The access is to be done again after that.
static void serve_here(struct pager *p, uint64_t at, int write)
{
    struct fault f = {.p = p, .b = (int32_t)((at - (uint64_t)p->app) / p->c.block), .write = write};
    if (!serving_begin(p, &f.waited, interrupted))
        return;
    call_on(p->stack + STACK_BYTES, serve, &f);
    serving_end(p);
}

// pass_on has the handler of before handle the signal.
static void pass_on(int sig, siginfo_t *info, void *context)
{
    const struct sigaction *b = &process.before;
    if (b->sa_flags & SA_SIGINFO)
        b->sa_sigaction(sig, info, context);
    else if (b->sa_handler == SIG_DFL || b->sa_handler == SIG_IGN)
        signal(sig, SIG_DFL); // the access is done again, and ends the process
    else
        b->sa_handler(sig);
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    struct watch *w = info->si_code == BUS_ADRERR ? enter((uint64_t)info->si_addr) : NULL;
    if (!w) {
        pass_on(sig, info, context);
        return;
    }
    serve_here(w->pager, (uint64_t)info->si_addr, is_write(context));
    leave(w);
    errno = saved;
}

static void install(void)
{
    struct sigaction a = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    memset(&a.sa_mask, 0xff, sizeof a.sa_mask); // sigfillset would leave out what the C library keeps for itself
    process.installed = STACK_CALLS && sigaction(SIGBUS, &a, &process.before) == 0;
}

// signal_usable installs the handler when it is called first. It returns 0 if there is none: for this CPU, or because
// the program has replaced it.
int signal_usable(void)
{
    struct sigaction now;
    pthread_once(&process.once, install);
    return process.installed && sigaction(SIGBUS, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_sigbus;
}

// signal_lost reports that page faults are not served any more, because the program has replaced the handler: by the
// one that was there before, by none, or by one that does not run on the signal stack, as goroutines need. Of another
// one it is assumed that it passes on what is not its own.
int signal_lost(void)
{
    struct sigaction now;
    if (!process.installed || sigaction(SIGBUS, NULL, &now) != 0)
        return 0;
    return !(now.sa_flags & SA_ONSTACK) || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN || now.sa_handler == process.before.sa_handler;
}

// signal_watch has the handler serve p's faults. It returns 0 without memory.
int signal_watch(struct pager *p)
{
    for (struct watch *w = __atomic_load_n(&process.first, __ATOMIC_ACQUIRE); w; w = w->next) {
        struct pager *none = NULL;
        if (__atomic_compare_exchange_n(&w->pager, &none, p, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return 1;
    }
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return 0;
    w->pager = p;
    w->next = __atomic_load_n(&process.first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&process.first, &w->next, w, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return 1;
}

// signal_unwatch has the handler know p no more, and waits for the threads that use it.
void signal_unwatch(struct pager *p)
{
    struct watch *w = __atomic_load_n(&process.first, __ATOMIC_ACQUIRE);
    while (w && __atomic_load_n(&w->pager, __ATOMIC_RELAXED) != p)
        w = w->next;
    if (!w)
        return;
    __atomic_store_n(&w->pager, NULL, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&w->inside, __ATOMIC_SEQ_CST))
        usleep(50);
}
