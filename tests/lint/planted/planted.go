// Package planted has a fault of each kind that lint finds, and some that comments silence.
package planted

import (
	"context"
	"sync"

	"github.com/gopgas/gopgas/pgas"
)

// Vetted has a fault of go vet.
func Vetted(mu sync.Mutex) {} // found: copylocks

// Statically has faults of staticcheck, the second of which a comment silences.
func Statically(yes bool) int {
	if yes == true { // found: S1002
		return 1
	}
	//lint:ignore S1002 the comparison is what this test is about
	if yes == false {
		return 2
	}
	return 3
}

// Pointless has comments that silence nothing.
func Pointless(yes bool) bool {
	//lint:ignore S1002 found: lintcomments, as the next line has no such fault
	no := !yes
	//lint:ignore S1003,found:lintcomments
	if yes == true { // found: S1002
		return yes
	}
	return no
}

// Dropped has a fault of pgasvet.
func Dropped(ctx context.Context, w *pgas.World) {
	w.Barrier(ctx) // found: droppederror
}

func nobodyCalls() {} // found: U1000

//lint:ignore U1000 kept as an example
func nobodyCallsEither() {}

func onlyTestsCall() {}
