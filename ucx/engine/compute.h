// Layer 1: functions of their arguments alone.
#ifndef ENGINE_COMPUTE_H
#define ENGINE_COMPUTE_H

#include "wire.h"

#include <stddef.h>
#include <string.h>

// siphash.c
void sip_hash(const uint64_t key[2], const void *bytes, size_t n, uint64_t out[2]);

// atomics.c
uint64_t word_apply(void *word, unsigned op, unsigned bytes, uint64_t operand, uint64_t cond);
uint64_t word_changed(unsigned op, unsigned bytes, uint64_t old, uint64_t operand);

// blocks.c
void move_blocks(char *to, uint64_t to_step, const char *from, uint64_t from_step, uint64_t bytes, uint64_t count);

#endif
