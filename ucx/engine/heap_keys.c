// The owner's side of UCX's own operations: the heap is registered in chunks, each when an initiator first asks
// for its key.
#include <stdlib.h>

#include "target.h"

struct chunk {
    ucp_mem_h memory;
    void *key;
    size_t key_bytes;
    int tried;
};

static void register_chunk(engine_t *e, struct chunk *c, uint64_t off)
{
    uint64_t left = e->config.heap_bytes - off;
    ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = e->config.heap + off,
        .length = left < CHUNK_BYTES ? left : CHUNK_BYTES,
    };
    c->tried = 1;
    if (ucp_mem_map(e->context, &params, &c->memory) != UCS_OK)
        c->memory = NULL;
    else if (ucp_rkey_pack(e->context, c->memory, &c->key, &c->key_bytes) != UCS_OK)
        c->key = NULL;
}

// engine_key writes KEY_BYTES about the chunk at off, for take_key of another engine.
void engine_key(engine_t *e, uint64_t off, char *bytes)
{
    struct wire_key wire = {0};
    memset(bytes, 0, KEY_BYTES);
    if (!e->rma)
        return; // remote memory access stays off
    if (!e->chunks && !(e->chunks = calloc((e->config.heap_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES, sizeof *e->chunks)))
        return;
    struct chunk *c = &e->chunks[off / CHUNK_BYTES];
    if (!c->tried)
        register_chunk(e, c, off / CHUNK_BYTES * CHUNK_BYTES);
    if (c->key && c->key_bytes <= KEY_BYTES - sizeof wire) {
        wire.base = (uint64_t)(uintptr_t)(e->config.heap + off / CHUNK_BYTES * CHUNK_BYTES);
        wire.bytes = (uint32_t)c->key_bytes;
        memcpy(bytes + sizeof wire, c->key, c->key_bytes);
    }
    memcpy(bytes, &wire, sizeof wire);
}

// engine_drop_chunks ends the registrations.
void engine_drop_chunks(engine_t *e)
{
    uint64_t n = (e->config.heap_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    for (uint64_t i = 0; e->chunks && i < n; i++) {
        if (e->chunks[i].key)
            ucp_rkey_buffer_release(e->chunks[i].key);
        if (e->chunks[i].memory)
            ucp_mem_unmap(e->context, e->chunks[i].memory);
    }
    free(e->chunks);
}
