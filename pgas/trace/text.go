package trace

// A summary as text, for people.

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gopgas/gopgas/internal/plural"
)

// How many lines of each list the text has; the object has all.
const (
	mostLines  = 10
	mostColumn = 16 // PEs of a matrix
	mostPath   = 12 // steps of the critical path
)

// WriteText writes s as text. It returns the error of w.
func (s *Summary) WriteText(w io.Writer) error {
	t := &textWriter{w: w}
	t.head(s)
	t.deadlock(s.Deadlock)
	t.shares("blocked in", s.Causes)
	t.shares("regions of the program", s.Regions)
	t.late("late senders: PEs that others have waited for, until they acted", s.LateSenders)
	t.late("late receivers: PEs that others have waited for, to take something or to answer", s.LateReceivers)
	t.locks(s.Locks)
	t.critical(&s.Critical, s.Elapsed)
	t.matrix("bytes, from each PE (rows) to each", s.Bytes)
	t.matrix("operations, from each PE (rows) on each", s.Operations)
	return t.err
}

// textWriter keeps the first error.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// table writes rows, whose cells are separated by tabs, under a title.
func (t *textWriter) table(title string, rows []string, more int) {
	if len(rows) < 2 || t.err != nil {
		return
	}
	t.printf("\n%s\n", title)
	tw := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		fmt.Fprintln(tw, "  "+r+"\t")
	}
	if err := tw.Flush(); t.err == nil {
		t.err = err
	}
	if more > 0 {
		t.printf("  and %d more: -json has all\n", more)
	}
}

func (t *textWriter) head(s *Summary) {
	kind := "time"
	if s.Virtual {
		kind = "virtual time"
	}
	t.printf("%s: %s on %s, %v of %s, %.1f %% of it blocked\n", s.Program, plural.Count(s.PEs, "PE"), plural.Count(len(s.Hosts), "host"), short(s.Elapsed), kind, 100*s.Blocked)
	if s.Dropped > 0 {
		t.printf("no room for %s: what follows ends early on some PEs; give more room with -trace FILE,N\n", plural.Count(s.Dropped, "event"))
	}
	if s.Updates > 0 {
		t.printf("no room for %s of words: waits that they ended are named no sender\n", plural.Count(s.Updates, "update"))
	}
	for _, h := range s.Hosts {
		switch {
		case !h.Known:
			t.printf("the clock of host %s is not known: its times may be wrong by any amount\n", h.Name)
		case h.Drift != 0:
			t.printf("the clock of host %s is known to %v, its drift is %.1f ± %.1f ppm\n", h.Name, short(h.Error), 1e6*h.Drift, 1e6*h.DriftError)
		case h.Error > 0:
			t.printf("the clock of host %s is known to %v\n", h.Name, short(h.Error))
		}
	}
}

// deadlock names the PEs and locks of a deadlock.
func (t *textWriter) deadlock(cycle []LockWait) {
	if len(cycle) == 0 || t.err != nil {
		return
	}
	var parts []string
	for _, l := range cycle[:min(len(cycle), mostLines)] {
		part := fmt.Sprintf("PE %d holds %s and waits for %s", l.PE, l.Holds, l.Waits)
		if l.Line != "" {
			part += " at " + l.Line
		}
		parts = append(parts, part)
	}
	if more := len(cycle) - mostLines; more > 0 {
		parts = append(parts, fmt.Sprintf("and so on, %s more", plural.Count(more, "PE")))
	}
	t.printf("deadlock of locks: %s: take locks in the same order on every PE\n", strings.Join(parts, "; "))
}

func (t *textWriter) shares(title string, list []Share) {
	rows := []string{"share\ttime\ttimes\tmost on PE\tin"}
	for _, s := range list[:min(len(list), mostLines)] {
		rows = append(rows, fmt.Sprintf("%.1f %%\t%v\t%d\t%d\t%s", 100*s.Share, short(s.Time), s.Count, s.Worst, s.In))
	}
	t.table(title, rows, len(list)-mostLines)
}

// late writes how late each PE was in each kind of wait, for all PEs together.
func (t *textWriter) late(title string, list []Late) {
	all := byLatePE(list)
	rows := []string{"PE\tlate by\ttimes\tfor\tmost for PE\tblocked in"}
	for _, l := range all[:min(len(all), mostLines)] {
		rows = append(rows, fmt.Sprintf("%d\t%v\t%d\t%s\t%d\t%s", l.PE, short(l.Time), l.Count, plural.Count(l.pes, "PE"), l.For, l.In))
	}
	t.table(title, rows, len(all)-mostLines)
}

func (t *textWriter) locks(list []LockUse) {
	rows := []string{"waited\tlongest\twaits\tacquisitions\theld\tPEs\tlock"}
	for _, l := range list[:min(len(list), mostLines)] {
		rows = append(rows, fmt.Sprintf("%v\t%v\t%d\t%d\t%v\t%d\t%s", short(l.Waiting), short(l.Longest), l.Waits, l.Held, short(l.Holding), l.PEs, l.Lock))
	}
	t.table("locks", rows, len(list)-mostLines)
}

func (t *textWriter) critical(c *Critical, elapsed time.Duration) {
	if c.Number == 0 {
		return
	}
	t.printf("\nthe critical path has %s: %v on PEs, %v on the way between them, %v in waits for what is not in the trace\n",
		plural.Count(c.Number, "step"), short(elapsed-time.Duration(c.Transfers+c.Waits)), short(time.Duration(c.Transfers)), short(time.Duration(c.Waits)))
	var parts []string
	for _, p := range c.ByPE[:min(len(c.ByPE), mostLines)] {
		parts = append(parts, fmt.Sprintf("PE %d %.1f %%", p.PE, 100*p.Share))
	}
	t.printf("  on %s\n", strings.Join(parts, ", "))
	if parts = nil; len(c.ByRegion) > 0 {
		for _, p := range c.ByRegion[:min(len(c.ByRegion), mostLines)] {
			parts = append(parts, fmt.Sprintf("%s %.1f %%", p.Region, 100*p.Share))
		}
		t.printf("  in %s\n", strings.Join(parts, ", "))
	}
	steps := longest(c.Steps, mostPath)
	rows := []string{"from\tfor\tPE\tregion\tlines\tthen"}
	for _, s := range steps {
		rows = append(rows, fmt.Sprintf("%v\t%v\t%d\t%s\t%s\t%s", short(time.Duration(s.Start)), short(s.Time), s.PE, s.Region, s.lines(), s.Then))
	}
	t.table(fmt.Sprintf("its longest steps (%d), by time", len(steps)), rows, 0)
}

// lines says between which lines of the program s is, as far as they are known: "main.go:40 to main.go:52".
func (s *Step) lines() string {
	switch {
	case s.After == "" && s.Before == "":
		return ""
	case s.After == "":
		return "to " + s.Before
	case s.Before == "":
		return "from " + s.After
	case s.After == s.Before:
		return "around " + s.After
	}
	return s.After + " to " + s.Before
}

func (t *textWriter) matrix(title string, m [][]uint64) {
	if len(m) == 0 {
		return
	}
	if len(m) > mostColumn {
		t.printf("\n%s: %s are too many for a table; -json has them\n", title, plural.Count(len(m), "PE"))
		return
	}
	head := ""
	for to := range m {
		head += fmt.Sprintf("\t%d", to)
	}
	rows := []string{head}
	for from, r := range m {
		row := fmt.Sprint(from)
		for _, v := range r {
			if v == 0 {
				row += "\t·"
			} else {
				row += "\t" + count(v)
			}
		}
		rows = append(rows, row)
	}
	t.table(title, rows, 0)
}

// count writes a number in four digits at most.
func count(v uint64) string {
	f, unit := float64(v), ""
	for _, u := range []string{"k", "M", "G", "T", "P", "E"} {
		if f < 9999.5 {
			break
		}
		f, unit = f/1000, u
	}
	return fmt.Sprintf("%.0f%s", f, unit)
}

// short returns d in three digits or so.
func short(d time.Duration) time.Duration {
	for unit := time.Duration(1); unit < time.Hour; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
	return d.Round(time.Second)
}
