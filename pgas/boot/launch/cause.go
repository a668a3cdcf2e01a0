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
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
)

// deathRecord is the launcher's record of a PE's death.
type deathRecord struct {
	frame.Death
	host             *host
	launcherTime     int64 // when it failed, by the launcher's clock
	afterTermination bool  // it arrived after the launcher had asked the PEs to end
}

// ending is what the launcher knows of the end of a job.
type ending struct {
	status   int                 // the worst exit status of a PE so far
	startErr error               // why the job did not start, or was ended by its context
	deaths   []deathRecord       // the PEs that failed, in order of arrival
	lostHost *host               // whose end is the reason of startErr; nil: it has another
	ended    map[int]frame.Death // the PEs whose process has ended, by number

	runningSince time.Time // when the PEs were started
	counted      bool      // countFailures has counted those of this term

	userSignal syscall.Signal   // the last forwarded signal that ends programs; 0: none
	userEnded  bool             // the user had sent such a signal before the first death
	hurried    bool             // a second one has come, which kills at once
	stopped    bool             // SIGTERM has ended the job while its PEs could not save
	hintTimer  <-chan time.Time // fires when it is time to say that a second signal kills

	terminating  bool             // the PEs have been told to end
	terminatedAt int64            // when they were asked to end, by the launcher's clock
	killTimer    <-chan time.Time // fires when kill is to take its next step
	killSteps    int              // the steps that kill has taken
	// the PEs have been killed so that another term may follow
	killedForTerm bool
	outputStuck   bool // a killed process holds its output open: do not wait for it

	// fires when the PE that the first death is blamed on is not awaited any more, whose own end may say why
	peerTimer <-chan time.Time

	globalExiting    bool // a PE has called GlobalExit (ends.go)
	globalExitKilled bool // the PEs have been killed for that
}

// recordDeath records the failure of a PE of h.
func (e *ending) recordDeath(h *host, d frame.Death) {
	o := deathRecord{Death: d, host: h, launcherTime: d.FailedAt, afterTermination: e.terminating}
	if h.clockOffset != nil {
		o.launcherTime += *h.clockOffset
	}
	e.deaths = append(e.deaths, o)
}

// rootCause returns the death to report. If other PEs have lost a PE that did not fail by itself, lost is that PE,
// and the death is that of the first PE that reported the loss. Otherwise lost is -1.
func (e *ending) rootCause(tails *output.Tails) (o deathRecord, lost int) {
	deaths := slices.DeleteFunc(slices.Clone(e.deaths), func(o deathRecord) bool {
		// A PE that ends after it was asked to has not failed, unless it has published that it had failed before.
		early := o.FailedAt != 0 && o.launcherTime < e.terminatedAt && o.Reason != boot.EndUnknown || o.Status.Signaled()
		return o.afterTermination && !early || o.CauseClass() == frame.NoFailure
	})
	if len(deaths) == 0 {
		return e.deaths[0], -1
	}
	slices.SortStableFunc(deaths, func(a, b deathRecord) int {
		return cmp.Or(cmp.Compare(a.CauseClass(), b.CauseClass()), cmp.Compare(a.launcherTime, b.launcherTime))
	})
	first := withOutput(deaths, tails)
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
func withOutput(deaths []deathRecord, tails *output.Tails) deathRecord {
	first := deaths[0]
	if first.Reason != boot.EndOwn && first.Reason != boot.EndMismatch || len(tails.Of(first.PE)) > 0 {
		return first
	}
	for _, o := range deaths {
		if o.host == first.host && o.Reason == first.Reason && o.Status == first.Status && len(tails.Of(o.PE)) > 0 {
			return o
		}
	}
	return first
}

// alsoFailed returns the deaths of PEs that failed by themselves, other than o.
func (e *ending) alsoFailed(o deathRecord) []frame.Death {
	var also []frame.Death
	for _, d := range e.deaths {
		if d.PE != o.PE && !d.afterTermination && d.CauseClass() == frame.OwnFailure && o.CauseClass() == frame.OwnFailure {
			also = append(also, d.Death)
		}
	}
	return also
}
