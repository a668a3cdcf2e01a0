package transport

import "context"

// Lender is implemented by channels that can put without a copy: a put may return before it has read its source. Each
// such put has a handle, numbered from 1 for each PE, by which the caller learns when the source may be reused.
type Lender interface {
	// PutNB is Put, but src must not change until the returned handle is released. The handle 0 is released already.
	PutNB(pe int, dst uint64, src []byte) (loan uint64)
	// PutNotifyNB is PutNotify, but src must not change until the returned handle is released.
	PutNotifyNB(pe int, dst uint64, src []byte, s Stamp) (loan uint64, ok bool)
	// Returned reports, without waiting, whether a handle of pe is released: its source may be reused.
	Returned(pe int, loan uint64) bool
	// AwaitReturned blocks until a handle of pe is released, or all handles of every PE if pe < 0. It returns the
	// cause of ctx's end.
	AwaitReturned(ctx context.Context, pe int, loan uint64) error
}
