package baseline

// The barrier and the acquire of MENPS. The notices of each PE are gathered by all PEs, so the limit holds for one PE's
// notices, and nothing is left out of what a PE has got. The messages are n times as long as those of dissemination,
// and always as long as their limit.

import (
	"context"

	"github.com/gopgas/gopgas/dsm/internal/protocol"
	"github.com/gopgas/gopgas/pgas"
)

// menps is Floating without renewed leases: a home's own copies end with their leases.
type menps struct{ *protocol.Floating }

func (p menps) Acquire(told protocol.Notices) { p.AcquireNotices(told) }

// gathering is the Exchanger of MENPS.
type gathering struct {
	s        *protocol.State
	gathered pgas.Sym[uint64] // encoded notices: this PE's own, and then those of each PE
	words    int              // the words of encoded notices
	hold     int              // notices kept until the next barrier
}

// openGathering allocates the memory of a gathering.
func openGathering(ctx context.Context, s *protocol.State) (*gathering, error) {
	hold := (s.N+3)*s.Limit + 16 // with this PE's notices, which may be twice the limit
	x := &gathering{s: s, words: protocol.EncodedWords(s.Limit), hold: hold}
	s.Notices.Hold(hold)
	var err error
	x.gathered, err = protocol.Alloc[uint64](ctx, s, (1+s.N)*x.words)
	return x, err
}

// Exchange gathers known from all PEs on each PE.
func (x *gathering) Exchange(ctx context.Context, known protocol.Notices) (protocol.Notices, error) {
	s := x.s
	own, all := x.gathered.Range(0, x.words), x.gathered.Range(x.words, (1+s.N)*x.words)
	known.Encode(own.Local()[:0])
	if err := pgas.FCollect(ctx, s.World.Team(), all, own); err != nil {
		return known, err
	}
	known.Hold(x.hold)
	for pe := range s.N {
		if pe == s.Me {
			continue
		}
		got, err := protocol.Decode(all.Local()[pe*x.words:(pe+1)*x.words], s.Blocks, s.N)
		if err != nil {
			return known, protocol.SentBy(pe, err)
		}
		known.Merge(got)
	}
	return known, nil
}
