// Layer 8: the life of engines and channels, and the operations made of others. Go includes this header, and with
// it all of the layers below. The caller of a function on a lane, a slot or a channel holds channel.lock.
//
// Each layer has a header, which includes that of the layer below and lists the functions of its files. A function
// calls functions of its own file, of files listed before its own, and of layers below; so no two files call each
// other. What comes from below is UCX calling one of the handlers on_..., which do not wait, or a result.
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "transfer.h"

// strided.c
void lane_put_blocks(lane_t *l, uint64_t off, const char *src, struct strided b);
slot_t *lane_get_blocks(lane_t *l, uint64_t off, char *dst, struct strided b, int detached);
int lane_get_blocks_wait(lane_t *l, uint64_t off, char *dst, struct strided b, int64_t budget_ns, slot_t **slot);

// zcopy.c
uint64_t lane_put_zcopy(lane_t *l, uint64_t off, const char *src, uint64_t n);
uint64_t lane_put_zcopy_with(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value);
int channel_await_released(channel_t *c, int64_t pe, uint64_t handle, int64_t budget_ns);

// notes.c
void lane_flush_awaited(lane_t *l);
void lane_put_note(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t tag);
uint64_t lane_put_note_zcopy(lane_t *l, uint64_t off, const char *src, uint64_t n, uint32_t tag);
slot_t *lane_get_note(lane_t *l, uint64_t off, char *dst, uint64_t n, uint32_t tag, int detached);
int lane_get_note_wait(lane_t *l, uint64_t off, char *dst, uint64_t n, uint32_t tag, int64_t budget_ns, slot_t **slot);

// quiet.c
int channel_quiet(channel_t *c, int64_t pe, int64_t budget_ns);

// renew.c
void channel_bye(channel_t *c, int64_t patience_ns);
int channel_renew(channel_t *c);

// engine.c
engine_t *engine_open(const struct engine_config *config, char *err, size_t err_bytes);
int engine_start(engine_t *e);
void engine_close(engine_t *e);
const void *engine_address(engine_t *e, size_t *bytes);
uint32_t *engine_deep(engine_t *e);
uint64_t *engine_ticks(engine_t *e);
uint64_t engine_served(engine_t *e);
uint32_t engine_inbound(engine_t *e);
void engine_leave(engine_t *e);
uint64_t engine_rejected(engine_t *e);
uint64_t engine_refused(engine_t *e);
uint64_t engine_service_lane_sent(engine_t *e);
int engine_stop_serving(engine_t *e);
void engine_serve_again(engine_t *e);
int engine_open_rma(engine_t *e);
channel_t *channel_open(engine_t *e, char *err, size_t err_bytes);
void channel_close(channel_t *c);
void channel_kick(channel_t *c);

// shared.c
struct shared *shared_start(engine_t **engines, uint32_t n);
void shared_stop(struct shared *s);

// outside.c
struct outside *outside_open(channel_t *c, struct blocked *page, uint32_t op);
void outside_end(struct outside *o);

#endif
