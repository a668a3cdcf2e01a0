// Puts, gets, atomics, and the flush of an endpoint.

#include "shim.h"

int32_t gx_put_hold(gx_ep *ep, gx_slot *s, const void *src, uint64_t len, uint64_t remote, gx_rkey *key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    ucp_request_param_t param;
    gx_param(&param, s);
    return gx_posted(s, ucp_put_nbx((ucp_ep_h)ep->ep, src, len, remote, (ucp_rkey_h)key->rkey, &param));
}

int32_t gx_put_copy(gx_ep *ep, gx_slot *s, const void *src, uint64_t len, uint64_t remote, gx_rkey *key)
{
    gx_copy(s->copy, src, len);
    return gx_put_hold(ep, s, s->copy, len, remote, key);
}

int32_t gx_get_hold(gx_ep *ep, gx_slot *s, void *dst, uint64_t len, uint64_t remote, gx_rkey *key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    ucp_request_param_t param;
    gx_param(&param, s);
    return gx_posted(s, ucp_get_nbx((ucp_ep_h)ep->ep, dst, len, remote, (ucp_rkey_h)key->rkey, &param));
}

int32_t gx_atomic(gx_ep *ep, gx_slot *s, uint32_t op, uint32_t bytes, uint64_t operand, uint64_t remote,
                  gx_rkey *key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    gx_word(&s->operand, bytes, operand);
    // No callback: UCX takes the operand at once, keeps no request of ours, and completes the
    // operation before the next flush does.
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
        .datatype     = ucp_dt_make_contig(bytes),
    };
    ucs_status_ptr_t posted = ucp_atomic_op_nbx((ucp_ep_h)ep->ep, (ucp_atomic_op_t)op, &s->operand, 1,
                                                remote, (ucp_rkey_h)key->rkey, &param);
    if (UCS_PTR_IS_PTR(posted)) {
        ucp_request_free(posted);
        posted = NULL;
    }
    return gx_posted(s, posted);
}

int32_t gx_fetch_atomic(gx_ep *ep, gx_slot *s, uint32_t op, uint32_t bytes, uint64_t operand,
                        uint64_t swap, uint64_t remote, gx_rkey *key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_begin(s);
    s->word = bytes;
    if (op >= UCP_ATOMIC_OP_AND && gx_bitwise_broken()) {
        return gx_chain_start(ep, s, op, operand, remote, key);
    }
    gx_word(&s->operand, bytes, operand);
    gx_word(&s->result, bytes, swap);
    return gx_posted(s, gx_post_fetch((ucp_ep_h)ep->ep, (ucp_rkey_h)key->rkey, remote, op, bytes,
                                      &s->operand, &s->result, gx_sent, s));
}

int32_t gx_ep_flush(gx_ep *ep, gx_slot *s)
{
    gx_begin(s);
    if (ep->status < 0 || ep->ep == 0) {
        gx_finish(s, (ucs_status_t)ep->status); // failed, or never used: nothing is outstanding
        return ep->status;
    }
    ucp_request_param_t param;
    gx_param(&param, s);
    return gx_posted(s, ucp_ep_flush_nbx((ucp_ep_h)ep->ep, &param));
}
