#include <errno.h>
#include <pthread.h>

#include "foreign.h"

struct work {
    const uint64_t *words;
    uint64_t n, sum;
};

// foreign_sum adds words on the calling thread. It returns 0 if an access has changed errno.
uint64_t foreign_sum(const uint64_t *words, uint64_t n)
{
    uint64_t sum = 0;
    errno = EDOM;
    for (uint64_t i = 0; i < n; i++)
        sum += words[i];
    __asm__ volatile("" ::: "memory"); // errno is read again
    return errno == EDOM ? sum : 0;
}

static void *thread_main(void *arg)
{
    struct work *w = arg;
    w->sum = foreign_sum(w->words, w->n);
    return NULL;
}

// foreign_thread_sum adds words on a thread of its own.
int foreign_thread_sum(const uint64_t *words, uint64_t n, uint64_t *sum)
{
    struct work w = {words, n, 0};
    pthread_t t;
    int err = pthread_create(&t, NULL, thread_main, &w);
    if (err == 0)
        err = pthread_join(t, NULL);
    *sum = w.sum;
    return err;
}

// foreign_fill stores first, first+1, … and returns whether errno has stayed what it was.
int foreign_fill(uint64_t *words, uint64_t n, uint64_t first)
{
    errno = EDOM;
    for (uint64_t i = 0; i < n; i++)
        words[i] = first + i;
    __asm__ volatile("" ::: "memory");
    return errno == EDOM;
}
