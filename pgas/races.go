package pgas

// Races between PEs (PGAS_CHECK=race). PEs that are goroutines share a racecheck.Job. A PE that is a process has the
// detector of its own memory, and a racecheck/carriage to those of the others.

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/internal/node"
	"github.com/gopgas/gopgas/pgas/internal/racecheck"
	"github.com/gopgas/gopgas/pgas/internal/racecheck/carriage"
	"github.com/gopgas/gopgas/pgas/internal/symheap"
)

// processRaces finds the races of the memory of this PE, a process. A nil one finds none.
type processRaces struct {
	n        *node.Node
	detector *racecheck.Detector
	carriage *carriage.Carriage
	stopped  atomic.Bool // nothing is reported any more
	ended    atomic.Bool
}

// carriedDetector is the detector of a processRaces for its carriage.
type carriedDetector struct{ *processRaces }

func (d carriedDetector) Apply(r *racecheck.Record) { d.detector.Apply(r) }

func (d carriedDetector) Answer(q racecheck.Question) *racecheck.Clock { return d.detector.Answer(q) }

func (d carriedDetector) Stop() { d.stopped.Store(true) }

// openProcessRaces makes the PE of n look for races with the others of its job, which are processes. offsetOf finds
// addresses in its heap. It returns an error if there is no room for what that needs.
func openProcessRaces(n *node.Node, heap *symheap.Heap, offsetOf racecheck.Heap) (*processRaces, error) {
	layout, err := carriage.LayoutFor(n.Job.NPEs, boot.RaceRoom(heap.Usage.Max, n.Job.NPEs))
	if err != nil {
		return nil, fmt.Errorf("%w: raise the limits of memory, or start fewer PEs", err)
	}
	base, ok := heap.Alloc(layout.Bytes(), boot.PageBytes)
	if !ok {
		return nil, fmt.Errorf("PGAS_CHECK=race finds no %d bytes in the symmetric heap: set a larger PGAS_HEAP_MAX", layout.Bytes())
	}
	r := &processRaces{n: n}
	reporter := racecheck.NewReporter(r.print)
	report := func(x racecheck.Report) {
		if !r.stopped.Load() {
			reporter.Report(x)
		}
	}
	r.detector = racecheck.NewDetector(n.Job.PE, n.Job.NPEs, report, r.missed)
	if r.carriage, err = carriage.Over(n, layout, base, carriedDetector{r}, r.say); err != nil {
		return nil, err
	}
	n.Races = racecheck.NewPE(n.Job.PE, n.Job.NPEs, r.carriage, offsetOf, report, r.missed)
	return r, nil
}

// print prints a report, unless a PE of this host has printed one of the same two lines. The job ends with the status
// of PGAS_RACE_EXIT from now on. If PEs share memory by other means the report may be wrong, and nothing is reported
// any more.
func (r *processRaces) print(x racecheck.Report) {
	if what, shared := sharedMapping(r.n); shared {
		r.carriage.Lose(what)
		return
	}
	r.n.Job.RaceReported()
	if !r.n.Job.Segment.Header.FirstRace(x.Hash()) {
		return
	}
	r.say(x.Text(func(_ int, off uint64) string { return r.n.PlaceName("the word", off) }))
}

// missed says what is not seen from now on, unless a PE of this host has said the same.
func (r *processRaces) missed(u racecheck.Unseen) {
	if u.First(&r.n.Job.Segment.Header.Unseen) {
		r.say(u.Line())
	}
}

func (r *processRaces) say(line string) {
	fmt.Fprintf(os.Stderr, "pgas: PE %d on %s: %s\n", r.n.Job.PE, r.n.Job.Host().Name, line)
}

// flush sends the records that were kept, before the PEs leave together.
func (r *processRaces) flush() {
	if r != nil {
		r.carriage.Flush(nil, -1)
	}
}

// end reads the last records, and ends the carriage.
func (r *processRaces) end() error {
	if r == nil || r.ended.Swap(true) {
		return nil
	}
	r.carriage.Close()
	return r.carriage.CloseChannels()
}
