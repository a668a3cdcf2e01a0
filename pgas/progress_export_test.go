package pgas

// What tests of progress see and set.

import (
	"context"
	"io"
	"time"
)

// ProgressOn is World.Progress with a display that is shown after each pace, or as bars in place.
func (w *World) ProgressOn(ctx context.Context, name string, total int, out io.Writer, inPlace bool, pace time.Duration) (*Progress, error) {
	return w.progress(ctx, name, total, &display{out: out, inPlace: inPlace, pace: pace})
}

// ProgressText is the line of a display.
func ProgressText(name string, done, total int64, took time.Duration, inPlace bool) string {
	return (&display{name: name, total: total, inPlace: inPlace}).text(done, took)
}

// LinesWithin returns after which times lines are shown in a log.
func LinesWithin(d time.Duration) (at []time.Duration) {
	x := &display{pace: linePace}
	for t := x.first(); t <= d; t += x.next() {
		at = append(at, t)
	}
	return at
}
