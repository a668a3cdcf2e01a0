package lockbench

import (
	"fmt"
	"time"
)

// criticalSection is the critical section of a simulated point: its PEs share variables. nil checks nothing.
type criticalSection struct {
	readers, writers int
	others           []*criticalSection // the critical sections of other locks, where there are many
	// Of a clientBench:
	left int    // clients that are not through
	stop func() // ends the server
	last time.Duration
}

func (r *criticalSection) enter(write bool) error {
	if r == nil {
		return nil
	}
	if write {
		r.writers++
	} else {
		r.readers++
	}
	if r.writers > 1 || r.writers == 1 && r.readers > 0 {
		return fmt.Errorf("%d writers and %d readers hold the lock at once", r.writers, r.readers)
	}
	return nil
}

func (r *criticalSection) leave(write bool) {
	switch {
	case r == nil:
	case write:
		r.writers--
	default:
		r.readers--
	}
}

// of returns the critical section of lock i of a table.
func (r *criticalSection) of(i int) *criticalSection {
	if r == nil {
		return nil
	}
	for len(r.others) <= i {
		r.others = append(r.others, &criticalSection{})
	}
	return r.others[i]
}
