// Package inner declares what nested holds.
package inner

// Lock has an atomic word.
//
//pgas:symmetric
type Lock struct {
	Tail int64 `pgas:"atomic"`
	Next int64
}

// Span has none.
//
//pgas:symmetric
type Span struct{ Lo, Hi int64 }
