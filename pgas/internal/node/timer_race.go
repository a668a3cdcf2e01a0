//go:build race

package node

import "time"

// after is as without the race detector, but no timer: Go runs the timers of a processor one after the other, which
// would order PEs that have slept. A goroutine that sleeps is ordered after the one that has started it alone. It goes
// on when it is stopped, for at most MaxSleep.
func after(d time.Duration) (passed <-chan time.Time, stop func() bool) {
	c := make(chan time.Time)
	go func() {
		time.Sleep(d)
		close(c)
	}()
	return c, func() bool { return false }
}
