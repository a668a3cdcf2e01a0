// Layer 5: progress, by a thread that waits and by the service thread.
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include "lane.h"

// tick.c
void count_silence(channel_t *c, lane_t *l, int64_t ns);
enum { TICK_DIRTY = 1, TICK_MOVED = 2 };
int tick_channels(engine_t *e);

// progress.c
typedef int (*condition)(channel_t *c, lane_t *l, uint64_t arg);
int progress_until(channel_t *c, lane_t *l, condition done, uint64_t arg, int64_t budget_ns, int interruptible);
int engine_wait_word(engine_t *e, uint64_t off, uint32_t bytes, int cmp, uint64_t value, int is_signed, int64_t budget_ns);
void engine_wait_doorbell(engine_t *e, uint32_t seen, int64_t budget_ns);

// service.c
void *service_main(void *arg);

#endif
