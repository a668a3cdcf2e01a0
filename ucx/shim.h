// The C side of package ucx: everything that UCX must be told through structures and callbacks, so
// that Go crosses into C at most once per operation and C never calls Go.
//
// Callbacks only write down what happened: a completion stores a status in its operation's slot, an
// error handler stores a status in its endpoint, a received active message is linked to its inbox. Go
// reads those words from C memory without crossing.
//
// Structures that Go passes to hot functions contain no pointer types (handles are uintptr_t): cgo
// then has nothing to check on the way in.

#ifndef GOPGAS_UCX_SHIM_H
#define GOPGAS_UCX_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <ucp/api/ucp.h>

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
    uint32_t  abandoned; // set by Go: nobody will ask for the outcome
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
    uintptr_t failed_eps; // gx_ep: those whose failure Go has not been told of
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

// Set-up and tear-down.
int32_t gx_config_read(const char *prefix, const char *file, ucp_config_t **config, char *detail);
int32_t gx_config_modify(ucp_config_t *config, const char *name, const char *value, char *detail);
int32_t gx_config_print(const ucp_config_t *config, const char *title, int flags, char **text, size_t *len);
int32_t gx_context_create(uint64_t features, uint64_t endpoints, uint64_t per_node, const char *name,
                          const ucp_config_t *config, ucp_context_h *context, char *detail);
int32_t gx_context_print(ucp_context_h context, char **text, size_t *len);
int32_t gx_worker_create(ucp_context_h context, int wakeup, int messages, const char *name,
                         gx_worker **worker, char *detail);
void    gx_worker_destroy(gx_worker *w);
int32_t gx_worker_address(gx_worker *w, int net_only, ucp_address_t **address, size_t *len);
void    gx_worker_release_address(gx_worker *w, ucp_address_t *address);
int32_t gx_worker_max_header(gx_worker *w, size_t *len);
int32_t gx_worker_print(gx_worker *w, char **text, size_t *len);
gx_slot *gx_slots_create(gx_worker *w, uint32_t first_index);
gx_ep  *gx_ep_create(gx_worker *w, const void *address, size_t len, int peer_errors);
void    gx_ep_free(gx_ep *ep);
int32_t gx_ep_connect(gx_ep *ep);
int32_t gx_ep_close(gx_ep *ep, gx_slot *s, int force);
int32_t gx_ep_print(gx_ep *ep, char **text, size_t *len);
gx_ep  *gx_next_failed(gx_worker *w);
int32_t gx_mem_map(ucp_context_h context, void *address, size_t len, ucp_mem_h *memh, void **at,
                   size_t *mapped, char *detail);
int32_t gx_rkey_pack(ucp_context_h context, ucp_mem_h memh, void **buffer, size_t *len);
void    gx_rkey_buffer_release(void *buffer);
int32_t gx_rkey_unpack(gx_ep *ep, const void *packed, gx_rkey **key);
void    gx_rkey_free(gx_rkey *key);

// Operations. The status is UCS_INPROGRESS when the slot will be told the outcome, otherwise it is the
// outcome. The functions named _hold keep the buffer until then; the others copy what they need.
int32_t gx_put_copy(gx_ep *ep, gx_slot *s, const void *src, uint64_t len, uint64_t remote, gx_rkey *key);
int32_t gx_put_hold(gx_ep *ep, gx_slot *s, const void *src, uint64_t len, uint64_t remote, gx_rkey *key);
int32_t gx_get_hold(gx_ep *ep, gx_slot *s, void *dst, uint64_t len, uint64_t remote, gx_rkey *key);
int32_t gx_atomic(gx_ep *ep, gx_slot *s, uint32_t op, uint32_t bytes, uint64_t operand, uint64_t remote,
                  gx_rkey *key);
int32_t gx_fetch_atomic(gx_ep *ep, gx_slot *s, uint32_t op, uint32_t bytes, uint64_t operand,
                        uint64_t swap, uint64_t remote, gx_rkey *key);
int32_t gx_am_send_copy(gx_ep *ep, gx_slot *s, uint32_t id, const void *header, uint64_t header_len,
                        const void *data, uint64_t len, uint32_t flags);
int32_t gx_am_send_hold(gx_ep *ep, gx_slot *s, uint32_t id, const void *header, uint64_t header_len,
                        const void *data, uint64_t len, uint32_t flags);
int32_t gx_ep_flush(gx_ep *ep, gx_slot *s);
int32_t gx_worker_flush(gx_worker *w, gx_slot *s);
int32_t gx_worker_fence(gx_worker *w);
void    gx_request_cancel(gx_worker *w, gx_slot *s);

// Active messages.
gx_inbox *gx_inbox_create(gx_worker *w, uint32_t id, int32_t *status);
void      gx_inbox_destroy(gx_inbox *in, uint32_t id);
int32_t   gx_msg_recv_hold(gx_worker *w, gx_slot *s, gx_msg *m, void *dst);
void      gx_msg_free(gx_worker *w, gx_msg *m);

// Progress.
uint32_t gx_progress(gx_worker *w);
uint32_t gx_progress_until(gx_worker *w, const gx_slot *s, uint32_t spin_ns);
int32_t  gx_arm(gx_worker *w);
int32_t  gx_signal(gx_worker *w);
int32_t  gx_wait_efd(int32_t efd, int32_t timeout_ms);
void     gx_doze(uint32_t ns);

#endif
