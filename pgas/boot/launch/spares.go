package launch

// Hosts that are lost, or fail again and again, and the spares that take their places (Spec.Spares). Without a spare
// the job goes on with fewer hosts if Spec.SurviveMin allows it.
//
// A spare has an agent from the start and no PEs. So the launcher sees its end, and a spare that is gone takes nobody's
// place. When a term has ended, each host is one of these:
//
//	it is well          its agent starts the PEs of the next term
//	it is lost          a spare takes its place, or it is dropped; otherwise its agent is started again on it
//	it fails repeatedly a spare takes its place, or it is dropped; otherwise a host that was lost so often ends the job,
//	                    and a host with PEs that were killed so often is used on
//	it cannot run PEs   a spare takes its place, or it is dropped; otherwise the job ends
//
// The spare runs the PEs with the numbers of those before. If it takes the place of the first host, it has the root of
// the exchange and PE 0. A host that lost its place is not used again. A host is dropped if no spare is left for it and
// SurviveMin PEs are left without it. Then hosts and PEs are numbered anew, in the old order.
//
// A failure counts as repeated if it ends term after term and no term lasts for calmTime. The launcher does not know
// cuts. A term that lasts may have made one, and then the failure costs no more than the time since. Hosts that are
// lost with the relay on another host have not failed.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
)

const (
	calmTime   = time.Minute // a term that lasts so long ends a row of failures
	mostLosses = 2           // a host that was lost so often in a row is not used again
	mostKills  = 3           // nor is one whose PEs were killed so often, if there is a spare
)

// spareFor returns the spare for a host of some PEs, or nil. One that has greeted goes before one that has not yet, and
// then the smallest.
func spareFor(pes int, idle []*host) *host {
	var best *host
	for _, h := range idle {
		if h.spare && h.PEs >= pes && (best == nil || cmp.Or(cmp.Compare(asInt(best.greeted), asInt(h.greeted)), cmp.Compare(h.PEs, best.PEs)) < 0) {
			best = h
		}
	}
	return best
}

// A plan has the hosts that are not used in the next term. The value is the spare that takes the place of the host, or
// nil if the host is dropped.
type plan map[*host]*host

// uses reports whether h is used in the next term.
func (p plan) uses(h *host) bool {
	_, retired := p[h]
	return !retired
}

// drops reports whether h is not used in the next term, and nothing takes its place.
func (p plan) drops(h *host) bool { return p[h] == nil && !p.uses(h) }

// retire adds h to p, if a spare of idle can take its place, or at least `least` PEs of hosts are left without it; 0
// says that no host may be dropped. It reports whether it has.
func (p plan) retire(h *host, hosts, idle []*host, least int) bool {
	taken := slices.Collect(maps.Values(p))
	s := spareFor(h.PEs, slices.DeleteFunc(slices.Clone(idle), func(s *host) bool { return slices.Contains(taken, s) }))
	if s == nil && (least == 0 || p.pes(hosts)-h.PEs < least) {
		return false
	}
	p[h] = s
	return true
}

// pes returns how many PEs of hosts are left.
func (p plan) pes(hosts []*host) (n int) {
	for _, h := range hosts {
		if !p.drops(h) {
			n += h.PEs
		}
	}
	return n
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// countFailures counts the failures of each host when a term has ended, which began at began, if its PEs were started.
// killed is the host of the PE that has ended the term by its end, or nil.
func countFailures(hosts []*host, killed *host, began time.Time) {
	calm := !began.IsZero() && time.Since(began) >= calmTime
	for _, h := range hosts {
		if calm || h.started && !h.lostAlone {
			h.failed.lost = 0
		}
		if calm || h.started && h != killed {
			h.failed.killed = 0
		}
		if h.lostAlone {
			h.failed.lost++
		}
		if h == killed {
			h.failed.killed++
		}
	}
}

// needsSpare reports whether h is not to be used in the next term, and wantsSpare whether a spare would be better.
func (h *host) needsSpare() bool { return h.unfit != nil || h.lostAlone && h.failed.lost >= mostLosses }
func (h *host) wantsSpare() bool { return h.lostAlone || h.failed.killed >= mostKills }

// successors returns which spares of idle take the places of which hosts in the next term, and which hosts are dropped.
func successors(hosts, idle []*host, least int) plan {
	p := plan{}
	for _, asks := range []func(*host) bool{(*host).needsSpare, (*host).wantsSpare} {
		for _, h := range hosts {
			if p.uses(h) && asks(h) {
				p.retire(h, hosts, idle, least)
			}
		}
	}
	return p
}

// refusal returns an error if a host that p uses is not to be used again. lost says how the term has ended.
func refusal(hosts []*host, p plan, lost error) error {
	for _, h := range hosts {
		switch {
		case !p.uses(h) || !h.needsSpare():
		case h.unfit != nil:
			return h.unfit
		default:
			return fmt.Errorf("host %s was lost in %s in a row, and none of them lasted %v: it is not used again, and there is no spare: leave it out of -hosts, or add a spare, such as +other:%d (%w)",
				h.Name, plural.Count(h.failed.lost, "term"), calmTime, h.PEs, lost)
		}
	}
	return nil
}

// describe says how a job goes on: which spares take places, and, if hosts are dropped, with how many PEs. The loss of
// the host lost has ended the term, if it is not nil.
func (p plan) describe(lost *host, hosts []*host) string {
	var parts, dropped []string
	left := 0
	for _, h := range hosts {
		s := p[h]
		switch {
		case p.drops(h) && h != lost:
			dropped = append(dropped, h.Name)
		case p.drops(h):
		case s == nil:
			left++
		case h == lost:
			parts = append(parts, s.Name+" takes its place")
		default:
			parts = append(parts, s.Name+" takes the place of "+h.Name)
		}
	}
	text := ""
	if parts != nil {
		text = strings.Join(parts, ", ") + ": "
	}
	left += len(parts)
	if left == len(hosts) {
		return text + "all PEs are started again"
	}
	text += fmt.Sprintf("the job goes on with %s on %s", plural.Count(p.pes(hosts), "PE"), plural.Count(left, "host"))
	if dropped != nil {
		text += ", without " + strings.Join(dropped, ", ")
	}
	return text
}
