package racecheck

// Collectives that do not wait. Each is a strand of its own, from its call until the program learns that it is complete
// on its PE. Those of a team run one after another.

import "context"

// A Request is such a collective of a PE. Its goroutine uses it until the collective is complete, and then others may.
type Request struct {
	pe   *PE
	call Access // what the collective itself accesses; its Clock has what the collective has acquired so far
}

// Begin returns the Request of a collective that the program calls now, of the team in a slot.
func (p *PE) Begin(slot int) *Request {
	if p == nil {
		return nil
	}
	site := p.Here()
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.step(Read, site)
	p.requests++
	a.To, a.Stream, a.Number = p.me, requested(slot), p.requests
	p.own++
	return &Request{p, a}
}

// Follow notes that r runs after another one of the team, which is complete.
func (r *Request) Follow(before *Request) {
	if r != nil && before != nil {
		r.call.Clock = r.call.Clock.Join(before.completed())
	}
}

// Over notes that the program knows that r is complete.
func (r *Request) Over() {
	if r == nil {
		return
	}
	r.pe.mu.Lock()
	r.pe.clock = r.pe.clock.Join(r.completed())
	r.pe.mu.Unlock()
}

// completed returns what comes before the completion of r: all that the team has run until then.
func (r *Request) completed() *Clock {
	a := &r.call
	return a.Clock.withTo(a.From, a.Stream, a.To, a.Number, 0)
}

// at returns an access of r, or of the PE itself at a Site if r is nil. The caller holds p.mu.
func (p *PE) at(r *Request, how How, site Site) Access {
	if r == nil {
		return p.step(how, site)
	}
	a := r.call
	a.How = how
	return a
}

// Enter notes that the PE enters a collective, as member k.Member. It has read what it gives to it. r is the
// collective's if the program does not wait for it, and nil otherwise.
func (p *PE) Enter(k CallKey, r *Request) {
	p.mu.Lock()
	a := p.at(r, Read, nil)
	if r == nil {
		p.own++
	}
	p.mu.Unlock()
	a.Number, a.Site = 0, nil // the collective itself is not complete yet
	p.tell(nil, int(k.Home), Record{Access: a, Release: ReleaseCall, Call: k})
}

// Leave notes that the PE leaves a collective after members first to last have entered it.
func (p *PE) Leave(ctx context.Context, k CallKey, first, last int, r *Request) {
	q := Question{Call: &k, First: int32(first), Last: int32(last)}
	if r == nil {
		p.acquire(ctx, int(k.Home), q)
		return
	}
	r.call.Clock = r.call.Clock.Join(p.ask(ctx, int(k.Home), q))
}

// Touch notes that the PE itself, or a collective of r, reads or writes blocks of symmetric memory of its own.
func (p *PE) Touch(off, bytes, stride, count uint64, how How, r *Request) {
	var site Site
	if r == nil {
		site = p.Here()
	}
	p.mu.Lock()
	rec := Record{Access: p.at(r, how, site), Off: off, Bytes: bytes, Stride: stride, Count: count}
	p.mu.Unlock()
	p.tell(nil, int(p.me), rec)
}
