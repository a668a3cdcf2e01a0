package racecheck

// What the program reads of a race.

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync"

	"github.com/gopgas/gopgas/internal/plural"
)

// A Report is a race: two accesses to bytes of the heap of a PE, or to memory that an operation of it uses.
type Report struct {
	PE             int
	Off, Bytes     uint64
	Own            bool // the bytes are memory of PE that is no symmetric memory
	Earlier, Later *Access
}

// pair returns the lines of the two calls in the program, in one order whichever was first.
func (r *Report) pair() [2]string {
	_, a := r.Earlier.Site.Name()
	_, b := r.Later.Site.Name()
	return [2]string{min(a, b), max(a, b)}
}

// Hash returns a hash of the lines of the two calls.
func (r *Report) Hash() uint64 {
	h := fnv.New64a()
	for _, line := range r.pair() {
		h.Write(append([]byte(line), 0))
	}
	return h.Sum64()
}

// describe says what made an access, and where.
func (a *Access) describe() string {
	what, line := a.Site.Name()
	if what == "" {
		what = map[How]string{Read: "read", AtomicRead: "atomic read", AtomicWrite: "atomic update", Write: "write"}[a.How]
	}
	part := ""
	switch {
	case a.Local && a.How.writes():
		part = ", which fills it until a quiet"
	case a.Local:
		part = ", whose source it is"
	case a.ofRequest():
		part = ", which is under way until its Request is complete"
	case a.Number != 0:
		part = ", which is under way until a quiet"
	}
	if line == "" {
		line = "a place that is not of the program"
	}
	return fmt.Sprintf("%s of PE %d at %s%s", what, a.From, line, part)
}

// Text returns the report. place names what is at an offset of the heap of the PE, such as "cell 3 of grid".
func (r *Report) Text(place func(pe int, off uint64) string) string {
	var s strings.Builder
	where := "memory of PE " + fmt.Sprint(r.PE)
	if !r.Own {
		where = fmt.Sprintf("%s of PE %d", place(r.PE, r.Off), r.PE)
	}
	fmt.Fprintf(&s, "race on %s (%s): %s, and %s: %s", where, plural.Count(int(r.Bytes), "byte"), r.Earlier.describe(), r.Later.describe(), r.missing())
	return s.String()
}

// missing says what would order the two.
func (r *Report) missing() string {
	e, a := r.Earlier, r.Later
	switch {
	case e.Local || a.Local:
		return "the buffer is used before the operation is complete; wait for a Quiet of its Context, or for the LocalCompletion of a source, before the next use"
	case e.From == a.From && (e.ofRequest() || a.ofRequest()):
		return "the memory of a collective is used before it is complete; wait for its Request before the next use"
	case e.ofRequest() && a.knowsCall(e) || a.ofRequest() && e.knowsCall(a):
		return "the PE of the other access knows of the call of the collective, but not of its completion; a wait for its Request is missing before what the PE has told the other"
	case e.From == a.From:
		return "one PE issues both, and nothing orders the operations; a Quiet between them does, or one Context for both with a Fence"
	case e.Number != 0 && a.knowsCall(e):
		return "the second comes after the call of the first, but not after its completion; a Fence before the flag, if that goes to the same PE on the same Context, or else a Quiet is missing"
	case a.Number != 0 && e.knowsCall(a):
		return "the first comes after the call of the second, but not after its completion; a Fence before the flag, if that goes to the same PE on the same Context, or else a Quiet is missing"
	}
	return "nothing orders them; let the second PE wait for a signal, a notification or an atomic that the first one sends after its access, or let a collective or a lock be between them"
}

// knowsCall reports whether a comes after the call of e.
func (a *Access) knowsCall(e *Access) bool { return a.Clock.component(e.From).own >= e.Own }

// A Reporter reports races, each pair of lines once.
type Reporter struct {
	mu    sync.Mutex
	told  map[[2]string]bool
	races int
	print func(r Report)
}

// NewReporter returns a Reporter that prints by a function.
func NewReporter(print func(r Report)) *Reporter {
	return &Reporter{told: map[[2]string]bool{}, print: print}
}

// Report prints r unless a race between the same two lines has been printed.
func (p *Reporter) Report(r Report) {
	pair := r.pair()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told[pair] {
		return
	}
	p.told[pair] = true
	p.races++
	p.print(r)
}

// Races returns how many pairs of lines were reported.
func (p *Reporter) Races() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.races
}
