// Layer 1: what Go and C share, what UCX logs while set-up calls fail, and how the outcome of an operation is
// recorded.
//
// Structures that Go passes to hot functions contain no pointer types (handles are uintptr_t): cgo
// then has nothing to check on the way in.

#ifndef GOPGAS_UCX_BASE_H
#define GOPGAS_UCX_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucp/api/ucp.h>

#if UCP_API_VERSION < UCP_VERSION(1, 13)
#error "the headers of UCX are older than 1.13: install libucx-dev 1.13 or newer"
#endif

enum {
    GX_COPY_MAX   = 1024, // puts and message headers up to this size are copied into the slot
    GX_SLOT_CHUNK = 64,   // slots allocated at a time
    GX_AM_IDS     = 256,  // active message ids
    GX_DETAIL     = 512   // bytes of text kept from UCX's log for an error message
};

// One operation in flight. Owned by Go between operations; UCX and its callback write it from the
// post until status leaves UCS_INPROGRESS.
typedef struct gx_slot {
    int32_t   status;    // stored last by the completion; Go loads it atomically
    uint32_t  index;     // of this slot in its worker, 1-based
    uint32_t  next_done; // next in the worker's list of abandoned operations that completed
    uint32_t  abandoned; // set by Go: no caller will ask for the outcome
    uint32_t  word;      // bytes of an atomic's word, 0 for other operations
    uint32_t  flush;     // this is a flush of the whole worker
    uintptr_t worker;    // gx_worker
    uintptr_t request;   // UCX's handle while in progress
    uint64_t  operand;   // of an atomic
    uint64_t  result;    // of an atomic: its old value; before that, what compare-swap stores
    uint8_t   copy[GX_COPY_MAX];
} gx_slot;

typedef struct gx_worker {
    uintptr_t worker;     // ucp_worker_h
    uintptr_t failed_eps; // gx_ep: the failed ones of which Go has not been told
    uint32_t  done;       // head of the list of abandoned operations that completed, 0 when empty
    uint32_t  failures;   // endpoints that failed so far
    uint32_t  broken;     // endpoints that failed and are still open
    int32_t   last;       // status of the last failure
    int32_t   efd;        // -1 without the wakeup feature
    uint64_t  dropped;    // active messages that had no inbox
    char      detail[GX_DETAIL]; // what UCX logged when it last refused a connection
} gx_worker;

typedef struct gx_ep {
    uintptr_t ep;          // ucp_ep_h; 0 until first used, and again once closed
    uintptr_t worker;      // gx_worker
    uintptr_t next_failed; // gx_ep
    uintptr_t address;     // packed address of the remote worker
    int32_t   status;      // 0, or what the error handler reported; Go loads it atomically
    uint32_t  peer_errors; // ask UCX to detect that the peer died
} gx_ep;

typedef struct gx_rkey {
    uintptr_t rkey; // ucp_rkey_h
} gx_rkey;

// A received active message. The header follows the structure.
typedef struct gx_msg {
    struct gx_msg *next;
    void          *data;       // the payload, or UCX's descriptor of it when rendezvous is set
    uint64_t       data_len;
    uint32_t       header_len;
    uint32_t       rendezvous; // the payload is still at the sender
    uint32_t       held;       // data belongs to UCX and must be given back
} gx_msg;

// The queue of one active message id.
typedef struct gx_inbox {
    gx_msg   *head, *tail;
    gx_worker *worker;
    uint64_t  queued; // messages in the queue; Go loads it atomically
    uint64_t  lost;   // messages for which there was no memory
} gx_inbox;

static inline ucp_worker_h gx_ucp(const gx_worker *w)
{
    return (ucp_worker_h)w->worker;
}

// gx_word stores a word of the given size at the start of to, whatever the byte order.
static inline void gx_word(uint64_t *to, uint32_t bytes, uint64_t value)
{
    if (bytes == 4) {
        uint32_t low = (uint32_t)value;
        memcpy(to, &low, sizeof(low));
    } else {
        *to = value;
    }
}

// GX_TEXT runs a UCX print function into a malloc'ed string.
#define GX_TEXT(text, len, print)                      \
    do {                                               \
        FILE *stream = open_memstream((text), (len));  \
        if (stream == NULL) {                          \
            return UCS_ERR_NO_MEMORY;                  \
        }                                              \
        print;                                         \
        fclose(stream);                                \
        return UCS_OK;                                 \
    } while (0)

// setup.c
//
// gx_detail_begin makes this thread's UCX warnings and errors go to detail instead of the log, until
// gx_detail_end.
void gx_detail_begin(char *detail);
void gx_detail_end(void);
int32_t gx_config_read(const char *prefix, const char *file, ucp_config_t **config, char *detail);
int32_t gx_config_modify(ucp_config_t *config, const char *name, const char *value, char *detail);
int32_t gx_config_print(const ucp_config_t *config, const char *title, int flags, char **text, size_t *len);
int32_t gx_context_create(uint64_t features, uint64_t endpoints, uint64_t per_node, const char *name,
                          int old_protocols, ucp_config_t *config, ucp_context_h *context, char *detail);
int32_t gx_context_print(ucp_context_h context, char **text, size_t *len);

// slot.c
gx_slot *gx_slots_create(gx_worker *w, uint32_t first_index);
void gx_sent(void *request, ucs_status_t status, void *user_data);

// gx_finish records the outcome of an operation. The status is stored last: a thread that sees it sees the
// result too.
static inline void gx_finish(gx_slot *s, ucs_status_t status)
{
    gx_worker *w = (gx_worker *)s->worker;
    if (s->word == 4) {
        uint32_t low;
        memcpy(&low, &s->result, sizeof(low));
        s->result = low;
    }
    if (s->flush && status == UCS_OK && w->broken > 0) {
        // UCX reports a worker's flush as a success when an endpoint's own flush failed.
        status = (ucs_status_t)w->last;
    }
    s->request = 0;
    __atomic_store_n(&s->status, (int32_t)status, __ATOMIC_RELEASE);
    if (s->abandoned) {
        s->next_done = w->done;
        w->done      = s->index;
    }
}

// gx_copy does what memcpy does, and takes NULL when there is nothing to copy.
static inline void gx_copy(void *to, const void *from, size_t len)
{
    if (len > 0) {
        memcpy(to, from, len);
    }
}

// gx_begin readies a slot for a new operation.
static inline void gx_begin(gx_slot *s)
{
    s->status    = UCS_INPROGRESS;
    s->request   = 0;
    s->abandoned = 0;
    s->word      = 0;
    s->flush     = 0;
}

// gx_param asks for gx_sent to be called with the slot.
static inline void gx_param(ucp_request_param_t *param, gx_slot *s)
{
    param->op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param->cb.send      = gx_sent;
    param->user_data    = s;
}

// gx_posted turns what a UCX call returned into a status, and completes the slot if there will be no
// callback.
static inline int32_t gx_posted(gx_slot *s, ucs_status_ptr_t posted)
{
    if (UCS_PTR_IS_PTR(posted)) {
        s->request = (uintptr_t)posted;
        return UCS_INPROGRESS;
    }
    gx_finish(s, UCS_PTR_RAW_STATUS(posted));
    return s->status;
}

#endif
