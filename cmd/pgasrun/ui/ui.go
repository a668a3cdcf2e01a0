// Package ui is the page of pgasrun -ui: what each PE of a running job does, in a browser.
//
// A Page collects: it looks at the job twice a second, and keeps the last lines of each PE. It draws itself when
// somebody asks. So a page that nobody watches costs little, and whatever a reader does, the job goes on.
//
// Where to read, from the job to the browser:
//
//	ui.go        a Page, from the start of a job to its end
//	history.go   what the numbers were before: bounded series
//	output.go    the last lines of each PE
//	hang.go      why PEs wait
//	view.go      what the page shows, ready to print; chart.go and heat.go draw
//	page.html    the page itself, page.css, page.js
//	server.go    who may have it, and how it is told of news; guard.go has what strangers get
//
//ci:race
package ui

import (
	"slices"
	"sync"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// period is the time between two looks at the job.
const period = 500 * time.Millisecond

// looksPerVersion is how many looks readers are told of at once.
const looksPerVersion = 2

// Job is what is known of a job before it starts.
type Job struct {
	Program string
	Args    []string
	PEs     int
	Began   time.Time
}

// How a job has ended.
const (
	Succeeded   = "succeeded"
	Failed      = "failed"
	Interrupted = "interrupted"
	TimedOut    = "timed out"
)

// Outcome says how a job has ended.
type Outcome struct {
	State  string // Succeeded, Failed, Interrupted or TimedOut
	Status int    // the exit status of pgasrun
	Report string // what pgasrun says of it; may be empty
}

// Page is the page of one job. All methods may be called at any time.
type Page struct {
	job    Job
	output *output

	mu      sync.Mutex
	now     func() launch.Snapshot // nil: the job has not started
	last    launch.Snapshot
	history *history
	standing
	outcome *Outcome
	looks   int
	version uint64
	news    chan struct{} // closed when version changes
	drawn   map[request]drawing
	stop    chan struct{}
	graph   *graph // the graph of the view that is being drawn
}

// standing is why PEs wait, or have waited when that was last so.
type standing struct {
	why  Explanation
	at   time.Duration // the time of the job
	over bool          // the PEs no longer do so
}

// lately is how long before the end of a job that has failed PEs must have waited for that to be part of how it ended:
// what ends a job ends its waits first.
const lately = 5 * time.Second

// New returns the page of a job that has not started.
func New(job Job) *Page {
	return &Page{
		job: job, output: newOutput(job.PEs), history: newHistory(job.PEs), version: 1,
		news: make(chan struct{}), drawn: map[request]drawing{}, stop: make(chan struct{}),
	}
}

// Watch begins to look at the job: it is launch.Spec.Live.
func (p *Page) Watch(now func() launch.Snapshot) {
	p.mu.Lock()
	p.now = now
	p.mu.Unlock()
	p.look()
	go p.watch()
}

func (p *Page) watch() {
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticks.C:
			p.look()
		}
	}
}

// Output keeps what a PE has printed, on either stream: launch.Spec.Output calls it.
func (p *Page) Output(pe int, piece []byte) { p.output.add(pe, piece) }

// look takes what is known of the job now.
func (p *Page) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil || p.outcome != nil {
		return
	}
	p.take(p.now())
	if p.looks++; p.looks%looksPerVersion == 1 {
		p.publish()
	}
}

// take adds s to what is known. p.mu is held.
func (p *Page) take(s launch.Snapshot) {
	p.last = s
	p.history.add(s)
	failed := slices.ContainsFunc(s.PEs, func(x launch.PEState) bool { return x.Ended && x.Status != 0 })
	why := p.history.explain(s)
	switch {
	case !why.Found():
		p.standing.over = true
	// PEs that outlive a failure wait for those that do not: then what stood just before it stays.
	case !failed || !p.standing.why.Found() || s.Elapsed-p.standing.at > lately:
		p.standing = standing{why: why, at: s.Elapsed}
	}
}

// publish tells readers that there is something new. p.mu is held.
func (p *Page) publish() {
	p.version++
	clear(p.drawn)
	close(p.news)
	p.news = make(chan struct{})
}

// End notes how the job has ended: the page changes no more.
func (p *Page) End(o Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outcome != nil {
		return
	}
	close(p.stop)
	if p.now != nil {
		p.take(p.now())
	}
	p.outcome = &o
	p.publish()
}
