#ifndef FOREIGN_H
#define FOREIGN_H

#include <stdint.h>

uint64_t foreign_sum(const uint64_t *words, uint64_t n);
int foreign_thread_sum(const uint64_t *words, uint64_t n, uint64_t *sum);
int foreign_fill(uint64_t *words, uint64_t n, uint64_t first);

#endif
