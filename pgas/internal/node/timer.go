//go:build !race

package node

import "time"

// after returns a channel that gives or closes once d has passed, and a function that stops it.
func after(d time.Duration) (passed <-chan time.Time, stop func() bool) {
	t := time.NewTimer(d)
	return t.C, t.Stop
}
