// Slots: the memory of operations in flight, and how their outcome is recorded.

#include "base.h"

#include <stdlib.h>

gx_slot *gx_slots_create(gx_worker *w, uint32_t first_index)
{
    gx_slot *slots = calloc(GX_SLOT_CHUNK, sizeof(*slots));
    for (uint32_t i = 0; slots != NULL && i < GX_SLOT_CHUNK; i++) {
        slots[i].index  = first_index + i;
        slots[i].worker = (uintptr_t)w;
    }
    return slots;
}

void gx_sent(void *request, ucs_status_t status, void *user_data)
{
    ucp_request_free(request);
    gx_finish(user_data, status);
}
