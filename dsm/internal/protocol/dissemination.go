package protocol

// The exchange of notices in a barrier. Dissemination: in round k each PE sends what it knows to the PE 2^k after it,
// and takes what the PE 2^k before it knows. After log2 n rounds every PE knows all, and all have come.
//
// The words of a round are used by every second barrier. A PE can be one barrier ahead of another, but not two.
//
// Where no PE has anything new to tell, a barrier that says so is enough. All PEs expect of a barrier what the last one
// has shown, so all begin it in the same way: after one with notices they exchange, and after one without they ask
// first.

import (
	"context"
	"math/bits"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// Exchange sends known to all PEs, blocks until all have come, and returns what all of them know. Without news, no PE
// has told anything since the last barrier.
func (s *State) Exchange(ctx context.Context, known Notices) (all Notices, news bool, err error) {
	defer RecoverPeer(&err)
	if s.quiet {
		mine := uint64(0)
		if len(known.List) > 0 || known.Min > s.agreed {
			mine = 1
		}
		if any, err := hook.SyncOr(ctx, s.World, mine); err != nil || any == 0 {
			return Notices{Min: s.agreed}, false, err
		}
	}
	all, err = s.Exchanger.Exchange(ctx, known)
	s.quiet, s.agreed = err == nil && len(all.List) == 0, all.Min
	return all, true, err
}

// Dissemination is the Exchanger by rounds of messages.
type Dissemination struct {
	state  *State
	Slots  pgas.Slice[uint64] // encoded notices, by parity and round
	Arrive pgas.SignalSlice   // arrivals, by parity and round
	Length int                // the length of a slot in words
	Rounds int
	count  uint64 // the number of exchanges
}

// OpenDissemination allocates the memory of a Dissemination.
func OpenDissemination(ctx context.Context, s *State) (*Dissemination, error) {
	x := &Dissemination{state: s, Length: EncodedWords(s.Limit), Rounds: bits.Len(uint(s.N - 1))}
	slots, err := Alloc[uint64](ctx, s, max(1, 2*x.Rounds*x.Length))
	if err != nil {
		return nil, err
	}
	arrive, err := Alloc[pgas.Signal](ctx, s, max(1, 2*x.Rounds))
	if err != nil {
		return nil, err
	}
	x.Slots, x.Arrive = slots.All().On(s.Context), pgas.SignalsOf(arrive.All()).On(s.Context)
	return x, nil
}

// Exchange sends known to all PEs in rounds.
func (x *Dissemination) Exchange(ctx context.Context, known Notices) (Notices, error) {
	s := x.state
	x.count++
	for k := range x.Rounds {
		i := int(x.count&1)*x.Rounds + k
		message := known.Encode(nil)
		x.Slots.Range(i*x.Length, i*x.Length+len(message)).PutSignal((s.Me+1<<k)%s.N, message, x.Arrive.At(i), x.count)
		if _, err := x.Arrive.At(i).WaitUntil(ctx, pgas.GE, x.count); err != nil {
			return known, err
		}
		got, err := s.Read(x.Slots.Range(i*x.Length, (i+1)*x.Length), s.Me)
		if err != nil {
			return known, SentBy((s.Me+s.N-(1<<k)%s.N)%s.N, err)
		}
		known.Merge(got)
	}
	return known, nil
}

// firstNotices is the number of notices that one get reads. More of them take a second one.
const firstNotices = 31

// Read gets encoded notices of PE pe: first as many as most fences pass on, and then the rest if there are more.
func (s *State) Read(from pgas.Slice[uint64], pe int) (Notices, error) {
	in := make([]uint64, from.Len())
	n := min(len(in), EncodedWords(firstNotices))
	from.Range(0, n).Get(pe, in[:n])
	if used := EncodedWords(int(min(in[1], uint64(s.Limit)))); used > n {
		from.Range(n, used).Get(pe, in[n:used])
	}
	return Decode(in, s.Blocks, s.N)
}
