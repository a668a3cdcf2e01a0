package main

// Progress, from the sums that the PEs keep on PE 0.

import (
	"fmt"
	"io"
	"os"
	"time"
)

// Progress is shown at once and in place on a terminal, and by whole lines, after a while, in a log.
const (
	terminalPace = 100 * time.Millisecond
	logPace      = 2 * time.Second
)

// A progress is a running display. A nil one displays nothing.
type progress struct{ stop, stopped chan struct{} }

// startProgress shows how far the files of the tree are, as mode says: auto, on or off.
func startProgress(mode string, tally TallyRef, files int) *progress {
	terminal := isTerminal(os.Stderr)
	if mode == "off" {
		return nil
	}
	pace := logPace
	if terminal || mode == "on" {
		pace = terminalPace
	}
	p := &progress{make(chan struct{}), make(chan struct{})}
	go p.show(os.Stderr, pace, terminal, tally, files)
	return p
}

// end clears the display.
func (p *progress) end() {
	if p != nil {
		close(p.stop)
		<-p.stopped
	}
}

func (p *progress) show(out io.Writer, pace time.Duration, inPlace bool, tally TallyRef, files int) {
	defer close(p.stopped)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for start := time.Now(); ; {
		select {
		case <-p.stop:
			if inPlace {
				fmt.Fprint(out, "\r\x1b[K")
			}
			return
		case now := <-tick.C:
			done := tally.Files().Fetch(0) + tally.Unreadable().Fetch(0)
			line := fmt.Sprintf("%d of %d files, %d identifiers, %.1f s", done, files, tally.Identifiers().Fetch(0), now.Sub(start).Seconds())
			if inPlace {
				fmt.Fprint(out, "\r\x1b[K", line)
			} else {
				fmt.Fprintln(out, line)
			}
		}
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}
