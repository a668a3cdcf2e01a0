package racecheck

// The PEs of a job that share a process.

import (
	"sync"
	"sync/atomic"
)

// A Job looks for the races between PEs that are goroutines of one process.
type Job struct {
	detectors InProcess
	reporter  *Reporter
	missed    func(line string)
	told      atomic.Uint32 // a set of Unseen

	mu    sync.Mutex
	place func(what string, off uint64) string
}

// NewJob returns the Job of npes PEs. print is called for each pair of lines that race, with the PE of the
// later access, and missed once for each kind of what is not seen from then on.
func NewJob(npes int, print func(pe int, line string), missed func(line string)) *Job {
	j := &Job{missed: missed}
	j.reporter = NewReporter(func(r Report) { print(int(r.Later.From), r.Text(j.name)) })
	for pe := range npes {
		j.detectors = append(j.detectors, NewDetector(pe, npes, j.reporter.Report, j.lost))
	}
	return j
}

// Join returns the PE of that number. heap finds addresses in its memory, and place names what is at an offset of it.
func (j *Job) Join(pe int, heap Heap, place func(what string, off uint64) string) *PE {
	j.mu.Lock()
	j.place = place // of any PE: the heaps are symmetric
	j.mu.Unlock()
	return NewPE(pe, len(j.detectors), j.detectors, heap, j.reporter.Report, j.lost)
}

// Races returns how many pairs of lines were reported.
func (j *Job) Races() int { return j.reporter.Races() }

func (j *Job) name(_ int, off uint64) string {
	j.mu.Lock()
	place := j.place
	j.mu.Unlock()
	return place("the word", off)
}

// lost says once what is not seen any more.
func (j *Job) lost(u Unseen) {
	if u.First(&j.told) {
		j.missed(u.Line())
	}
}
