package launch

// Which PE to name. The first process that the launcher sees end need not be the one that failed first: PEs
// that lose another PE say so and exit too, agents report over connections of their own, and a PE may take long
// to exit. So every death comes with what the PE published about it (boot.End), and the choice is made when the
// job is over:
//
//	a failure of a PE's own      goes before one that it blames on another PE, and of several the earliest
//	a PE that others have lost   is named although its process lives, if nothing else explains their end
//	what the launcher ended      is no PE's failure
//
// Times are those of the failing PE's host. Every frame with its time of sending compares a host's clock with
// the launcher's; the smallest difference contains the least delay.

import (
	"cmp"
	"slices"
	"syscall"

	"github.com/gopgas/gopgas/pgas/boot"
)

// obituary is the launcher's record of a PE's death.
type obituary struct {
	death
	host *host
	when int64 // when it failed, by the launcher's clock
	late bool  // after the launcher had asked the PEs to end
}

// rank orders failures by how likely they are to be a cause.
type rank int

const (
	ownFailure  rank = iota // killed, crashed, or an error that is not known to be a consequence
	allDisagree             // every member of the team ends so
	aborted                 // C code of a PE whose peers have vanished aborts now and then
	consequence             // it has lost another PE
	noFailure               // it was told to end
)

func (d death) rank() rank {
	switch {
	case d.Why == boot.EndOwn:
		return ownFailure // however its process ended
	case d.Why == boot.EndTold || d.Ours:
		return noFailure
	case d.Why == boot.EndLost && d.Peer != d.PE:
		return consequence
	case d.Why == boot.EndMismatch:
		return allDisagree
	case d.Peer >= 0 && d.Peer != d.PE && (!d.Status.Signaled() || d.Status.Signal() == syscall.SIGABRT):
		return consequence // it has not published why it ends, but it knew of a lost PE
	case d.Status.Signaled() && d.Status.Signal() == syscall.SIGABRT:
		return aborted
	}
	return ownFailure
}

// blames returns the PE to which a death is attributed: for a consequence, the PE that was lost.
func (d death) blames() int {
	if d.rank() == consequence {
		return d.Peer
	}
	return d.PE
}

// told updates the skew of h's clock: a frame was sent at sent, by h's clock, and arrived at came, by the launcher's.
func (h *host) told(sent, came int64) {
	if sent != 0 && (h.skew == nil || came-sent < *h.skew) {
		skew := came - sent
		h.skew = &skew
	}
}

// bury records a death that the job did not ask for.
func (j *job) bury(h *host, d death) {
	o := obituary{death: d, host: h, when: d.At, late: j.ending}
	if h.skew != nil {
		o.when += *h.skew
	}
	j.deaths = append(j.deaths, o)
}

// cause returns the death to report. If other PEs have lost a PE that did not fail by itself, lost is that PE,
// and the death is that of the first PE that reported the loss.
func (j *job) cause() (o obituary, lost int) {
	deaths := slices.DeleteFunc(slices.Clone(j.deaths), func(o obituary) bool {
		// What a PE does after it was asked to end is no failure, unless it has published that it had failed before.
		early := o.At != 0 && o.when < j.endedAt && o.Why != boot.EndUnknown || o.Status.Signaled()
		return o.late && !early || o.rank() == noFailure
	})
	if len(deaths) == 0 {
		return j.deaths[0], -1
	}
	slices.SortStableFunc(deaths, func(a, b obituary) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.when, b.when))
	})
	first := j.speaker(deaths)
	seen := map[int]bool{}
	for at := first; at.rank() == consequence && !seen[at.PE]; {
		seen[at.PE] = true
		next := slices.IndexFunc(deaths, func(o obituary) bool { return o.PE == at.Peer })
		if next < 0 {
			return at, at.Peer
		}
		at = deaths[next]
	}
	return first, -1
}

// speaker returns the first of deaths. If that PE has printed nothing because another PE of its host had just
// printed the same, it returns the death of the PE that printed.
func (j *job) speaker(deaths []obituary) obituary {
	first := deaths[0]
	if first.Why != boot.EndOwn && first.Why != boot.EndMismatch || len(j.tailOf(first.PE)) > 0 {
		return first
	}
	for _, o := range deaths {
		if o.host == first.host && o.Why == first.Why && o.Status == first.Status && len(j.tailOf(o.PE)) > 0 {
			return o
		}
	}
	return first
}

// others lists the PEs that failed by themselves besides o.
func (j *job) others(o obituary) []death {
	var also []death
	for _, d := range j.deaths {
		if d.PE != o.PE && !d.late && d.rank() == ownFailure && o.rank() == ownFailure {
			also = append(also, d.death)
		}
	}
	return also
}
