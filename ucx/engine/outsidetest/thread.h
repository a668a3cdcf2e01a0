// A thread of C that reads another PE's heap through a struct outside and checks what it gets.
#ifndef OUTSIDETEST_THREAD_H
#define OUTSIDETEST_THREAD_H

#include <pthread.h>

#include "../outside.h"

struct work {
    struct outside *way;
    int pe;
    uint64_t data, bytes; // where the data of pe is, and its size, a multiple of 8
    uint64_t word;        // a word that this thread alone changes
    uint64_t rounds;      // to do; 0: until a call fails or the thread is stopped
    int whole;            // a round gets all of the data
    int impatient;        // a call that takes long is given up, and its round repeated
};

struct thread {
    struct work work;
    pthread_t id;
    void *buffer;
    uint32_t stop, finished;
    uint64_t done, wrong; // rounds; results that are not what they must be
    uint64_t given_up;    // calls
    int lost;             // a call has returned -1
};

struct thread *thread_start(const struct work *work);
void thread_join(struct thread *t);
uint64_t pattern(int pe, uint64_t i);

#endif
