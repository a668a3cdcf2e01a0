package pgas

// Sessions: hints about the operations that a program is about to issue on a context. A session changes how soon
// operations leave for other hosts, and nothing else: not what an operation does, when it is complete, what orders
// it, or when its buffers may be reused.

// SessionHint describes the operations of a session.
type SessionHint func(*sessionHints)

type sessionHints struct {
	batch bool
	total int // operations that the session will issue; 0 if the program has not said
}

// Batch announces many small operations, none of which is needed soon. Those to other hosts are gathered for longer and
// leave in fewer messages: when a message is full, when the program waits, or at the latest after some milliseconds
// (OpenSHMEM 1.6, SHMEM_CTX_SESSION_BATCH).
func Batch() SessionHint { return func(h *sessionHints) { h.batch = true } }

// TotalOps announces the approximate number of operations of the session. Operations that are too few to fill a message
// are not gathered. It panics with *UsageError if n is negative
// (OpenSHMEM 1.6, shmem_ctx_session_config_t.total_ops).
func TotalOps(n int) SessionHint {
	if n < 0 {
		misuse("TotalOps", "%d operations: a session has none or more", n)
	}
	return func(h *sessionHints) { h.total = max(n, 1) }
}

// worthBatching is the least number of operations that are worth gathering: fewer always fit one message.
const worthBatching = 128

// StartSession gives hints about the operations on c until EndSession. It is not collective and moves nothing. A second
// StartSession adds its hints to those of the session, and its number of operations replaces the earlier number. On a
// context of a team's default domain (Team.Context) it applies to the whole domain. It panics with *UsageError if c is
// closed (OpenSHMEM 1.6, shmem_ctx_session_start).
func (c *Context) StartSession(hints ...SessionHint) {
	c.mustNotBeClosed("StartSession")
	var h sessionHints
	for _, hint := range hints {
		hint(&h)
	}
	if few := h.total > 0 && h.total < worthBatching; few || h.batch {
		c.batch("StartSession", !few)
	}
}

// EndSession ends the session of c, if there is one. It completes nothing. It panics with *UsageError if c is closed
// (OpenSHMEM 1.6, shmem_ctx_session_stop).
func (c *Context) EndSession() { c.batch("EndSession", false) }

// batch tells the channel to other hosts to gather operations for longer, or no longer to.
func (c *Context) batch(op string, on bool) {
	c.mustNotBeClosed(op)
	if c.remote != nil && c.remote.batcher != nil {
		c.remote.batcher.Batch(on)
	}
}
