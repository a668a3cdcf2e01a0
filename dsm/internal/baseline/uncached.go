package baseline

// Uncached: what programs cost that get and put what they need, each time they need it. Every View, Update, At and Set
// fetches its blocks from their homes, and a release puts what has been changed into them.

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
)

type uncached struct{ homes }

func (p uncached) Fetch(list []*protocol.Fetch) {
	for _, f := range list {
		f.Home, f.RTS = int32(p.HomeOf(f.Block)), forever
	}
	p.Counters.FastReads.Add(uint64(len(list)))
	p.Get(list)
}

func (p uncached) Release(_ context.Context, list []int32) error {
	for _, b := range list {
		p.putChanges(b, int32(p.HomeOf(b)))
	}
	p.MustQuiet()
	for _, b := range list {
		p.Cache.Settle(b)
	}
	return nil
}

func (p uncached) Acquire(protocol.Notices) { p.Cache.Expire(p.Now) }
