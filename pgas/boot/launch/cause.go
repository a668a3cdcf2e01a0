package launch

// The root cause: which PE to report. The first process that the launcher sees end need not be the one that failed
// first. PEs that lose another PE print that and exit too, agents report over connections of their own, and a PE may
// take long to exit. So every death is reported with what the PE published about it (boot.End), and the choice is
// made when the job is over:
//
//	a failure of a PE's own      goes before one that it blames on another PE, and of several the earliest
//	a PE that others have lost   is named although its process lives, if nothing else explains their end
//	what the launcher ended      is no PE's failure
//
// Times are those of the failing PE's host. A frame that carries its time of sending shows the offset between that
// host's clock and the launcher's, plus the frame's delay. The smallest of these differences has the least delay.

import (
	"cmp"
	"slices"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

// deathRecord is the launcher's record of a PE's death.
type deathRecord struct {
	frame.Death
	host             *host
	launcherTime     int64 // when it failed, by the launcher's clock
	afterTermination bool  // it arrived after the launcher had asked the PEs to end
}

// updateClockOffset lowers the offset of h's clock to that of a frame, if it is less. sentAt is by h's clock, arrived
// by the launcher's.
func (h *host) updateClockOffset(sentAt, arrived int64) {
	if sentAt != 0 && (h.clockOffset == nil || arrived-sentAt < *h.clockOffset) {
		offset := arrived - sentAt
		h.clockOffset = &offset
	}
}

// recordDeath records the failure of a PE of h.
func (j *job) recordDeath(h *host, d frame.Death) {
	o := deathRecord{Death: d, host: h, launcherTime: d.FailedAt, afterTermination: j.terminating}
	if h.clockOffset != nil {
		o.launcherTime += *h.clockOffset
	}
	j.deaths = append(j.deaths, o)
}

// rootCause returns the death to report. If other PEs have lost a PE that did not fail by itself, lost is that PE,
// and the death is that of the first PE that reported the loss. Otherwise lost is -1.
func (j *job) rootCause() (o deathRecord, lost int) {
	deaths := slices.DeleteFunc(slices.Clone(j.deaths), func(o deathRecord) bool {
		// A PE that ends after it was asked to has not failed, unless it has published that it had failed before.
		early := o.FailedAt != 0 && o.launcherTime < j.terminatedAt && o.Reason != boot.EndUnknown || o.Status.Signaled()
		return o.afterTermination && !early || o.CauseClass() == frame.NoFailure
	})
	if len(deaths) == 0 {
		return j.deaths[0], -1
	}
	slices.SortStableFunc(deaths, func(a, b deathRecord) int {
		return cmp.Or(cmp.Compare(a.CauseClass(), b.CauseClass()), cmp.Compare(a.launcherTime, b.launcherTime))
	})
	first := j.withOutput(deaths)
	seen := map[int]bool{}
	for at := first; at.CauseClass() == frame.Consequence && !seen[at.PE]; {
		seen[at.PE] = true
		next := slices.IndexFunc(deaths, func(o deathRecord) bool { return o.PE == at.Peer })
		if next < 0 {
			return at, at.Peer
		}
		at = deaths[next]
	}
	return first, -1
}

// withOutput returns the first of deaths. If that PE has printed nothing because another PE of its host had just
// printed the same, it returns the death of the PE that printed.
func (j *job) withOutput(deaths []deathRecord) deathRecord {
	first := deaths[0]
	if first.Reason != boot.EndOwn && first.Reason != boot.EndMismatch || len(j.tails.Of(first.PE)) > 0 {
		return first
	}
	for _, o := range deaths {
		if o.host == first.host && o.Reason == first.Reason && o.Status == first.Status && len(j.tails.Of(o.PE)) > 0 {
			return o
		}
	}
	return first
}

// alsoFailed returns the deaths of PEs that failed by themselves, other than o.
func (j *job) alsoFailed(o deathRecord) []frame.Death {
	var also []frame.Death
	for _, d := range j.deaths {
		if d.PE != o.PE && !d.afterTermination && d.CauseClass() == frame.OwnFailure && o.CauseClass() == frame.OwnFailure {
			also = append(also, d.Death)
		}
	}
	return also
}
