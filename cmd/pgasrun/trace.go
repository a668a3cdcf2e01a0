package main

// -trace: what the PEs have recorded, put together as one file when the job has ended. Whatever is wrong with the file,
// the job itself goes on.

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/boot/record"
	"github.com/gopgas/gopgas/pgas/trace"
)

// Bounds of the events that a PE may record if -trace does not say: a file of some hundred megabytes at most.
const (
	mostEvents  = 1 << 16 // of a PE
	leastEvents = 1 << 10
	allEvents   = 1 << 20 // of all PEs
)

// traceFlag is what -trace asks for.
type traceFlag struct {
	file   string
	events int // the events that each PE may record; 0: as many as eventsOf says
}

// String is that of flag.Value.
func (f *traceFlag) String() string { return f.file }

// Set takes FILE, or FILE,N. It is that of flag.Value.
func (f *traceFlag) Set(text string) error {
	i := strings.LastIndexByte(text, ',')
	if i < 0 {
		*f = traceFlag{file: text}
		return nil
	}
	n, err := strconv.Atoi(text[i+1:])
	if err != nil || n < 1 || n > record.MaxEvents {
		return fmt.Errorf("%q is no number of events for each PE: write FILE,N with N from 1 to %d", text[i+1:], record.MaxEvents)
	}
	*f = traceFlag{file: text[:i], events: n}
	return nil
}

// jobTrace is the trace of one job.
type jobTrace struct {
	*newFile
	asked   traceFlag
	news    io.Writer
	program string
	all     trace.Collector
}

// open prepares the file. The error says why it cannot be written.
func (f *jobTrace) open(job *launch.Spec) (err error) {
	f.program = filepath.Base(job.Program)
	if f.newFile, err = createFile(f.asked.file); err != nil {
		return runsWithout{fmt.Errorf("-trace: %w; the job runs without a trace", err)}
	}
	return nil
}

// attach has the PEs record events, and the launcher pass them on.
func (f *jobTrace) attach(job *launch.Spec) {
	job.Trace = func(p launch.PETrace) { f.all.Add(p.Trace, p.Counts) }
	job.Events = eventsOf(f.asked.events, npes(job.Hosts))
}

// eventsOf returns how many events each of npes PEs may record.
func eventsOf(asked, npes int) int {
	if asked > 0 {
		return asked
	}
	return min(mostEvents, max(leastEvents, allEvents/npes))
}

// finish writes the trace, and says where it is and how exact.
func (f *jobTrace) finish(end *ending) {
	t := f.all.Trace(clocksOf(end.Clocks))
	t.Program = f.program
	if len(t.PEs) == 0 {
		f.discard()
		complain(errors.New("-trace: no PE has started, so there is no trace"), 0)
		return
	}
	if err := f.write(t); err != nil {
		f.discard()
		complain(fmt.Errorf("-trace: %s cannot be written: %w: there is no trace", f.path, err), 0)
		return
	}
	f.say(t, end.npes)
}

// clocksOf returns what a trace says of the hosts' clocks, and what turns their times into the launcher's.
func clocksOf(clocks []launch.HostClock) (hosts []trace.Host, turn []trace.Clock) {
	for i := range clocks {
		c := &clocks[i]
		_, known := c.ToLauncher(0)
		h := trace.Host{Name: c.Host, Known: known, Error: c.Error()}
		h.Drift, h.DriftError = c.Drift()
		hosts = append(hosts, h)
		turn = append(turn, func(at int64) int64 { t, _ := c.ToLauncher(at); return t })
	}
	return hosts, turn
}

// write writes the trace and puts the file in its place.
func (f *jobTrace) write(t *trace.Trace) error {
	var to io.WriteCloser = f.temp
	if strings.HasSuffix(f.path, ".gz") {
		to = gzip.NewWriter(f.temp)
	}
	err := t.Write(to)
	if to != f.temp {
		err = errors.Join(err, to.Close())
	}
	return f.replace(err)
}

// say says what there is.
func (f *jobTrace) say(t *trace.Trace, npes int) {
	events, dropped, updates := 0, uint64(0), uint64(0)
	for i := range t.PEs {
		events += len(t.PEs[i].Slices) + len(t.PEs[i].Points)
		dropped += t.PEs[i].Dropped
		updates += t.PEs[i].Updates
	}
	exact := "by one clock"
	if e, bounded := t.Error(); !bounded {
		exact = "of hosts whose clocks are not known: times of two hosts cannot be compared"
	} else if e > 0 {
		exact = fmt.Sprintf("times of two hosts are comparable to %v", e)
	}
	fmt.Fprintf(f.news, "pgasrun: the trace is in %s: %s, %s; open it in https://ui.perfetto.dev, or: pgasrun trace summary %s\n", f.path, plural.Count(events, "event"), exact, f.path)
	if dropped > 0 {
		fmt.Fprintf(f.news, "pgasrun: -trace: no room for %s: give each PE room for more with -trace %s,N (at most %d)\n", plural.Count(dropped, "later event"), f.path, record.MaxEvents)
	}
	if updates > 0 {
		fmt.Fprintf(f.news, "pgasrun: -trace: %s of words beyond half of the room: waits that they ended have no arrow\n", plural.Count(updates, "update"))
	}
	if missing := npes - len(t.PEs); missing > 0 {
		fmt.Fprintf(f.news, "pgasrun: -trace: nothing has arrived of %s: their agents were lost\n", plural.Count(missing, "PE"))
	}
}
