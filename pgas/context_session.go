package pgas

// Sessions: what a program is about to do on a context, as a hint. A session changes how soon what was
// issued leaves for other hosts, and nothing else: not what an operation does, when it is complete, what
// orders it, or when its buffers may be used again.

// SessionHint says something about the operations to come.
type SessionHint func(*sessionHints)

type sessionHints struct {
	batch bool
	total int // 0: not said
}

// Batch says that many small operations come before any of them is needed. They are gathered for longer:
// to other hosts they leave in fewer messages, when one is full, when the program waits for something,
// or at the latest after some milliseconds (OpenSHMEM 1.6, SHMEM_CTX_SESSION_BATCH).
func Batch() SessionHint { return func(h *sessionHints) { h.batch = true } }

// TotalOps says how many operations the session will have, about. Too few to fill messages are not worth
// gathering (OpenSHMEM 1.6, shmem_ctx_session_config_t.total_ops).
func TotalOps(n int) SessionHint {
	if n < 0 {
		misuse("TotalOps", "%d operations: a session has none or more", n)
	}
	return func(h *sessionHints) { h.total = max(n, 1) }
}

// worthBatching is how many operations a batch should have: fewer fit one message whatever they are.
const worthBatching = 128

// StartSession gives hints for what c will be used for from now on, until EndSession. It is not
// collective and moves nothing. A session that is started again has the hints of both, the later number of
// operations standing. On a context of a team's default domain (Team.Context) it concerns the domain
// (OpenSHMEM 1.6, shmem_ctx_session_start).
func (c *Context) StartSession(hints ...SessionHint) {
	c.mustBeOpen("StartSession")
	var h sessionHints
	for _, hint := range hints {
		hint(&h)
	}
	if few := h.total > 0 && h.total < worthBatching; few || h.batch {
		c.batch("StartSession", !few)
	}
}

// EndSession ends the session of c, if there is one. It completes nothing
// (OpenSHMEM 1.6, shmem_ctx_session_stop).
func (c *Context) EndSession() { c.batch("EndSession", false) }

func (c *Context) batch(op string, on bool) {
	c.mustBeOpen(op)
	if c.closed.Load() {
		misuse(op, "the context is closed")
	}
	if c.remote != nil && c.remote.batcher != nil {
		c.remote.batcher.Batch(on)
	}
}
