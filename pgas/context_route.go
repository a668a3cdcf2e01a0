package pgas

import "github.com/gopgas/gopgas/pgas/transport"

// route carries the accesses of a context to a PE off the fast path: a channel and its optional interfaces, which are
// resolved once, when the channel is opened, and not at each access.
type route struct {
	transport.Channel
	zeroCopy transport.ZeroCopyPutter // nil: a put reads its source before it returns
	strided  transport.Strider        // nil: each block is a put or a get of its own
	batcher  transport.Batcher        // nil: hints of sessions have no effect
	bounced  *route                   // the same way for memory that must not reach the transport; nil: no memory must not
	landings *landings                // what a quiet copies after such operations
}

// newRoute returns the route over c.
func newRoute(c transport.Channel) *route {
	r := &route{Channel: c}
	r.zeroCopy, _ = c.(transport.ZeroCopyPutter)
	r.strided, _ = c.(transport.Strider)
	r.batcher, _ = c.(transport.Batcher)
	return r
}
