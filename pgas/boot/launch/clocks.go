package launch

// Clocks of hosts, for traces. The launcher asks each agent for its clock from time to time, and takes half of the time
// that the answer has taken as the moment at which the agent looked: that is wrong by no more than that half. Of the
// answers of each period the quickest is kept, and the clock between two of them is a straight line, which has their
// drift.
//
// Clocks of hosts that are one machine, and one time namespace, are one: nothing is asked.

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
)

const (
	clockAsk    = 200 * time.Millisecond // between two questions
	clockPeriod = 5 * time.Second        // of which the best answer is kept
	clockBurst  = 8                      // questions at the start
)

// ClockSample is what the launcher knows of a host's clock at a moment.
type ClockSample struct {
	At     int64 // the time, by the host's clock
	Offset int64 // what the launcher's clock is ahead of it
	Error  int64 // the most by which Offset may be wrong
}

// HostClock is what the launcher knows of a host's clock.
type HostClock struct {
	Host    string
	Same    bool          // the host's clock is the launcher's
	Samples []ClockSample // the samples in order of time; none if no answer came

	began, period int64 // when the first answer came, and the period of the last sample
}

// ToLauncher returns what the launcher's clock was when the host's was at. ok is false if nothing is known of the
// clock.
func (c *HostClock) ToLauncher(at int64) (t int64, ok bool) {
	if c.Same {
		return at, true
	}
	n := len(c.Samples)
	switch i, _ := slices.BinarySearchFunc(c.Samples, at, func(s ClockSample, at int64) int { return cmp.Compare(s.At, at) }); {
	case n == 0:
		return at, false
	case n == 1:
		return at + c.Samples[0].Offset, true
	default:
		a, b := c.Samples[0], c.Samples[n-1] // beyond the ends it goes on as from end to end
		if i > 0 && i < n {
			a, b = c.Samples[i-1], c.Samples[i]
		}
		drift := float64(b.Offset-a.Offset) / float64(b.At-a.At)
		return at + a.Offset + int64(drift*float64(at-a.At)), true
	}
}

// Error returns the most by which times of the host may be wrong.
func (c *HostClock) Error() (most time.Duration) {
	for _, s := range c.Samples {
		most = max(most, time.Duration(s.Error))
	}
	return most
}

// Drift returns by how much a second of the host's clock is longer than one of the launcher's, from the first sample to
// the last, and the most by which that may be wrong; 0 if there are not two.
func (c *HostClock) Drift() (drift, mostWrong float64) {
	if len(c.Samples) < 2 {
		return 0, 0
	}
	a, b := c.Samples[0], c.Samples[len(c.Samples)-1]
	return float64(b.Offset-a.Offset) / float64(b.At-a.At), float64(a.Error+b.Error) / float64(b.At-a.At)
}

// add keeps s if it is better than the other of its period.
func (c *HostClock) add(s ClockSample) {
	n := len(c.Samples)
	if n == 0 {
		c.began = s.At
	}
	period := (s.At - c.began) / int64(clockPeriod)
	switch {
	case n == 0 || period > c.period:
		c.Samples, c.period = append(c.Samples, s), period
	case s.Error < c.Samples[n-1].Error:
		c.Samples[n-1] = s
	}
}

// askClock asks the agent of h for its clock, until closed is.
func askClock(h *host, closed <-chan struct{}) {
	for i := 0; ; i++ {
		if h.send.Send(frame.ToClock, binary.BigEndian.AppendUint64(nil, uint64(boot.Clock()))) != nil {
			return
		}
		pause := clockAsk
		if i < clockBurst {
			pause = clockAsk / 20
		}
		select {
		case <-time.After(pause):
		case <-closed:
			return
		}
	}
}

// clocksOf returns what is known of the hosts' clocks.
func clocksOf(hosts []*host) []HostClock {
	var all []HostClock
	for _, h := range hosts {
		c := HostClock{Host: h.Name}
		if h.clock != nil {
			c = *h.clock
		}
		all = append(all, c)
	}
	return all
}
