package progress

// What tests of progress see and set.

import (
	"context"
	"io"
	"time"

	"github.com/gopgas/gopgas/pgas"
)

// On is New with a display that is shown on out after each pace, as bars in place or as lines.
func On(ctx context.Context, w *pgas.World, total int, out io.Writer, inPlace bool, pace time.Duration) (*Progress, error) {
	return start(ctx, w, "rows", total, &display{out: out, inPlace: inPlace, pace: pace})
}

// Text is the line of a display.
func Text(name string, done, total int64, took time.Duration, inPlace bool) string {
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
