// Quiet: everything that was issued is complete.
#include "engine.h"

static int lane_quiet(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)c;
    (void)arg;
    return lane_clean(l);
}

static int all_quiet(channel_t *c, lane_t *l, uint64_t arg)
{
    (void)l;
    (void)arg;
    while (c->cursor < c->nopened && lane_clean(c->opened[c->cursor]))
        c->cursor++;
    return c->cursor == c->nopened;
}

static int quiet_lane(lane_t *l, int64_t budget_ns)
{
    int r = ENGINE_DONE;
    lane_send(l, 1);
    if (!lane_clean(l))
        r = progress_until(l->channel, l, lane_quiet, 0, budget_ns, 1);
    return lane_has_lost(l) ? lane_report(l) : r;
}

static int quiet_all(channel_t *c, int64_t budget_ns)
{
    int r = ENGINE_DONE;
    for (uint32_t i = 0; i < c->nopened; i++)
        lane_send(c->opened[i], 1);
    c->cursor = 0;
    if (!all_quiet(c, NULL, 0))
        r = progress_until(c, NULL, all_quiet, 0, budget_ns, 1);
    for (uint32_t i = 0; i < c->nopened && r == ENGINE_DONE; i++)
        if (lane_has_lost(c->opened[i]))
            r = lane_report(c->opened[i]);
    return r;
}

// channel_quiet completes everything issued to pe, or to every PE if pe < 0. Once something issued to them is lost it
// returns ENGINE_LOST for ever.
int channel_quiet(channel_t *c, int64_t pe, int64_t budget_ns)
{
    if (pe < 0)
        return quiet_all(c, budget_ns);
    return c->lanes[pe] ? quiet_lane(c->lanes[pe], budget_ns) : ENGINE_DONE;
}
