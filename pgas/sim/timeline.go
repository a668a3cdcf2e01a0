package sim

// The timeline of a run: what PEs waited for, on whom and when, in virtual time, in the file of pgasrun -trace.

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/record"
	traces "github.com/gopgas/gopgas/pgas/trace"
)

// timelineEvents is the default of Config.TimelineEvents for all PEs together.
const timelineEvents = 1 << 20

// timeline records the PEs of a run. The zero value records nothing.
type timeline struct {
	memory *record.Memory
	out    io.Writer
}

// newTimeline returns the timeline that cfg asks for.
func newTimeline(cfg *Config, npes int) (t timeline, err error) {
	switch n := cmp.Or(cfg.TimelineEvents, max(1<<10, min(1<<16, timelineEvents/npes))); {
	case cfg.Timeline == nil:
		return t, nil
	case n < 0 || n > record.MaxEvents:
		return t, fmt.Errorf("TimelineEvents of %d: from 1 to %d can be had", n, record.MaxEvents)
	default:
		return timeline{record.New(npes, 0, npes, n), cfg.Timeline}, nil
	}
}

// of returns what PE number records itself in, or nil.
func (t *timeline) of(number int) *record.PE {
	if t.memory == nil {
		return nil
	}
	return t.memory.PE(number)
}

// write writes the timeline, if there is one, of PEs on these hosts and a run that has ended at a time.
func (t *timeline) write(of []boot.Host, ended time.Duration) error {
	if t.memory == nil {
		return nil
	}
	var all traces.Collector
	var hosts []traces.Host
	index := map[string]int{}
	for i, h := range of {
		if _, known := index[h.Name]; !known {
			index[h.Name] = len(hosts)
			hosts = append(hosts, traces.Host{Name: h.Name, Known: true})
		}
		p := t.of(i)
		one, counts := p.Trace(), p.Counts()
		one.Host, one.Ended = index[h.Name], int64(ended)
		all.Add(one, &counts)
	}
	whole := all.Trace(hosts, make([]traces.Clock, len(hosts)))
	whole.Program, whole.Virtual = "simulation", true
	return whole.Write(t.out)
}
