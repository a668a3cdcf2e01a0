package dsm

// The exchange of notices in a barrier of MENPS: each PE's are gathered by all PEs, so the limit is that of one PE's
// notices, and nothing is left out of what a PE has got. The messages are n times as long as those of the dissemination,
// and always as long as their limit.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// openGathering allocates the memory of a gathering.
func (r *Region) openGathering(ctx context.Context) (err error) {
	x := &r.exchanger
	x.words = encodedWords(r.o.Notices)
	r.notices.hold = (r.n+3)*r.o.Notices + 16 // its own, too, which may be twice the limit
	x.gathered, err = allocate[uint64](ctx, r, (1+r.n)*x.words)
	return err
}

// gather sends known to all PEs, blocks until all have come, and returns what all of them know.
func (r *Region) gather(ctx context.Context, known notices) (notices, error) {
	x := &r.exchanger
	own, all := x.gathered.Range(0, x.words), x.gathered.Range(x.words, (1+r.n)*x.words)
	known.encode(own.Local()[:0])
	if err := pgas.FCollect(ctx, r.w.Team(), all, own); err != nil {
		return known, err
	}
	known.hold = r.notices.hold
	for pe := range r.n {
		if pe == r.me {
			continue
		}
		got, err := decode(all.Local()[pe*x.words:(pe+1)*x.words], r.blocks, r.n)
		if err != nil {
			return known, sentBy(pe, err)
		}
		known.merge(got)
	}
	return known, nil
}
