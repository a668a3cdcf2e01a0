package pgas

import "github.com/gopgas/gopgas/pgas/transport"

// A route is how the accesses of a context reach a PE off the fast path: a channel, and what it can do beyond what
// every channel can. That is found out once, when the channel is opened, and not at each access.
type route struct {
	transport.Channel
	zeroCopy transport.ZeroCopyPutter // nil: a put reads its source before it returns
	strided  transport.Strider        // nil: each block is a put or a get of its own
	batcher  transport.Batcher        // nil: nothing is gathered on request
}

func newRoute(c transport.Channel) *route {
	r := &route{Channel: c}
	r.zeroCopy, _ = c.(transport.ZeroCopyPutter)
	r.strided, _ = c.(transport.Strider)
	r.batcher, _ = c.(transport.Batcher)
	return r
}
