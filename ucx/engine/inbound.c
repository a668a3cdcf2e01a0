// The target's ends of lanes: a hash table of them, and the messages that came out of order.
#include <stdlib.h>

#include "target.h"

static uint32_t hash(uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32);
}

inbound_t **find_inbound(engine_t *e, uint64_t key)
{
    for (uint32_t i = hash(key);; i++) {
        inbound_t **pos = &e->inbound[i & (e->inbound_cap - 1)];
        if (!*pos || (*pos)->key == key)
            return pos;
    }
}

static int grow(engine_t *e)
{
    uint32_t cap = e->inbound_cap, fresh = cap ? 2 * cap : 64;
    inbound_t **old = e->inbound, **table = calloc(fresh, sizeof *table);
    if (!table)
        return 0;
    e->inbound = table;
    e->inbound_cap = fresh;
    for (uint32_t i = 0; i < cap; i++)
        if (old[i])
            *find_inbound(e, old[i]->key) = old[i];
    free(old);
    return 1;
}

// add_inbound creates the inbound end of a lane.
inbound_t *add_inbound(engine_t *e, uint64_t key)
{
    if (2 * e->inbound_used >= e->inbound_cap && !grow(e))
        return NULL;
    inbound_t *in = calloc(1, sizeof *in);
    if (!in)
        return NULL;
    in->key = key;
    e->inbound_used++;
    return *find_inbound(e, key) = in;
}

void free_inbound(inbound_t *in)
{
    while (in->held) {
        held_t *h = in->held;
        in->held = h->next;
        free(h);
    }
    free(in);
}

// remove_inbound removes a lane whose channel has closed, and moves the lanes behind it in the table to where a search
// finds them.
void remove_inbound(engine_t *e, inbound_t *in)
{
    uint32_t mask = e->inbound_cap - 1, i = (uint32_t)(find_inbound(e, in->key) - e->inbound);
    free_inbound(in);
    e->inbound[i] = NULL;
    e->inbound_used--;
    e->last_inbound = NULL;
    for (i = (i + 1) & mask; e->inbound[i]; i = (i + 1) & mask) {
        inbound_t *moved = e->inbound[i];
        e->inbound[i] = NULL;
        *find_inbound(e, moved->key) = moved;
    }
}

// hold_early keeps a message until those before it have come. An origin bounds its unacknowledged messages, so the
// held ones are bounded too.
void hold_early(engine_t *e, inbound_t *in, uint32_t seq, const void *header, size_t header_n, const void *data, size_t n)
{
    held_t **pos = &in->held, *h;
    while (*pos && before((*pos)->seq, seq))
        pos = &(*pos)->next;
    uint64_t bytes = sizeof *h + header_n + n;
    if (*pos && (*pos)->seq == seq)
        return;
    if (in->held_bytes + bytes > HELD_MAX) {
        refuse(e);
        return;
    }
    if (!(h = malloc(bytes)))
        return; // the lane stalls, and its origin reports a silent peer
    in->held_bytes += bytes;
    h->seq = seq;
    h->header_bytes = header_n;
    h->data_bytes = n;
    if (header_n) // there may be no header, or no data, and no address then
        memcpy(h->bytes, header, header_n);
    if (n)
        memcpy(h->bytes + header_n, data, n);
    h->next = *pos;
    *pos = h;
}
