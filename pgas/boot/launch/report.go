package launch

// What the launcher says about a job that failed, or that hangs.

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot"
)

// Failure is the first failure of a job.
type Failure struct {
	death
	Host   string
	Tail   []string // the last lines of its standard error
	Others string   // what the other PEs were doing then, a line for those that did the same
	asked  bool     // a signal had been forwarded to all PEs
}

// Asked reports that the PE ended because its user wanted it: a signal had been forwarded.
func (f *Failure) Asked() bool { return f.asked }

// String is the report: one block that says who failed, how, and what the others were doing.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "PE %d on host %s (process %d) %s\n", f.PE, f.Host, f.Process, describeEnd(f.death))
	if len(f.Tail) > 0 {
		b.WriteString("  its last lines:\n")
		for _, line := range f.Tail {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if f.Others != "" {
		fmt.Fprintf(&b, "  the others were doing:\n%s", f.Others)
	}
	return b.String()
}

func describeEnd(d death) string {
	how := fmt.Sprintf("exited with status %d", d.Status.ExitStatus())
	if d.Status.Signaled() {
		sig := d.Status.Signal()
		how = fmt.Sprintf("was killed by signal %d (%s)", sig, unix.SignalName(sig))
	}
	if d.Abandoned && d.Status == 0 {
		how += " without leaving the job (pgas.Main and World.Close do)"
	}
	return how
}

// exitStatus is what a shell would say: 128+N for signal N. Leaving the others alone is no success.
func exitStatus(d death) int {
	switch {
	case d.Status.Signaled():
		return 128 + int(d.Status.Signal())
	case d.Status == 0 && d.Abandoned:
		return 1
	}
	return d.Status.ExitStatus()
}

// report completes the first failure with what has been gathered since.
func (j *job) report() *Failure {
	if j.first == nil {
		return nil
	}
	j.tailMu.Lock()
	for _, line := range j.tails[j.first.PE].lines {
		j.first.Tail = append(j.first.Tail, string(line))
	}
	j.tailMu.Unlock()
	j.first.Others = formatTable(j.hosts, j.first.PE)
	return j.first
}

// formatTable writes one line for each group of PEs that do the same. except is left out.
func formatTable(hosts []*host, except int) string {
	type group struct {
		what string
		pes  []int
		long time.Duration
	}
	var groups []*group
	byWhat := map[string]*group{}
	for _, h := range hosts {
		for _, row := range h.table {
			if row.PE == except || row.Exited {
				continue
			}
			what := row.String()
			g := byWhat[what]
			if g == nil {
				g = &group{what: what}
				byWhat[what] = g
				groups = append(groups, g)
			}
			g.pes = append(g.pes, row.PE)
			g.long = max(g.long, time.Duration(row.ForNsec))
		}
	}
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "    PE %s: %s", ranges(g.pes), g.what)
		if g.long > 0 {
			fmt.Fprintf(&b, ", for %v", roundAge(g.long))
		}
		b.WriteByte('\n')
	}
	return b.String()
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

// String says what the PE is doing, without for how long.
func (b blocked) String() string {
	if b.Op == boot.NotBlocked {
		return b.Op.String()
	}
	s := "in " + b.Op.String()
	switch b.Op {
	case boot.InWait:
		s += fmt.Sprintf(" on the word at %#x of its heap", b.Seq)
	case boot.InLock:
		s += fmt.Sprintf(" at %#x of the heap", b.Seq)
	case boot.InBarrier, boot.InCollective:
		s += fmt.Sprintf(" number %d", b.Seq)
		if b.Team != 0 {
			s += fmt.Sprintf(" of team %d", b.Team)
		}
	}
	if b.Peer >= 0 {
		s += fmt.Sprintf(", waiting for PE %d", b.Peer)
	}
	return s
}

// ranges writes ascending numbers as "0-3,5".
func ranges(n []int) string {
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

// Signal is the signal that killed the PE, or 0.
func (f *Failure) Signal() syscall.Signal {
	if f.Status.Signaled() {
		return f.Status.Signal()
	}
	return 0
}
