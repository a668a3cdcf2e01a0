// Layer 6: waits of one channel: for room, for answers, and for the order of operations on the same bytes.
#ifndef ENGINE_FLOW_H
#define ENGINE_FLOW_H

#include "progress.h"

// flow.c
void lane_throttle(lane_t *l);
void lane_flush(lane_t *l);
void lane_flush_prompt(lane_t *l);
int lane_drain_service_for(lane_t *l, int64_t budget_ns);
void lane_drain_service(lane_t *l);
void lane_need_room(lane_t *l, uint32_t n);
void lane_await_sent(lane_t *l);
void lane_await_get_room(lane_t *l, uint32_t n);
void need_slot(lane_t *l);
void wait_native(lane_t *l, uint32_t left);
int lane_await_note_credit(lane_t *l, int64_t budget_ns);
int channel_await(channel_t *c, slot_t *s, int64_t budget_ns);
int channel_await_all(channel_t *c, slot_t *s);
void slot_await_fetch(channel_t *c, slot_t *s);

// ordering.c
enum native_kind { NATIVE_PUT, NATIVE_GET, NATIVE_WORD };
void lane_start_ordering(lane_t *l);
void order_message(lane_t *l, uint64_t off, uint64_t n, int writes);
void order_native(lane_t *l, uint64_t off, uint64_t n, enum native_kind kind);
void lane_fence(lane_t *l);

#endif
