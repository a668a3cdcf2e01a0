package main

import (
	"fmt"
	"io"
	"time"
)

// quietFor is how long a run says nothing about where it is.
const quietFor = 5 * time.Second

// progress says on stderr where a long run is, a line every few seconds.
type progress struct {
	w      io.Writer
	on     bool
	points int
	begun  int
	last   time.Time
	now    func() time.Time
}

func newProgress(w io.Writer, on bool, points int, now func() time.Time) *progress {
	return &progress{w: w, on: on, points: points, last: now(), now: now}
}

// at says, now and then, which point begins.
func (p *progress) at(bench string, size int) {
	p.begun++
	if t := p.now(); p.on && t.Sub(p.last) >= quietFor {
		p.last = t
		fmt.Fprintf(p.w, "pgasbench: point %d of %d, %s %s bytes\n", p.begun, p.points, bench, dashed(size))
	}
}
