//go:build cgo

package engine

import "C"

// Batch tells the channel whether the program expects to issue many small operations before it needs any of them done.
// What the channel gathers then leaves when a message is full or a thread waits, and otherwise much
// later than usual; a signal does not leave at once either. It changes neither order nor completion.
func (c *Channel) Batch(on bool) {
	c.lock()
	c.c.batch, c.c.skipped = 0, 0
	if on {
		c.c.batch = 1
	}
	c.unlock()
}
