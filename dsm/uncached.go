package dsm

// Uncached: what programs cost that get and put what they need, each time they need it. Every View, Update, At and Set
// fetches its blocks from their homes, and a release puts what has been changed into them.

import "context"

type uncached struct{ *Region }

// zeroAtFirst reports false: no copy is ever valid.
func (p *uncached) zeroAtFirst() bool { return false }

func (p *uncached) fetch(list []*fetch) {
	for _, f := range list {
		f.home, f.rts = int32(p.homeOf(f.b)), forever
	}
	p.stats.count(&p.stats.FastReads, uint64(len(list)))
	p.get(list)
}

func (p *uncached) release(_ context.Context, list []int32) error {
	for _, b := range list {
		p.putChanges(b, int32(p.homeOf(b)))
	}
	p.mustQuiet()
	for _, b := range list {
		p.cache.settle(b)
	}
	return nil
}

func (p *uncached) acquire(notices) { p.cache.expire(p.now) }
