package launch

// Hosts that are lost, or fail again and again, and the spares that take their places (Spec.Spares).
//
// A spare has an agent from the start and no PEs. So the launcher sees its end, and a spare that is gone takes nobody's
// place. When a term has ended, each host is one of these:
//
//	it is well          its agent starts the PEs of the next term
//	it is lost          a spare takes its place; without one, its agent is started again on it
//	it fails repeatedly a spare takes its place; without one, a host that was lost so often ends the job, and a host
//	                    whose PEs were killed so often is used on
//	it cannot run PEs   a spare takes its place; without one, the job ends
//
// The spare runs the PEs with the numbers of those before. If it takes the place of the first host, it has the root of
// the exchange and PE 0. A host that lost its place is not used again.
//
// A failure counts as repeated if it ends term after term and no term lasts for calmTime. The launcher does not know
// cuts. A term that lasts may have made one, and then the failure costs no more than the time since. Hosts that are
// lost with the relay on another host have not failed.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
)

const (
	calmTime   = time.Minute // a term that lasts so long ends a row of failures
	mostLosses = 2           // a host that was lost so often in a row is not used again
	mostKills  = 3           // nor is one whose PEs were killed so often, if there is a spare
)

// failures are those of a host in a row, up to now.
type failures struct {
	lost, killed int
}

// startSpares starts the agents of the spares. The launcher starts them itself, so that they depend on no relay.
func (j *job) startSpares() {
	for _, h := range slices.Clone(j.idle) {
		h.agent = j.spec.command(h.Name)
		j.spec.Logf("spare %s: starting %v", h.Name, h.agent)
		l, err := j.spec.start(h.agent)
		if err != nil {
			h.ended, h.gone = true, true
			j.dropSpare(h, fmt.Errorf("host %s: %w", h.Name, err))
			continue
		}
		j.follow(h, l)
	}
}

// dropSpare says that h is no spare any more.
func (j *job) dropSpare(h *host, err error) {
	if h.spare && !j.closing {
		j.stderr.Notice(fmt.Sprintf("pgasrun: a spare is lost, and the job goes on without it: %v\n", err))
	}
	h.spare = false
}

// handleIdle handles an event of a host without a place in the job.
func (j *job) handleIdle(h *host, e event) {
	switch e.change {
	case agentExited:
		h.ended, h.gone = true, h.gone || !h.lost
		j.dropSpare(h, h.endError(e.err))
	case hostSwept:
		h.gone = true
	case agentGreeted:
		h.greeted = true
	case notAnAgent, otherVersion, badFrame:
		j.dropSpare(h, j.strangerError(h, e))
		h.kill()
	case staged:
		j.reportStaging(e.bytes)
	}
}

// strangerError says why the command of h's agent is none of this version.
func (j *job) strangerError(h *host, e event) error {
	switch e.change {
	case notAnAgent:
		return fmt.Errorf("host %s: `%v` prints something else than an agent does: it must run the command that follows it, and print nothing itself", h.Name, h.agent)
	case badFrame:
		return fmt.Errorf("host %s: `%v` sends what no agent does (%w): it must run the command that follows it, and write nothing to its standard output itself", h.Name, h.agent, e.err)
	}
	return fmt.Errorf("host %s: %w", h.Name, e.err)
}

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

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cannotRun handles that h cannot run the PEs of this term. In the first term that ends the job, so that the user
// mends it.
func (j *job) cannotRun(h *host, err error) {
	if j.recoveries == 0 || j.terminating || !j.mayGoOn() || spareFor(h.PEs, j.idle) == nil {
		j.abort(err)
		return
	}
	h.unfit = err
	j.lose(h, err)
}

// lose ends a term that has lost h.
func (j *job) lose(h *host, err error) {
	j.status = max(j.status, 1)
	if j.startErr == nil {
		j.startErr, j.lostHost = err, h
	}
	if h.started {
		j.killForTerm()
	}
}

// handleLostUnstarted handles the end of h's agent when it has not been told yet to start the PEs of this term.
func (j *job) handleLostUnstarted(h *host, err error) {
	switch {
	case h.unfit != nil:
	case j.recoveries == 0 || j.terminating || !j.mayGoOn():
		j.abort(h.endError(err))
	case !h.greeted:
		j.cannotRun(h, h.endError(err))
	default:
		h.lost, h.lostAlone = true, !j.relayIsLost(h)
		j.lose(h, h.endError(err))
	}
}

// relayIsLost reports whether h was reached through a relay on another host, which is lost.
func (j *job) relayIsLost(h *host) bool {
	return slices.ContainsFunc(j.relays, func(r *relayLink) bool { return r.ended && r.host != h && slices.Contains(h.via, r.host) })
}

// loseBehind handles the loss of a relay before the PEs of a term were started: it loses the hosts behind it at once, so
// that they cost one term.
func (j *job) loseBehind(r *relayLink) {
	if j.recoveries == 0 || j.hosts[0].started {
		return
	}
	for _, h := range j.hosts {
		if h != r.host && slices.Contains(h.via, r.host) && !h.ended {
			j.handleAgentExit(h, fmt.Errorf("host %s, through which it was started, is lost", r.host.Name))
		}
	}
}

// countFailures counts the failures of each host, once when a term has ended.
func (j *job) countFailures() {
	if j.counted {
		return
	}
	j.counted = true
	var killed *host
	if j.lostHost == nil && len(j.deaths) > 0 {
		o, lost := j.rootCause(j.tails)
		if killed = o.host; lost >= 0 {
			killed = j.hostOf(lost)
		}
	}
	calm := !j.runningSince.IsZero() && time.Since(j.runningSince) >= calmTime
	for _, h := range j.hosts {
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

// successors returns which spares take the places of which hosts in the next term.
func (j *job) successors() map[*host]*host {
	j.countFailures()
	left, plan := slices.Clone(j.idle), map[*host]*host{}
	for _, asks := range []func(*host) bool{(*host).needsSpare, (*host).wantsSpare} {
		for _, h := range j.hosts {
			if plan[h] != nil || !asks(h) {
				continue
			}
			if s := spareFor(h.PEs, left); s != nil {
				plan[h] = s
				left = slices.DeleteFunc(left, func(o *host) bool { return o == s })
			}
		}
	}
	return plan
}

// refusal returns an error if a host that no spare replaces is not to be used again.
func (j *job) refusal(plan map[*host]*host) error {
	for _, h := range j.hosts {
		switch {
		case plan[h] != nil || !h.needsSpare():
		case h.unfit != nil:
			return h.unfit
		default:
			return fmt.Errorf("host %s was lost in %s in a row, and none of them lasted %v: it is not used again, and there is no spare: leave it out of -hosts, or add a spare, such as +other:%d (%w)",
				h.Name, plural.Count(h.failed.lost, "term"), calmTime, h.PEs, j.startErr)
		}
	}
	return nil
}

// replace gives h's place to s.
func (j *job) replace(h, s *host) {
	j.idle = slices.DeleteFunc(j.idle, func(o *host) bool { return o == s })
	s.Host, s.index = boot.Host{Name: s.Name, First: h.First, PEs: h.PEs}, h.index
	s.idle, s.spare, s.substitute = false, false, true
	j.hosts[h.index] = s
	j.spec.Hosts = slices.Clone(j.spec.Hosts) // a configuration that is being sent has the old ones
	j.spec.Hosts[h.index] = s.Host

	h.idle, h.spare = true, false
	j.idle = append(j.idle, h)
	if h.ended {
		return
	}
	h.link.In.Close()
	if h.unfit != nil || len(h.via) > 0 { // a relay closes no input of one host
		j.endCommand(h.link)
	}
}

// replaced says which spares have taken places, of which h is the host whose loss has ended the term.
func replaced(lost *host, hosts []*host, plan map[*host]*host) string {
	var parts []string
	for _, h := range hosts {
		switch s := plan[h]; {
		case s == nil:
		case h == lost:
			parts = append(parts, s.Name+" takes its place")
		default:
			parts = append(parts, s.Name+" takes the place of "+h.Name)
		}
	}
	if parts == nil {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
