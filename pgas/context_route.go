package pgas

import (
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/internal/bounce"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/transport"
)

// route carries the accesses of a context to a PE off the fast path: a channel and its optional interfaces, which are
// resolved once, when the channel is opened, and not at each access.
type route struct {
	transport.Channel
	zeroCopy transport.ZeroCopyPutter // puts without a copy; nil: a put reads its source before it returns
	strided  transport.Strider        // strided transfers; nil: each block is a put or a get of its own
	batcher  transport.Batcher        // takes hints of sessions; nil: they have no effect
	bounced  *route                   // the route for memory that the transport must not touch; nil if there is none
	landings *bounce.Landings         // what a quiet copies after operations on such memory

	unrecorded transport.Channel // the channel without what records
}

// newRoute returns the route over c.
func newRoute(c transport.Channel) *route {
	r := &route{Channel: c, unrecorded: c}
	r.zeroCopy, _ = c.(transport.ZeroCopyPutter)
	r.strided, _ = c.(transport.Strider)
	r.batcher, _ = c.(transport.Batcher)
	return r
}

// record puts a channel that records in r's way, if rec is not nil.
func (r *route) record(rec *record.PE) {
	if rec == nil {
		return
	}
	over := node.Record(r.Channel, rec)
	r.Channel, r.zeroCopy, r.strided = over, over.ZeroCopy(r.zeroCopy), over.Strided(r.strided)
}

// bounce gives r a way beside it for what memory holds.
func (r *route) bounce(memory *bounce.Memory) {
	over := bounce.Over(r.Channel, memory)
	r.landings = &over.Landings
	r.bounced = &route{Channel: over, zeroCopy: over.ZeroCopy(r.zeroCopy), strided: over.Strided(r.strided), batcher: r.batcher}
}

// watchBy has x see what goes through r.
func (r *route) watchBy(x *watcher) {
	if x == nil || r == nil {
		return
	}
	if x.races != nil {
		r.Channel, r.zeroCopy, r.strided = x.races.Over(r.Channel, r.zeroCopy, r.strided)
	}
	if x.domain != nil {
		r.Channel, r.zeroCopy, r.strided = x.domain.Over(r.Channel, r.zeroCopy, r.strided)
	}
	r.bounced.watchBy(x)
}
