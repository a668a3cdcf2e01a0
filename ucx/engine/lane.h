// Layer 4: the origin's side. A channel, its lanes, the messages that leave and the answers that come back.
// No function of this layer waits.
//
// Order. Everything that a channel does to one PE goes through one lane, is numbered there, and is
// applied by the target in that order by one handler at a time. So a fence has nothing to do, and a
// signal that follows its payload is seen after it.
#ifndef ENGINE_LANE_H
#define ENGINE_LANE_H

#include "target.h"

enum { HEAD_BYTES = sizeof(struct wire_head) };

// slot.c
slot_t *take_slot(channel_t *c, uint32_t pe, char *dst, uint64_t bytes);
void slot_release(channel_t *c, slot_t *s);
int slot_bounce(slot_t *s, const char *dst);
void slot_deliver(const slot_t *s, char *dst);
void slot_abandon(channel_t *c, slot_t *s);
void slot_end(channel_t *c, slot_t *s, int32_t status);
void slot_scatter(slot_t *s, uint64_t pos, const char *from, uint64_t n);

// lane.c
sendbuf_t *take_buf(channel_t *c);
void give_buf(channel_t *c, sendbuf_t *b);
void source_hold(lane_t *l, uint64_t handle);
void source_release(lane_t *l, uint64_t handle);
int lane_clean(const lane_t *l);
void lane_fail(lane_t *l, int32_t status);
void lane_drop_waiting(lane_t *l);
int32_t connection_status(ucs_status_t status);
void lane_reap(lane_t *l);
int lane_has_lost(const lane_t *l);
int lane_report(lane_t *l);
void lane_acked(lane_t *l, uint32_t seq);
void lane_begin(lane_t *l, uint32_t first);
void native_lost(lane_t *l, int32_t status);
void on_native(void *request, ucs_status_t status, void *arg);
void lane_native_flush(lane_t *l);

// count_message counts, if somebody wants to know, a message of n bytes that carries operations to the lane's PE.
// Channels share the counters.
static inline void count_message(const lane_t *l, uint32_t operations, uint64_t n)
{
    uint64_t *counters = l->channel->engine->config.messages;
    if (!counters || operations == 0)
        return;
    __atomic_fetch_add(&counters[0], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counters[1], n, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counters[2], operations, __ATOMIC_RELAXED);
}

static inline ucp_request_param_t native_param(lane_t *l)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = on_native,
        .user_data = l,
    };
}

static inline void count_native(lane_t *l, ucs_status_ptr_t r)
{
    if (UCS_PTR_IS_PTR(r))
        l->native++;
    else if (UCS_PTR_IS_ERR(r))
        native_lost(l, UCS_PTR_STATUS(r));
}

// lane_service_drained reports whether the target has applied what went by the service lane. A failed lane has nothing
// to wait for.
static inline int lane_service_drained(const lane_t *l)
{
    return l->status != UCS_OK || !before(l->acked, l->service_lane_seq);
}

static inline void start_buffer(lane_t *l)
{
    l->used = HEAD_BYTES;
    l->records = 0;
    l->replies = 0;
}

// service_lane.c
enum service_send { DECLINED, SENT, IN_FLIGHT };
enum service_send service_lane_send(lane_t *l, uint32_t seq, sendbuf_t *b, size_t n);
int service_lane_overdue(lane_t *l);

// send.c
int post_message(lane_t *l, sendbuf_t *b, const void *header, size_t header_n, const void *data, size_t n);
int send_or_queue(lane_t *l, sendbuf_t *b, const void *header, size_t header_n, const void *data, size_t n);
struct wire_head next_head(lane_t *l, uint32_t records, uint64_t n, int want_ack);
void lane_send(lane_t *l, int want_ack);
void lane_send_prompt(lane_t *l);
void lane_request_ack(lane_t *l);
void lane_send_bye(lane_t *l);
void lane_request_ack_again(lane_t *l);

// open.c
int channel_reached(const channel_t *c);
lane_t *lane_open(channel_t *c, uint32_t pe, const void *address, size_t address_bytes);
void engine_opening(engine_t *e, const void *address, uint32_t pe, uint32_t target, uint32_t lane, void *message, uint64_t tags[2]);
void engine_spend_lanes(engine_t *e, uint32_t pe, uint32_t lanes);

// reply.c
ucs_status_t on_reply(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes, const ucp_am_recv_param_t *param);
int channel_deliver(channel_t *c, const void *message, size_t bytes);

#endif
