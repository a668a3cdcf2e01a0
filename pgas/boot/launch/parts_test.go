package launch

// The parts that need no job: frames, lines, the report.

import (
	"bufio"
	"bytes"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/output"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// hostsDoing returns hosts. The PEs of each do what its rows say.
func hostsDoing(rows ...[]frame.Blocked) (hosts []*host) {
	for _, table := range rows {
		hosts = append(hosts, &host{hostTerm: hostTerm{table: table}})
	}
	return hosts
}

func TestReport(t *testing.T) {
	hosts := hostsDoing(
		[]frame.Blocked{{PE: 0, Op: boot.InBarrier, Peer: -1, Seq: 3, ForNsec: 2e9}, {PE: 1, Op: boot.NotBlocked}, {PE: 2, Exited: true},
			{PE: 11, Ends: true, Reason: boot.EndMismatch}, {PE: 12, Ends: true, Reason: boot.EndMismatch}, {PE: 13, Ends: true, Reason: boot.EndOwn}},
		[]frame.Blocked{{PE: 3, Op: boot.InBarrier, Peer: -1, Seq: 3, ForNsec: 1234567}, {PE: 4, Op: boot.InWait, Peer: -1, Seq: 64, ForNsec: 1e6}, {PE: 5, Op: boot.InGet, Peer: 2, ForNsec: 90e9}, {PE: 6, Op: boot.InLock, Peer: 3, Seq: 64},
			{PE: 7, Op: boot.InWait, Peer: -1, Seq: 0x1000048, Name: "Tally.Ready[0]", Site: "count/main.go:40"}, {PE: 8, Op: boot.InPageFault, Peer: 2},
			{PE: 9, Op: boot.InFetch, Peer: 2, Seq: 5}, {PE: 10, Op: boot.InRelease, Peer: 2, Seq: 6, Name: "array 0 ([]int)[64:128]", Site: "count/main.go:40"}},
	)
	const want = "    PE 0,3: in barrier number 3, for 2s\n" +
		"    PE 11-12: ending with a mismatch of collectives\n" +
		"    PE 13: ending with an error of its own\n" +
		"    PE 4: in wait on the word at 0x40 of its heap, for 1ms\n" +
		"    PE 5: in get, waiting for PE 2, for 1m30s\n" +
		"    PE 6: in lock at 0x40 of the heap, waiting for PE 3\n" +
		"    PE 7: in wait on Tally.Ready[0] (at 0x1000048 of its heap), called at count/main.go:40\n" +
		"    PE 8: in a page fault of coherent memory, waiting for PE 2\n" +
		"    PE 9: in a fetch of coherent memory, block 5, waiting for PE 2\n" +
		"    PE 10: in a release of coherent memory, block 6 (array 0 ([]int)[64:128]), waiting for PE 2, called at count/main.go:40\n"
	if got := formatTable(hosts, 1); got != want {
		t.Errorf("the table is\n%s, want\n%s", got, want)
	}
	f := newFailure(frame.Death{PE: 1, Process: 42, Status: syscall.WaitStatus(9)}, &host{Host: boot.Host{Name: "a"}})
	f.Tail, f.Others = []string{"oops"}, want
	if got := f.String(); got != "PE 1 on host a (process 42) was killed by signal 9 (SIGKILL)\n  its last lines:\n    oops\n  the others were doing:\n"+want {
		t.Errorf("the report is\n%s", got)
	}
	if got := f.Signal(); got != syscall.SIGKILL {
		t.Errorf("signal %v", got)
	}
}

// TestRootCause gives the launcher deaths in some order and checks which PE it reports.
func TestRootCause(t *testing.T) {
	killed, exited := syscall.WaitStatus(9), syscall.WaitStatus(1<<8)
	fail := func(pe int, when int64) frame.Death {
		return frame.Death{PE: pe, Status: exited, Reason: boot.EndOwn, Peer: -1, FailedAt: when}
	}
	lose := func(pe, peer int, when int64) frame.Death {
		return frame.Death{PE: pe, Status: exited, Reason: boot.EndLost, Peer: peer, FailedAt: when}
	}
	silent := func(pe int, status syscall.WaitStatus, lost int, when int64) frame.Death {
		return frame.Death{PE: pe, Status: status, Peer: lost, FailedAt: when}
	}
	const ended = 100 // when the launcher asked the PEs to end, after the first death that it saw
	tests := map[string]struct {
		deaths   []frame.Death
		pe, lost int
	}{
		"one":                             {[]frame.Death{fail(1, 5)}, 1, -1},
		"the earlier of two":              {[]frame.Death{fail(1, 5), fail(2, 4)}, 2, -1},
		"a survivor first":                {[]frame.Death{lose(0, 2, 7), silent(2, killed, -1, 9)}, 2, -1},
		"a survivor with an earlier time": {[]frame.Death{lose(0, 2, 7), fail(2, 9)}, 2, -1},
		"one survivor blames another":     {[]frame.Death{lose(0, 1, 7), lose(1, 2, 8), silent(2, killed, -1, 9)}, 2, -1},
		"none failed by itself":           {[]frame.Death{lose(0, 1, 7), lose(1, 2, 8)}, 1, 2},
		"two that lost each other":        {[]frame.Death{lose(0, 1, 7), lose(1, 0, 8)}, 0, -1},
		"a survivor that says nothing":    {[]frame.Death{silent(0, exited, 2, 7), silent(2, killed, -1, 9)}, 2, -1},
		"a survivor that aborts":          {[]frame.Death{silent(0, syscall.WaitStatus(6), -1, 7), silent(2, killed, -1, 9)}, 2, -1},
		"an abort alone":                  {[]frame.Death{silent(0, syscall.WaitStatus(6), -1, 7), lose(1, 0, 8)}, 0, -1},
		"told to end":                     {[]frame.Death{lose(0, 2, 7), {PE: 1, Status: exited, Reason: boot.EndOnRequest, Peer: -1, FailedAt: 150}}, 0, 2},
		"ended by the launcher":           {[]frame.Death{lose(0, 2, 7), {PE: 2, Status: syscall.WaitStatus(15), Peer: -1, FailedAt: 150, ByLauncher: true}}, 0, 2},
		"failed, then ended":              {[]frame.Death{lose(0, 2, 7), {PE: 2, Status: syscall.WaitStatus(15), Reason: boot.EndOwn, Peer: -1, FailedAt: 3, ByLauncher: true}}, 2, -1},
		"an error because of the end":     {[]frame.Death{lose(0, 2, 7), fail(1, 150)}, 0, 2},
		"all disagree":                    {[]frame.Death{{PE: 1, Status: exited, Reason: boot.EndMismatch, FailedAt: 3}, fail(2, 4)}, 2, -1},
	}
	for name, tt := range tests {
		j := &job{tails: output.NewTails(0, 3)}
		for i, d := range tt.deaths {
			j.recordDeath(&host{}, d)
			if i == 0 {
				j.terminating, j.terminatedAt = true, ended
			}
		}
		if o, lost := j.rootCause(j.tails); o.PE != tt.pe || lost != tt.lost {
			t.Errorf("%s: PE %d, lost %d; want PE %d, lost %d", name, o.PE, lost, tt.pe, tt.lost)
		}
	}
}

// Of PEs that have failed for the same reason one prints it, and the launcher reports that one.
func TestWithOutput(t *testing.T) {
	for _, why := range []boot.EndReason{boot.EndOwn, boot.EndMismatch} {
		j, h := &job{tails: output.NewTails(0, 3)}, &host{}
		for pe, at := range []int64{4, 5, 6} {
			j.recordDeath(h, frame.Death{PE: pe, Status: 1 << 8, Reason: why, Peer: -1, FailedAt: at})
		}
		j.tails.Add(1, []byte("pgas: PE 1 on a: the heap is full\n"))
		if o, _ := j.rootCause(j.tails); o.PE != 1 {
			t.Errorf("reason %d: PE %d is named, which has printed nothing", why, o.PE)
		}
	}
}

// The clocks of two hosts differ by much more than deaths do.
func TestClockOffset(t *testing.T) {
	j := &job{tails: output.NewTails(0, 2)}
	a, b := &host{}, &host{}
	a.updateClockOffset(1000, 5010)
	b.updateClockOffset(9_000_000, 5007)
	a.updateClockOffset(2000, 6900) // held up
	b.updateClockOffset(9_000_500, 5502)
	j.recordDeath(b, frame.Death{PE: 1, Status: 9, Peer: -1, FailedAt: 9_001_100})
	j.recordDeath(a, frame.Death{PE: 0, Status: 9, Peer: -1, FailedAt: 2090})
	if o, _ := j.rootCause(j.tails); o.PE != 0 {
		t.Errorf("PE %d, which failed 1 after PE 0", o.PE)
	}
}

func TestRanges(t *testing.T) {
	for want, n := range map[string][]int{"": nil, "4": {4}, "0-3,5,7-8": {0, 1, 2, 3, 5, 7, 8}} {
		if got := Ranges(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

func TestRoundAge(t *testing.T) {
	for want, d := range map[string]time.Duration{"2m3s": 123456 * time.Millisecond, "1.2s": 1234 * time.Millisecond, "12.3ms": 12345 * time.Microsecond} {
		if got := roundAge(d).String(); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// TestTraceOfStrangePiece: nothing that a piece of a trace says of itself leads outside of the job.
func TestTraceOfStrangePiece(t *testing.T) {
	var got []PETrace
	j := &job{npes: 4, spec: Spec{Trace: func(p PETrace) { got = append(got, p) }}}
	h := &host{Host: boot.Host{First: 2, PEs: 2}, index: 1}
	send := func(p PETrace) {
		var piece bytes.Buffer
		if err := (frame.NewSender(&piece)).SendValue(frame.FromTrace, p); err != nil {
			t.Fatal(err)
		}
		_, data, err := frame.Read(bufio.NewReader(&piece))
		if err != nil {
			t.Fatal(err)
		}
		passTrace(&j.spec, j.npes, h, data)
	}
	send(PETrace{Trace: record.Trace{PE: 1}}) // of another host
	send(PETrace{Trace: record.Trace{PE: 4}})
	send(PETrace{Trace: record.Trace{PE: 3, Host: 77, Events: []record.Event{{Kind: record.Wait, Peer: 4}, {Kind: record.NumEvents}, {Kind: record.Note, Peer: 1}}},
		Counts: &record.Counts{PE: 9, Peers: []record.Traffic{{Peer: -1}, {Peer: 3}, {Peer: 4}}}})
	if len(got) != 1 || got[0].PE != 3 || got[0].Host != 1 || len(got[0].Events) != 1 || got[0].Counts.PE != 3 || len(got[0].Counts.Peers) != 1 {
		t.Errorf("%+v", got)
	}
}
