package progress

// What a Progress looks like. A display is a bar that is drawn again and again in one line of a terminal, or lines that
// stay in a log: few, and fewer the longer the work takes.

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

const (
	barPace  = 100 * time.Millisecond
	linePace = 2 * time.Second // until the first line; each interval is half as long again as the one before
	slowest  = time.Minute
	barCells = 24
)

// display is where a Progress is shown.
type display struct {
	name    string
	total   int64         // what all PEs expect to do, 0 if it is not known
	began   time.Duration // the time of the World's clock when the display began
	inPlace bool
	// launcher says that the launcher draws the bar on its terminal: it gets each bar as a line.
	launcher bool
	pace     time.Duration

	mu    sync.Mutex
	out   io.Writer
	bar   string // what is on the line of the bar; "" if nothing is
	lines int    // how many lines or bars were shown
}

// displayOn returns the display for a file, as the setting says.
func displayOn(f *os.File, way boot.Progress) *display {
	d := &display{out: f, pace: linePace}
	terminal := isTerminal(f)
	switch {
	case way == boot.ProgressOff:
		d.out = io.Discard
	case way == boot.ProgressBar, way == boot.ProgressAuto && terminal:
		d.inPlace, d.pace, d.launcher = true, barPace, !terminal
	}
	return d
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// first returns after how long something is shown first.
func (d *display) first() time.Duration { return d.pace }

// next returns after how long something is shown again.
func (d *display) next() time.Duration {
	if !d.inPlace {
		d.pace = min(d.pace+d.pace/2, max(slowest, d.pace))
	}
	return d.pace
}

// show shows that so much is done at a time.
func (d *display) show(done int64, now time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines++
	text := d.text(done, now-d.began)
	if !d.inPlace {
		fmt.Fprintln(d.out, text)
		return
	}
	if text != d.bar {
		d.bar = text
		d.draw(text)
	}
}

// draw draws a bar in place of the last one; an empty one takes it away.
func (d *display) draw(text string) {
	end := ""
	if d.launcher {
		end = "\n"
	}
	io.WriteString(d.out, boot.BarMark+text+end)
}

// text returns the line for what is done after some time.
func (d *display) text(done int64, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", d.name)
	if d.total == 0 {
		fmt.Fprintf(&b, "%d", done)
	} else {
		part := min(1, float64(done)/float64(d.total))
		if d.inPlace {
			full := int(part * barCells)
			fmt.Fprintf(&b, "[%s%s] ", strings.Repeat("=", full), strings.Repeat(" ", barCells-full))
		}
		fmt.Fprintf(&b, "%d of %d (%.0f%%)", done, d.total, 100*part)
	}
	fmt.Fprintf(&b, ", %s", seconds(took))
	if done > 0 && done < d.total {
		left := time.Duration(float64(took) * (float64(d.total)/float64(done) - 1))
		fmt.Fprintf(&b, ", %s left", seconds(left))
	}
	return b.String()
}

// seconds returns a time as a person reads it while it passes.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// end shows what was done in the end, if anything was shown before.
func (d *display) end(done int64, now time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lines > 0 {
		fmt.Fprintln(d.out, d.text(done, now-d.began))
	}
}

// leave takes the bar away: the cursor is at the start of an empty line.
func (d *display) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bar != "" {
		d.draw("")
		d.bar = ""
	}
}

// besideBar writes what is no bar to the terminal that has one.
type besideBar struct {
	d   *display
	out io.Writer
}

func (b *besideBar) Write(text []byte) (int, error) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if b.d.bar == "" || b.d.launcher {
		return b.out.Write(text)
	}
	b.d.draw("")
	n, err := b.out.Write(text)
	b.d.bar = "" // the next one comes soon
	return n, err
}
