package transport

import "context"

// Lender is implemented by channels that can put without a copy and return before they have read it all.
// The puts to one PE that do so are loans of their sources, numbered from 1.
type Lender interface {
	// PutNB is Put whose src must not change until the loan it returns is over; 0 is over.
	PutNB(pe int, dst uint64, src []byte) (loan uint64)
	// Returned reports, without waiting, whether a loan to pe is over: its source may be used again.
	Returned(pe int, loan uint64) bool
	// AwaitReturned returns when a loan to pe is over, or all loans to every PE if pe < 0.
	AwaitReturned(ctx context.Context, pe int, loan uint64) error
}

// Batcher is implemented by channels that may gather small operations for longer when they are told that
// many are to come before any must be complete. It changes neither order nor completion.
type Batcher interface {
	Batch(on bool)
}
