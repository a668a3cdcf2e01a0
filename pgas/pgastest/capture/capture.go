// Package capture keeps the output of PEs and processes for tests, which read it while it is written.
//
// It imports nothing of the module, so the tests of every package can use it.
package capture

import (
	"bytes"
	"sync"
)

// Output is everything that has been written to it. Any number of goroutines may use it at once. The zero Output is
// empty.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends p. It never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

// String returns what has been written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Len returns the number of bytes written so far.
func (o *Output) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Len()
}
