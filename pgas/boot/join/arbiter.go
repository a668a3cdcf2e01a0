package join

// The arbiter of a job without agents hears what members say of each other, and tells all of them which PE has failed
// first. It is the server of the exchange, so it is in the process of PE 0, which can be stopped like any other, or cut
// off. Then nobody can tell the members anything. What each of them does follows from four rules.
//
//	1  Members ask the arbiter at every beat whether it answers. One member of a host asks and writes the answer into
//	   the host's segment, where the others read it; a member asks if no other has. So there are as many questions as
//	   hosts, and a host whose first PE is stopped asks all the same.
//	2  When the arbiter has not answered a host for as long as a PE may be silent, PE 0 is lost to that host: its
//	   process is stopped, or its host or the network between is down. Each member counts only time in which its own
//	   process ran.
//	3  When no member of a host has asked for so long, and two beats more, since the last time or since the job has
//	   assembled, that host is lost to the arbiter, which names the host's first PE.
//	4  A member that has lost another PE asks at once, and names no PE before the arbiter has answered that question,
//	   or rule 2 has named PE 0. Otherwise it would name a PE that has only ended because PE 0 is lost.
//
// No other member takes the arbiter's place: what it would have to say is that PE 0 is lost, and by rule 2 every host
// finds that out by itself.

import (
	"cmp"
	"context"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
)

// arbiterBeats is the number of beats in the time that a PE may be silent.
const arbiterBeats = 8

// watchesArbiter reports whether this process must find out by itself that the arbiter is silent.
func (m *member) watchesArbiter() bool { return m.server == nil && m.severalHosts() }

// severalHosts reports whether a PE can be out of reach of another.
func (m *member) severalHosts() bool { return m.job.Exchange != nil && len(m.job.Hosts) > 1 }

// arbiterBeat returns the time between two questions of a host, and how long the arbiter may be silent.
func (m *member) arbiterBeat() (beat, limit time.Duration) {
	limit = cmp.Or(m.job.Settings.PeerTimeout, boot.DefaultPeerTimeout)
	return limit / arbiterBeats, limit
}

// watchArbiter counts the arbiter's silence until this PE or the arbiter has left the job.
func (m *member) watchArbiter() {
	go m.askArbiter()
	beat, limit := m.arbiterBeat()
	s, heard := silence{limit: limit}, &m.job.Segment.Header.ArbiterHeard
	m.everyBeat(func(d time.Duration) bool {
		if s.grows(heard.Load(), d) {
			m.failed(0, boot.Accusation{PE: 0, By: m.job.PE, Silent: true}.How())
			return false
		}
		if m.clock()-heard.Load() >= int64(beat) {
			m.wantAnswer()
		}
		return true
	})
}

// watchHosts is the arbiter's part: it counts the silence of every other host until this PE, which is PE 0, has left.
func (m *member) watchHosts() {
	beat, limit := m.arbiterBeat()
	silences := make([]silence, len(m.job.Hosts))
	m.everyBeat(func(d time.Duration) bool {
		for i, h := range m.job.Hosts {
			asked, first := m.server.questionsOf(i), m.server.firstMember(h)
			if i == m.job.HostIndex || first < 0 {
				continue // this PE runs there, or none asks any more
			}
			if silences[i].limit = limit + 2*beat; silences[i].grows(asked, d) {
				m.server.announce(first, boot.Accusation{PE: first, By: m.job.PE, Silent: true}.How())
				return false
			}
		}
		return true
	})
}

// everyBeat calls f at every beat, until f returns false, or this PE or the arbiter has left the job. d is the time
// since the call before, less the time in which this process did not run.
func (m *member) everyBeat(f func(d time.Duration) bool) {
	beat, _ := m.arbiterBeat()
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for last := m.clock(); ; {
		select {
		case <-m.left:
			return
		case <-m.serverLeft:
			return
		case <-ticks.C:
		}
		now := m.clock()
		if !f(min(time.Duration(now-last), 2*beat)) {
			return
		}
		last = now
	}
}

// silence is how long the arbiter has not answered this host, or a host has not asked the arbiter.
type silence struct {
	limit, lasts time.Duration
	heard        int64 // what the last sign of life has changed: Header.ArbiterHeard, or the number of questions
}

// grows adds d to a silence, unless there has been a sign of life since, and reports whether it is too long.
func (s *silence) grows(heard int64, d time.Duration) bool {
	if heard != s.heard {
		s.heard, s.lasts = heard, 0
		return false
	}
	s.lasts += d
	return s.lasts > s.limit
}

// wantAnswer makes askArbiter ask once more.
func (m *member) wantAnswer() {
	select {
	case m.questions <- struct{}{}:
	default: // it is about to
	}
}

// askArbiter asks the arbiter whether it answers, whenever that is wanted, until this PE leaves. One question is on its
// way at a time. listen handles the answer, after the failures that the arbiter has told before.
func (m *member) askArbiter() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-m.left
		cancel()
	}()
	for {
		select {
		case <-m.questions:
		case <-ctx.Done():
			return
		}
		at := m.clock()
		if _, err := m.client.call(ctx, message{kind: msgAsk}); err != nil {
			return // the connection is lost, which listen handles
		}
		select {
		case m.events <- message{kind: msgAsk, value: encodePair(uint64(at), 0)}:
		case <-ctx.Done():
			return
		}
	}
}

// arbiterAnswered records the time at which a question was asked that the arbiter has answered.
func (m *member) arbiterAnswered(value []byte) {
	at, _, ok := decodePair(value)
	heard := &m.job.Segment.Header.ArbiterHeard
	for old := heard.Load(); ok && old < int64(at); old = heard.Load() {
		heard.CompareAndSwap(old, int64(at))
	}
}

// Answered is Job.ArbiterAnswered for a PE of a job without agents.
func (m *member) Answered(since int64) bool {
	if !m.watchesArbiter() || m.hasLeft() || isClosed(m.serverLeft) {
		return true
	}
	if m.job.Segment.Header.ArbiterHeard.Load() > since {
		return true
	}
	m.wantAnswer()
	return false
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
