package locks

// Tokens for what a lock guards outside the job.

import (
	"context"
	"fmt"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// A Fenced is a lock that gives its holders tokens, for a resource outside the job, such as a file or a database. A
// holder that was believed to be dead may still write there, after the job has gone on without it. So each request to
// the resource carries a token, and the resource refuses a request with a token smaller than one it has seen.
type Fenced struct {
	lock  Lock
	term  uint64
	count pgas.Atomic[uint64] // on PE 0: the tokens of this term
}

// A token has the term in its upper bits and a count below.
const (
	countBits = 40
	mostTerm  = 1<<(64-countBits) - 1
)

// NewFenced returns l with tokens. term is ckpt.Set.Term, after Restore: the tokens of a later term are larger. A
// program that is not started again after a failure passes 1. NewFenced is collective. It returns *pgas.MismatchError
// if the terms of PEs differ, and the errors of pgas.Alloc: it takes a word on each PE, until the job ends. It panics
// with *pgas.UsageError if term is 0 or not below 1<<24.
func NewFenced(ctx context.Context, w *pgas.World, l Lock, term uint64) (*Fenced, error) {
	if err := pgas.Agree(ctx, w, "locks.NewFenced", term); err != nil {
		return nil, err
	}
	if term == 0 || term > mostTerm {
		hook.Misuse("locks.NewFenced", "term %d: a token has room for 1 to %d", term, mostTerm)
	}
	count, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return nil, err
	}
	return &Fenced{lock: l, term: term, count: pgas.AtomicOf(count, 0)}, nil
}

// Lock is Lock of the lock, and returns a token. The token is larger than every token of an earlier holder, on any PE
// and in any earlier term. It takes one atomic operation on PE 0. Lock panics with *pgas.PeerError if PE 0 is lost
// meanwhile.
func (f *Fenced) Lock(ctx context.Context) (token uint64, err error) {
	if err := f.lock.Lock(ctx); err != nil {
		return 0, err
	}
	n := f.count.FetchAdd(0, 1) + 1
	if n >= 1<<countBits {
		panic(fmt.Sprintf("locks: %d tokens in one term: no more fit below the next term", n))
	}
	return f.term<<countBits | n, nil
}

// Unlock is Unlock of the lock.
func (f *Fenced) Unlock() { f.lock.Unlock() }
