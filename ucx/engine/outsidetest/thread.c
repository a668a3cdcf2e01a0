// Each round gets a random range of the data, whose words the target has set by pattern, and raises the word to the
// number of the round, whose old value must be that of the round before. Every second one does both by one call, and
// sometimes leaves the bytes.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "thread.h"

// pattern returns word i of the data of pe.
uint64_t pattern(int pe, uint64_t i)
{
    uint64_t v = (i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(pe + 1);
    return v ^ v >> 29;
}

// checked reports whether buffer holds the n bytes of the data of pe from byte from on.
static int checked(const char *buffer, int pe, uint64_t from, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        uint64_t w = pattern(pe, (from + i) / 8), skip = (from + i) % 8;
        uint64_t k = 8 - skip < n - i ? 8 - skip : n - i;
        if (memcmp(buffer + i, (char *)&w + skip, k) != 0)
            return 0;
        i += k;
    }
    return 1;
}

// range_of chooses the range of a round: most are a block of a few KiB, some single bytes, and some all of the data.
static void range_of(uint64_t round, uint64_t bytes, uint64_t *from, uint64_t *n)
{
    uint64_t r = pattern(0, round) >> 8;
    uint64_t most = round % 64 == 63 ? bytes : round % 8 == 7 ? 100 : 8192;
    *n = round % 64 == 63 ? bytes : 1 + r % most;
    if (*n > bytes)
        *n = bytes;
    *from = (r >> 20) % (bytes - *n + 1);
}

static int always(void) { return 1; }

// act gets n bytes of the data from byte from on, and raises the word. It stores whether the bytes are to be looked at.
static int act(struct thread *t, uint64_t round, uint64_t from, uint64_t n, uint64_t *old, int *look)
{
    enum { LEAST_READ = 128 };
    const struct work *w = &t->work;
    int (*interrupted)(void) = w->impatient ? always : NULL;
    *look = 1;
    if (round % 2 == 1 && n >= LEAST_READ) {
        struct outside_read both = {
            .pe = w->pe, .word = w->word, .operand = round + 1, .offset = w->data + from, .bytes = n, .to = t->buffer, .unless = round % 6 == 5 ? ~0ull : 0,
        };
        int r = w->way->read(w->way, &both, interrupted);
        *old = both.old;
        *look = !(both.old & both.unless);
        return r;
    }
    int r = w->way->get(w->way, w->pe, w->data + from, t->buffer, n, interrupted);
    return r ? r : w->way->fetch_max(w->way, w->pe, w->word, round + 1, old, interrupted);
}

// round_of does a round. It returns 0 if it is to be repeated: a call was given up. Its atomic may have been applied.
static int round_of(struct thread *t, uint64_t round)
{
    const struct work *w = &t->work;
    uint64_t from = 0, n = w->bytes, old;
    int look;
    if (!w->whole)
        range_of(round, w->bytes, &from, &n);
    memset(t->buffer, 0, n);
    int r = act(t, round, from, n, &old, &look);
    if (r == OUTSIDE_INTERRUPTED) {
        __atomic_add_fetch(&t->given_up, 1, __ATOMIC_RELAXED);
        return 0;
    }
    if (r != 0) {
        t->lost = 1;
        return 1;
    }
    int applied = w->impatient && old == round + 1;
    if ((old != round && !applied) || (look && !checked(t->buffer, w->pe, from, n)))
        __atomic_add_fetch(&t->wrong, 1, __ATOMIC_RELAXED);
    return 1;
}

static void *thread_main(void *arg)
{
    struct thread *t = arg;
    for (uint64_t i = 0; (i < t->work.rounds || !t->work.rounds) && !t->lost && !__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE);) {
        if (!round_of(t, i))
            continue;
        i++;
        __atomic_store_n(&t->done, i - (uint64_t)t->lost, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&t->finished, 1, __ATOMIC_RELEASE);
    return NULL;
}

// thread_start starts a thread, with all signals blocked. It returns NULL without memory or without a thread.
struct thread *thread_start(const struct work *work)
{
    struct thread *t = calloc(1, sizeof *t);
    if (!t || !(t->buffer = malloc(work->bytes))) {
        free(t);
        return NULL;
    }
    t->work = *work;
    sigset_t all, saved;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    int failed = pthread_create(&t->id, NULL, thread_main, t);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    if (!failed)
        return t;
    free(t->buffer);
    free(t);
    return NULL;
}

// thread_join waits for the end of the thread.
void thread_join(struct thread *t)
{
    pthread_join(t->id, NULL);
    free(t->buffer);
    t->buffer = NULL;
}
