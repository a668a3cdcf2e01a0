package dsm

// The exchange of notices in a barrier, by dissemination: in round k each PE sends what it knows to the PE 2^k after it,
// and takes what the PE 2^k before it knows. After log2 n rounds every PE knows all, and all have come.
//
// The words of a round are used by every second barrier. A PE can be one barrier ahead of another, but not two.
//
// Where no PE has anything new to tell, a barrier that tells so is enough. All PEs expect of a barrier what the last one has
// shown, so all begin it in the same way: after one with notices they disseminate, and after one without they ask first.

import (
	"context"
	"math/bits"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// exchanger has the symmetric memory of barriers.
type exchanger struct {
	gathered pgas.Sym[uint64]   // [own and then each PE's][encoded notices], with Options.AllNotices
	slots    pgas.Slice[uint64] // [parity][round][encoded notices]
	arrive   pgas.SignalSlice   // [parity][round]
	words    int                // of a slot
	rounds   int
	count    uint64 // of disseminations
	quiet    bool   // the last barrier had no notices
	agreed   uint64 // what all PEs know to be at least the number of every notice that was left out
}

func (r *Region) openExchange(ctx context.Context) error {
	x := &r.exchanger
	if r.o.AllNotices {
		return r.openGathering(ctx)
	}
	x.words, x.rounds = encodedWords(r.o.Notices), bits.Len(uint(r.n-1))
	slots, err := allocate[uint64](ctx, r, max(1, 2*x.rounds*x.words))
	if err != nil {
		return err
	}
	arrive, err := allocate[pgas.Signal](ctx, r, max(1, 2*x.rounds))
	if err != nil {
		return err
	}
	x.slots, x.arrive = slots.All().On(r.ctx), pgas.SignalsOf(arrive.All()).On(r.ctx)
	return nil
}

// exchange sends known to all PEs, blocks until all have come, and returns what all of them know. Without news, no PE has
// told of anything since the last barrier.
func (r *Region) exchange(ctx context.Context, known notices) (all notices, news bool, err error) {
	defer recoverPeer(&err)
	x := &r.exchanger
	if x.quiet {
		mine := uint64(0)
		if len(known.list) > 0 || known.min > x.agreed {
			mine = 1
		}
		if any, err := hook.SyncOr(ctx, r.w, mine); err != nil || any == 0 {
			return notices{min: x.agreed}, false, err
		}
	}
	if r.o.AllNotices {
		all, err = r.gather(ctx, known)
	} else {
		all, err = r.disseminate(ctx, known)
	}
	x.quiet, x.agreed = err == nil && len(all.list) == 0, all.min
	return all, true, err
}

// disseminate is exchange by rounds of messages.
func (r *Region) disseminate(ctx context.Context, known notices) (notices, error) {
	x := &r.exchanger
	x.count++
	for k := range x.rounds {
		i := int(x.count&1)*x.rounds + k
		message := known.encode(nil)
		x.slots.Range(i*x.words, i*x.words+len(message)).PutSignal((r.me+1<<k)%r.n, message, x.arrive.At(i), x.count)
		if _, err := x.arrive.At(i).WaitUntil(ctx, pgas.GE, x.count); err != nil {
			return known, err
		}
		got, err := r.read(x.slots.Range(i*x.words, (i+1)*x.words), r.me)
		if err != nil {
			return known, sentBy((r.me+r.n-(1<<k)%r.n)%r.n, err)
		}
		known.merge(got)
	}
	return known, nil
}

// read gets encoded notices of PE pe: first as many as most fences pass on, and then the rest if there are more.
func (r *Region) read(from pgas.Slice[uint64], pe int) (notices, error) {
	in := make([]uint64, from.Len())
	n := min(len(in), encodedWords(firstNotices))
	from.Range(0, n).Get(pe, in[:n])
	if used := encodedWords(int(min(in[1], uint64(r.o.Notices)))); used > n {
		from.Range(n, used).Get(pe, in[n:used])
	}
	return decode(in, r.blocks, r.n)
}
