package sim

// The timeline of a run: what PEs waited for, on whom and when, in virtual time, in the file of pgasrun -trace.

import (
	"cmp"
	"fmt"

	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/sim/internal/engine"
	traces "github.com/gopgas/gopgas/pgas/trace"
)

// timelineEvents is the default of Config.TimelineEvents for all PEs together.
const timelineEvents = 1 << 20

// timeline records the PEs of a run. The zero value records nothing.
type timeline struct{ memory *record.Memory }

// newTimeline returns the timeline that cfg asks for.
func newTimeline(cfg *Config, npes int) (t timeline, err error) {
	switch n := cmp.Or(cfg.TimelineEvents, max(1<<10, min(1<<16, timelineEvents/npes))); {
	case cfg.Timeline == nil:
		return t, nil
	case n < 0 || n > record.MaxEvents:
		return t, fmt.Errorf("TimelineEvents of %d: from 1 to %d can be had", n, record.MaxEvents)
	default:
		t.memory = record.New(npes, 0, npes, n)
		return t, nil
	}
}

// of returns what PE number records itself in, or nil.
func (t *timeline) of(number int) *record.PE {
	if t.memory == nil {
		return nil
	}
	return t.memory.PE(number)
}

// writeTimeline writes the timeline, if there is one.
func (s *sim) writeTimeline() error {
	if s.timeline.memory == nil {
		return nil
	}
	var all traces.Collector
	var hosts []traces.Host
	index := map[string]int{}
	for i, h := range s.hosts {
		if _, known := index[h.Name]; !known {
			index[h.Name] = len(hosts)
			hosts = append(hosts, traces.Host{Name: h.Name, Known: true})
		}
		p := s.timeline.of(i)
		t, counts := p.Trace(), p.Counts()
		t.Host, t.Ended = index[h.Name], int64(engine.Duration(s.engine.Now()))
		all.Add(t, &counts)
	}
	t := all.Trace(hosts, make([]traces.Clock, len(hosts)))
	t.Program, t.Virtual = "simulation", true
	return t.Write(s.cfg.Timeline)
}
