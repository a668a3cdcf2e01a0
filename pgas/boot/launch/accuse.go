package launch

// Accusations: PEs that do not answer. Such a PE's process may live, stopped or on a host that the network has lost,
// so that no agent sees it end. PEs that wait for it find out (ucx/engine/heartbeat.c) and accuse it in their host's
// segment. If a link has failed, PEs at each of its ends accuse PEs at the other. So the launcher believes an accuser
// that other PEs still answer, and waits boot.AccusationDelay for such an accusation before it believes an accuser that
// no PE answers.

import (
	"cmp"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// hearing is what the launcher has heard of PEs that do not answer.
type hearing struct {
	accusations     []boot.Accusation // the accusations that are not certain, in order of arrival
	accusationTimer <-chan time.Time  // not nil while a certain accusation may still come
	secondHearing   bool              // the timer has run out once
}

func (j *job) accusationWait(x boot.Accusation) time.Duration {
	if x.Silent {
		return boot.AccusationDelay
	}
	return j.peerTimeout() + boot.AccusationDelay
}

// peerTimeout returns how long a PE of the job may be silent.
func (j *job) peerTimeout() time.Duration {
	return cmp.Or(j.spec.settings.PeerTimeout, boot.DefaultPeerTimeout)
}

// believe ends the job because of the most likely accusation, when none that is certain has come. But in a job of three
// hosts or more, PEs of a single host that no other PE answers are likely to be the ones that are cut off, and the
// others may not have noticed yet, since they had heard of them later: they get half a time-out more.
func (j *job) believe() {
	if len(j.hosts) > 2 && !j.secondHearing && j.accusersOnOneHost() {
		j.secondHearing = true
		j.accusationTimer = time.After(boot.SecondHearing(j.spec.settings.PeerTimeout))
		return
	}
	j.handleLost(j.mostLikely())
}

func (j *job) accusersOnOneHost() bool {
	first := j.hostOf(j.accusations[0].By)
	return !slices.ContainsFunc(j.accusations, func(x boot.Accusation) bool { return j.hostOf(x.By) != first })
}

// handleAccusation handles an accusation. One that is certain, or against a PE that has ended, is believed at once.
func (j *job) handleAccusation(x boot.Accusation) {
	if j.terminating || x.PE < 0 || x.PE >= j.npes {
		return
	}
	j.spec.Logf("PE %d has lost PE %d (silent: %v, certain: %v)", x.By, x.PE, x.Silent, x.Certain)
	_, ended := j.ended[x.PE]
	switch {
	case x.Certain || ended:
		j.handleLost(x)
	default:
		if j.accusationTimer == nil || x.Silent && !slices.ContainsFunc(j.accusations, isSilent) {
			j.accusationTimer = time.After(j.accusationWait(x))
		}
		j.accusations = append(j.accusations, x)
	}
}

func isSilent(x boot.Accusation) bool { return x.Silent }

// mostLikely returns the accusation to believe when none is certain. One host has failed, if any, and PEs of a host
// that is cut off accuse others, too. So it is an accusation of a PE of the host that takes part in most silences, at
// either end; of those, of the host that PEs of most hosts have lost; and of those, one for silence.
func (j *job) mostLikely() boot.Accusation {
	return slices.MaxFunc(j.accusations, func(a, b boot.Accusation) int {
		hostA, hostB := j.hostOf(a.PE), j.hostOf(b.PE)
		return cmp.Or(
			cmp.Compare(j.silences(hostA), j.silences(hostB)),
			cmp.Compare(j.accusersOf(hostA), j.accusersOf(hostB)),
			cmp.Compare(silence(a), silence(b)),
		)
	})
}

// silences returns how many pairs of hosts with h in them do not hear each other, in one direction or the other. An
// accusation for a connection that has been lost does not count: the accused may have ended because it had lost another
// PE.
func (j *job) silences(h *host) int {
	pairs := map[[2]*host]bool{}
	for _, s := range j.accusations {
		by, of := j.hostOf(s.By), j.hostOf(s.PE)
		if s.Silent && (by == h || of == h) {
			pairs[[2]*host{by, of}] = true
		}
	}
	return len(pairs)
}

// accusersOf returns on how many hosts there are PEs that have lost one of h.
func (j *job) accusersOf(h *host) int {
	by := map[*host]bool{}
	for _, s := range j.accusations {
		if j.hostOf(s.PE) == h {
			by[j.hostOf(s.By)] = true
		}
	}
	return len(by)
}

// silence is 2 for an accusation for silence that knows why, 1 for another one for silence, and otherwise 0.
func silence(x boot.Accusation) int {
	switch {
	case x.LargeLost:
		return 2
	case x.Silent:
		return 1
	}
	return 0
}

// awaitsAccusation reports whether d is a consequence of a lost PE and the launcher still waits for the accusation
// that tells which PE that is.
func (j *job) awaitsAccusation(d frame.Death) bool {
	return j.accusationTimer != nil && d.CauseClass() == frame.Consequence
}

// handleLost ends a job because PEs have lost another PE.
func (j *job) handleLost(x boot.Accusation) {
	j.accusationTimer, j.accusations = nil, nil
	if j.terminating {
		return
	}
	d, ended := j.ended[x.PE]
	if !ended || j.wasSilent(x, d) {
		d = frame.Death{PE: x.PE, Peer: -1}
	}
	d.Accused, d.Table = &x, nil
	j.userEnded = j.userSignal != 0
	j.deaths = append(j.deaths, deathRecord{Death: d, host: j.hostOf(x.PE), launcherTime: boot.Clock()})
	j.status = max(j.status, d.ExitStatus(), 1)
	if j.mayGoOn() {
		j.killForTerm()
		return
	}
	j.notifyOthers(nil, d)
	j.endOthers(x.PE)
}

// wasSilent reports whether a PE that ended as d was silent before that, to an accuser that others answer: the network
// has lost it, so it lost others, and ended because of that. A silence that can have begun with the end says nothing.
func (j *job) wasSilent(x boot.Accusation, d frame.Death) bool {
	if !x.Silent || !x.Certain || d.CauseClass() != frame.Consequence {
		return false
	}
	at := slices.IndexFunc(j.deaths, func(o deathRecord) bool { return o.PE == d.PE })
	return at >= 0 && boot.Clock()-j.deaths[at].launcherTime < int64(j.peerTimeout())
}
