package racecheck

// Orders that PEs make by something else than symmetric memory, which tells of them: see internal/hook.

import "context"

// peKey is the key under which a context has the PE of the body that got it.
type peKey struct{}

// In returns a context for the body of p. A nil p needs none of its own.
func (p *PE) In(ctx context.Context) context.Context {
	if p == nil {
		return ctx
	}
	return context.WithValue(ctx, peKey{}, p)
}

// Of returns the PE of the body that got ctx, or a context that ctx is derived from. nil: there is none, or no
// detector.
func Of(ctx context.Context) *PE {
	p, _ := ctx.Value(peKey{}).(*PE)
	return p
}

// Release returns what comes before this moment of the PE, for Acquire of another PE.
func (p *PE) Release() []byte {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	a := p.step(Read, nil)
	p.own++
	p.mu.Unlock()
	return a.release().Append(nil)
}

// Acquire notes that what a PE has released comes before what p does from now on. Without a release nothing does, nor
// with one that cannot be read or is of another job.
func (p *PE) Acquire(released []byte) {
	if p == nil || len(released) == 0 {
		return
	}
	c, rest, err := ParseClock(released, nil)
	if err != nil || len(rest) > 0 || c != nil && len(c.of) > p.npes {
		p.lost(UnseenRelease)
		return
	}
	p.mu.Lock()
	p.clock = p.clock.Join(c)
	p.mu.Unlock()
}
