// Zero-copy puts return before their source may be used again: UCX reads the source until it has sent every piece.
//
// A put returns a handle. The handles to one PE are numbers, and released in that order: one may be reported as
// released later than it is, never sooner. Few can be open at a time; one more waits.
#include "engine.h"

// released reports whether handle arg of the lane, or the last handle of every lane, is released. UCX ends the requests
// of a lane that fails, so all handles are released in the end.
static int released(channel_t *c, lane_t *l, uint64_t arg)
{
    if (l)
        return l->zcopy_released >= arg;
    while (c->cursor < c->nopened && c->opened[c->cursor]->zcopy_released == c->opened[c->cursor]->zcopy_issued)
        c->cursor++;
    return c->cursor == c->nopened;
}

// lane_put_zcopy does what lane_put does, but does not wait until src may be reused: it returns a handle, or
// 0 if src may be reused already.
uint64_t lane_put_zcopy(lane_t *l, uint64_t off, const char *src, uint64_t n)
{
    return lane_put_zcopy_with(l, off, src, n, NULL, 0);
}

// lane_put_zcopy_with does what lane_put_zcopy does, and sends a tail, as lane_put_pieces does.
uint64_t lane_put_zcopy_with(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value)
{
    if (l->zcopy_issued - l->zcopy_released == ZCOPY_MAX - 1)
        progress_until(l->channel, l, released, l->zcopy_released + 1, INT64_MAX, 0);
    uint64_t handle = ++l->zcopy_issued;
    source_hold(l, handle); // this call's
    lane_put_pieces(l, off, src, n, tail, value, handle);
    source_release(l, handle);
    return l->zcopy_released >= handle ? 0 : handle;
}

// channel_await_released waits until the given handle to pe is released, or all handles to every PE if pe < 0. The
// puts need not be complete then.
int channel_await_released(channel_t *c, int64_t pe, uint64_t handle, int64_t budget_ns)
{
    lane_t *l = pe < 0 ? NULL : c->lanes[pe];
    if (pe >= 0 && !l)
        return ENGINE_DONE;
    c->cursor = 0;
    return released(c, l, handle) ? ENGINE_DONE : progress_until(c, l, released, handle, budget_ns, 1);
}
