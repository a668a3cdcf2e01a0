// Sending. A lane gathers small operations in its buffer. The buffer leaves when it is full, when a thread waits,
// and otherwise at the second tick of the service thread that finds it; in a batch, at one much later.
#include <stdlib.h>

#include "lane.h"

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    sendbuf_t *b = arg;
    lane_t *l = b->lane;
    l->pending--;
    source_release(l, b->handle);
    give_buf(l->channel, b);
    ucp_request_free(request);
    if (l->channel->renewing)
        return; // the lane goes on without this connection
    if (status != UCS_OK)
        lane_fail(l, connection_status(status));
    else
        l->silent_ns = 0; // the network accepts messages
}

// post_message gives one message to UCX and reports whether b is free again; otherwise on_sent frees it.
int post_message(lane_t *l, sendbuf_t *b, const void *header, size_t header_n, const void *data, size_t n)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER,
        .cb.send = on_sent,
        .user_data = b,
    };
    b->lane = l;
    ucs_status_ptr_t r = ucp_am_send_nbx(l->ep, AM_REQUEST, header, header_n, data, n, &param);
    if (r == NULL)
        return 1;
    if (UCS_PTR_IS_ERR(r)) {
        lane_fail(l, connection_status(UCS_PTR_STATUS(r)));
        return 1;
    }
    l->pending++;
    source_hold(l, b->handle);
    return 0;
}

// queue_message queues a message until the lane is open.
static void queue_message(lane_t *l, sendbuf_t *b, size_t header_n, const void *data, size_t n)
{
    if (!l->waiting)
        l->waiting_end = &l->waiting;
    *l->waiting_end = b;
    l->waiting_end = &b->next;
    b->next = NULL;
    b->lane = l;
    b->header_bytes = header_n;
    b->rest = data;
    b->rest_bytes = n;
    l->pending++;
    source_hold(l, b->handle);
}

// send_or_queue sends or queues one message and reports whether b is free again; otherwise it is freed later.
// header is the beginning of b's data, if there is one.
int send_or_queue(lane_t *l, sendbuf_t *b, const void *header, size_t header_n, const void *data, size_t n)
{
    if (l->open)
        return post_message(l, b, header, header_n, data, n);
    queue_message(l, b, header_n, data, n);
    return 0;
}

// Sending records.

static void push_mark(lane_t *l)
{
    if (l->marks_used == MARKS)
        l->marks_used--; // the newest stands for both
    l->marks[(l->first_mark + l->marks_used) % MARKS] = (struct mark){l->sent, l->sent_bytes};
    l->marks_used++;
    l->ack_requested = l->sent;
}

static uint64_t unmarked_bytes(const lane_t *l)
{
    uint64_t marked = l->marks_used ? l->marks[(l->first_mark + l->marks_used - 1) % MARKS].bytes : l->acked_bytes;
    return l->sent_bytes - marked;
}

static int must_request_ack(const lane_t *l)
{
    return unmarked_bytes(l) > UNACKED_MAX / 4 || l->notes_sent - l->notes_marked > NOTES_MAX / 4;
}

// next_head makes the head of the lane's next message, of n bytes, and reports whether it asks for an
// acknowledgement: when told to, and often enough that unacked bytes and notes stay bounded.
struct wire_head next_head(lane_t *l, uint32_t records, uint64_t n, int want_ack)
{
    if (l->sent == l->acked)
        l->silent_ns = 0;
    want_ack |= must_request_ack(l);
    l->sent++;
    l->sent_bytes += n;
    count_message(l, records, n);
    if (want_ack) {
        push_mark(l);
        l->notes_marked = l->notes_sent;
        want_ack = 1;
    }
    return (struct wire_head){
        .seq = l->sent,
        .records = records,
        .flags = want_ack ? WIRE_ACK : 0,
        .pe = l->channel->engine->config.pe,
        .lane = l->number,
        .tag = l->tags[0],
    };
}

// replace_buffer gives the lane another buffer, because UCX still reads the old one.
static void replace_buffer(lane_t *l)
{
    sendbuf_t *fresh = take_buf(l->channel);
    if (fresh)
        l->out = fresh;
    else
        lane_fail(l, UCS_ERR_NO_MEMORY);
}

static void send_buffer(lane_t *l, uint16_t flags, int want_ack)
{
    sendbuf_t *b = l->out;
    uint32_t used = l->used;
    struct wire_head head = next_head(l, l->records, used, want_ack);
    head.flags |= flags;
    memcpy(b->data, &head, sizeof head);
    start_buffer(l);
    if (!send_or_queue(l, b, NULL, 0, b->data, used))
        replace_buffer(l);
}

// send_by_service_lane sends the buffer by the service lane if possible, otherwise by the lane itself.
static void send_by_service_lane(lane_t *l)
{
    sendbuf_t *b = l->out;
    uint32_t used = l->used;
    struct wire_head head = next_head(l, l->records, used, 0);
    memcpy(b->data, &head, sizeof head);
    start_buffer(l);
    enum service_send service_send = service_lane_send(l, head.seq, b, used);
    if (service_send != DECLINED)
        l->service_lane_seq = head.seq;
    if (service_send == IN_FLIGHT || (service_send == DECLINED && !send_or_queue(l, b, NULL, 0, b->data, used)))
        replace_buffer(l);
}

// lane_send sends the buffer. With want_ack, the target acknowledges everything sent so far, and UCX's own operations
// are flushed.
void lane_send(lane_t *l, int want_ack)
{
    if (l->status != UCS_OK) {
        l->lost |= l->used > HEAD_BYTES;
        start_buffer(l);
        return;
    }
    if (want_ack)
        lane_native_flush(l);
    if (l->used > HEAD_BYTES || (want_ack && l->sent != l->acked && l->ack_requested != l->sent))
        send_buffer(l, 0, want_ack);
}

// keeps_much reports whether an acknowledgement should be asked for because of the copies of what went by the service
// lane.
static int keeps_much(const lane_t *l)
{
    return l->kept_bytes > KEPT_MAX / 4 && unmarked_bytes(l) > KEPT_MAX / 4;
}

// lane_send_prompt does what lane_send does, with a message for which a PE is likely to wait.
void lane_send_prompt(lane_t *l)
{
    if (l->status != UCS_OK || !l->open || l->used == HEAD_BYTES || l->used > SERVICE_LANE_MAX || l->replies || l->use_native > 0 || must_request_ack(l))
        lane_send(l, 0);
    else if (keeps_much(l))
        lane_send(l, 1);
    else
        send_by_service_lane(l);
}

// lane_request_ack sends a request for an acknowledgement, even if the buffer is empty and everything is acknowledged.
void lane_request_ack(lane_t *l)
{
    if (l->status == UCS_OK)
        send_buffer(l, 0, 1);
}

// lane_send_bye tells the target to forget the lane.
void lane_send_bye(lane_t *l)
{
    if (l->status == UCS_OK)
        send_buffer(l, WIRE_BYE, 1);
}

// send_kept sends by the lane itself what went by the service lane and may be lost.
static void send_kept(lane_t *l)
{
    struct kept k;
    uint32_t end = l->kept_bytes;
    for (uint32_t at = 0; at < end && l->status == UCS_OK; at += sizeof k + k.bytes) {
        memcpy(&k, l->kept + at, sizeof k);
        sendbuf_t *b = take_buf(l->channel);
        if (!b) {
            lane_fail(l, UCS_ERR_NO_MEMORY);
            return;
        }
        memcpy(b->data, l->kept + at + sizeof k, k.bytes);
        if (send_or_queue(l, b, NULL, 0, b->data, k.bytes))
            give_buf(l->channel, b);
    }
    l->kept_bytes = 0;
}

// lane_request_ack_again repeats a request for an acknowledgement. The target could not answer the first one if it had
// overtaken a message on the service lane. What is overdue there is sent again.
void lane_request_ack_again(lane_t *l)
{
    if (service_lane_overdue(l))
        send_kept(l);
    if (l->marks_used && !lane_service_drained(l))
        lane_request_ack(l);
}
