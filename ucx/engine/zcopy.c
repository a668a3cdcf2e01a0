// Puts that return before their source may be used again. The source of a large put is sent from where
// it is, so until UCX has let go of every piece, its owner has only lent it to the channel.
//
// The loans to one PE are numbered, and over in that order: a loan may be reported as over later than it
// is, never sooner. Few can be open at a time; one more waits.
#include "engine.h"

// over says whether loan arg of the lane, or of every lane the last one, is over. UCX ends the requests
// of a lane that fails, so they all are over in the end.
static int over(channel_t *c, lane_t *l, uint64_t arg)
{
    if (l)
        return l->returned >= arg;
    while (c->cursor < c->nopened && c->opened[c->cursor]->returned == c->opened[c->cursor]->lent)
        c->cursor++;
    return c->cursor == c->nopened;
}

// lane_lend is lane_put that does not wait until src may be reused: it returns the number of the loan, or
// 0 if that is over already.
uint64_t lane_lend(lane_t *l, uint64_t off, const char *src, uint64_t n)
{
    return lane_lend_with(l, off, src, n, NULL, 0);
}

// lane_lend_with is lane_lend that sends a tail, as lane_put_pieces does.
uint64_t lane_lend_with(lane_t *l, uint64_t off, const char *src, uint64_t n, const struct wire_rec *tail, uint64_t value)
{
    if (l->lent - l->returned == LOANS - 1)
        drive(l->channel, l, over, l->returned + 1, INT64_MAX, 0);
    uint64_t loan = ++l->lent;
    loan_part(l, loan); // this call's
    lane_put_pieces(l, off, src, n, tail, value, loan);
    loan_part_end(l, loan);
    return l->returned >= loan ? 0 : loan;
}

// channel_returned waits until the given loan to pe is over, or all loans to every PE if pe < 0. What
// was issued need not be complete then.
int channel_returned(channel_t *c, int64_t pe, uint64_t loan, int64_t budget_ns)
{
    lane_t *l = pe < 0 ? NULL : c->lanes[pe];
    if (pe >= 0 && !l)
        return ENGINE_DONE;
    c->cursor = 0;
    return over(c, l, loan) ? ENGINE_DONE : drive(c, l, over, loan, budget_ns, 1);
}
