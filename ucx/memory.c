// Memory that peers may reach, and keys to it.

#include "objects.h"

#include <stdlib.h>

int32_t gx_mem_map(ucp_context_h context, void *address, size_t len, ucp_mem_h *memh, void **base,
                   size_t *mapped, char *detail)
{
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address    = address,
        .length     = len,
        .flags      = address == NULL ? UCP_MEM_MAP_ALLOCATE : 0,
    };
    gx_detail_begin(detail);
    ucs_status_t status = ucp_mem_map(context, &params, memh);
    gx_detail_end();
    if (status != UCS_OK) {
        return status;
    }
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH};
    status = ucp_mem_query(*memh, &attr);
    if (status != UCS_OK) {
        ucp_mem_unmap(context, *memh);
        return status;
    }
    *base     = attr.address;
    *mapped = attr.length;
    return UCS_OK;
}

// The functions named ucp_memh_, new in 1.14, are for memory that is exported to other devices: they pack no key.

int32_t gx_rkey_pack(ucp_context_h context, ucp_mem_h memh, void **buffer, size_t *len)
{
    return ucp_rkey_pack(context, memh, buffer, len);
}

void gx_rkey_buffer_release(void *buffer)
{
    ucp_rkey_buffer_release(buffer);
}

int32_t gx_rkey_unpack(gx_ep *ep, const void *packed, gx_rkey **key)
{
    int32_t status = gx_ready(ep);
    if (status != UCS_OK) {
        return status;
    }
    gx_rkey *k = calloc(1, sizeof(*k));
    if (k == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_rkey_h h;
    status = ucp_ep_rkey_unpack((ucp_ep_h)ep->ep, packed, &h);
    if (status != UCS_OK) {
        free(k);
        return status;
    }
    k->rkey = (uintptr_t)h;
    *key    = k;
    return UCS_OK;
}

void gx_rkey_free(gx_rkey *key)
{
    ucp_rkey_destroy((ucp_rkey_h)key->rkey);
    free(key);
}
