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
// the resource has a token with it, and the resource refuses a request whose token is smaller than one that it has
// seen.
type Fenced struct {
	Lock
	term  uint64
	count pgas.Atomic[uint64] // on PE 0: the tokens of this term
}

// A token has the term in its upper bits and a count below.
const (
	countBits = 40
	mostTerm  = 1<<(64-countBits) - 1
)

// NewFenced returns l with tokens. term is ckpt.Set.Term, after Restore: the tokens of a later term are larger. A
// program that is not started again after a failure passes 1. NewFenced is collective, and its errors are those of
// pgas.Alloc. It panics with *pgas.UsageError if term is 0 or not below 1<<24.
func NewFenced(ctx context.Context, w *pgas.World, l Lock, term uint64) (*Fenced, error) {
	if term == 0 || term > mostTerm {
		hook.Misuse("locks.NewFenced", "term %d: a token has room for 1 to %d", term, mostTerm)
	}
	count, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return nil, err
	}
	return &Fenced{Lock: l, term: term, count: pgas.AtomicOf(count, 0)}, nil
}

// Token returns a token that is larger than every earlier one of this lock, of any PE and of any earlier term. Call it
// while this PE holds the lock: then it is also larger than every token of an earlier holder. It takes one atomic
// operation on PE 0. It panics with *pgas.PeerError if PE 0 is lost.
func (f *Fenced) Token() uint64 {
	n := f.count.FetchAdd(0, 1) + 1
	if n >= 1<<countBits {
		panic(fmt.Sprintf("locks: %d tokens in one term: no more fit below the next term", n))
	}
	return f.term<<countBits | n
}
