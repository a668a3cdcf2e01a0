package output

// The traceback of a crash is printed in one piece. A Go program writes it line by line, and where one mistake is in
// all PEs, several crash at once. So from the first line of a traceback on, an agent
// buffers what a PE writes to standard error until the PE closes it. A PE that crashes does that at once.
// Output that only looks like a crash is not buffered for long.

import (
	"regexp"
	"sync"
	"time"
)

const (
	crashQuiet = 2 * time.Second // a process that is silent for so long does not write a traceback
	crashTime  = 8 * time.Second // nor one that takes so long
	crashBytes = 1 << 20         // the most that is buffered
)

// CrashBegins matches the first line of a traceback, by Go's runtime or by UCX.
var CrashBegins = regexp.MustCompile(`(?m)^(panic: |fatal error: |unexpected fault address |SIG[A-Z]+: |==== backtrace)`)

// CrashBuffer passes on a PE's standard error, and buffers a traceback.
type CrashBuffer struct {
	Emit func(piece []byte)

	mu    sync.Mutex // guards the fields below
	held  []byte
	since time.Time   // zero: nothing is buffered
	quiet *time.Timer // flushes what is buffered after a silence
}

// Write passes piece on, or buffers it.
func (c *CrashBuffer) Write(piece []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		begin := CrashBegins.FindIndex(piece)
		if begin == nil {
			c.Emit(piece)
			return
		}
		if begin[0] > 0 {
			c.Emit(piece[:begin[0]])
		}
		piece = piece[begin[0]:]
		c.since = time.Now()
		c.quiet = time.AfterFunc(crashQuiet, c.Flush)
	}
	c.held = append(c.held, piece...)
	c.quiet.Reset(crashQuiet)
	if len(c.held) > crashBytes || time.Since(c.since) > crashTime {
		c.release()
	}
}

// Flush passes on what is buffered.
func (c *CrashBuffer) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release()
}

func (c *CrashBuffer) release() {
	if c.since.IsZero() {
		return
	}
	c.quiet.Stop()
	c.Emit(c.held)
	c.held, c.since = nil, time.Time{}
}
