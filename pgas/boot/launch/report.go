package launch

// The report on a job that failed, or that hangs.

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
)

// Failure is the failure that ended a job: that of the PE which failed first, as far as is known.
type Failure struct {
	PE      int
	Process int                // 0: it may still live, and other PEs have lost it
	Status  syscall.WaitStatus // the wait status of its process
	Host    string

	Tail   []string // the last lines of its standard error
	Others string   // what the other PEs were doing at that time: one line for each group that did the same
	// nil, or the failure of a PE that lost this one, whose process had not failed itself; Status is LostBy's
	LostBy          *Failure
	AlsoFailed      []string // other PEs that failed by themselves
	afterUserSignal bool     // the user's signal had been forwarded to all PEs before
	death           frame.Death
}

// AfterUserSignal reports whether the PE ended after the user had sent a signal to end, which went to all PEs.
func (f *Failure) AfterUserSignal() bool { return f.afterUserSignal }

// String returns the report: which PE failed, how, and what the others were doing.
func (f *Failure) String() string {
	var b strings.Builder
	if by := f.LostBy; by != nil {
		fmt.Fprintf(&b, "PE %d on host %s is lost: PE %d on host %s (process %d) no longer reached it and %s\n", f.PE, f.Host, by.PE, by.Host, by.Process, by.death.How())
		writeTail(&b, "its last lines", f.Tail)
		writeTail(&b, fmt.Sprintf("the last lines of PE %d", by.PE), by.Tail)
	} else {
		fmt.Fprintf(&b, "PE %d on host %s%s %s\n", f.PE, f.Host, processOf(f.death), f.death.How())
		writeTail(&b, "its last lines", f.Tail)
		if remedy := explainExit(f.Tail, f.Host); remedy != "" && !f.Status.Signaled() {
			fmt.Fprintf(&b, "  %s\n", remedy)
		}
	}
	for _, line := range f.AlsoFailed {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if f.Others != "" {
		fmt.Fprintf(&b, "  the others were doing:\n%s", f.Others)
	}
	return b.String()
}

func processOf(d frame.Death) string {
	if d.Process == 0 {
		return ""
	}
	return fmt.Sprintf(" (process %d)", d.Process)
}

func writeTail(b *strings.Builder, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(b, "  %s:\n", title)
	}
	for _, line := range lines {
		fmt.Fprintf(b, "    %s\n", line)
	}
}

// newFailure returns the failure of a PE of h that ended as d says.
func newFailure(d frame.Death, h *host) *Failure {
	return &Failure{PE: d.PE, Process: d.Process, Status: d.Status, Host: h.Name, death: d}
}

// report returns the failure that ended the job, or nil.
func (e *ending) report(hosts []*host, tails *output.Tails) *Failure {
	if len(e.deaths) == 0 {
		return nil
	}
	o, lost := e.rootCause(tails)
	f := newFailure(o.Death, o.host)
	f.Tail, f.afterUserSignal = tails.Of(o.PE), e.userEnded
	f.Others = formatTable(hosts, o.PE)
	for _, d := range e.alsoFailed(o) {
		f.AlsoFailed = append(f.AlsoFailed, fmt.Sprintf("PE %d on host %s failed too: it %s", d.PE, hostOf(hosts, d.PE).Name, d.How()))
	}
	if lost < 0 {
		return f
	}
	of := newFailure(frame.Death{PE: lost, Status: o.Status, Peer: -1}, hostOf(hosts, lost))
	of.Tail, of.LostBy, of.Others, of.afterUserSignal = tails.Of(lost), f, f.Others, f.afterUserSignal
	return of
}

// formatTable writes one line for each group of PEs that do the same. except is left out.
func formatTable(hosts []*host, except int) string {
	var groups doings
	for _, h := range hosts {
		for _, row := range h.table {
			if row.PE != except && !row.Exited {
				groups.add(row.PE, row.String(), time.Duration(row.ForNsec))
			}
		}
	}
	var b strings.Builder
	for _, g := range groups.list {
		fmt.Fprintf(&b, "    PE %s: %s", Ranges(g.PEs), g.What)
		if g.Longest > 0 {
			fmt.Fprintf(&b, ", for %v", roundAge(g.Longest))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// doings groups PEs by what they do, in the order in which that first comes up.
type doings struct {
	list  []Doing
	index map[string]int
}

func (d *doings) add(pe int, what string, lasts time.Duration) {
	i, known := d.index[what]
	if !known {
		if d.index == nil {
			d.index = map[string]int{}
		}
		i = len(d.list)
		d.index[what] = i
		d.list = append(d.list, Doing{What: what})
	}
	g := &d.list[i]
	g.PEs = append(g.PEs, pe)
	g.Longest = max(g.Longest, lasts)
}

func roundAge(d time.Duration) time.Duration {
	switch {
	case d > time.Minute:
		return d.Round(time.Second)
	case d > time.Second:
		return d.Round(100 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(100 * time.Microsecond)
	}
	return d
}

// Ranges writes ascending numbers as "0-3,5".
func Ranges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		last := i
		for last+1 < len(n) && n[last+1] == n[last]+1 {
			last++
		}
		if last == i {
			parts = append(parts, fmt.Sprint(n[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", n[i], n[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// Signal returns the signal that killed the PE, or 0.
func (f *Failure) Signal() syscall.Signal {
	if f.Status.Signaled() {
		return f.Status.Signal()
	}
	return 0
}
