package ui

import (
	"fmt"
	"testing"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// made returns what is known of a job of n PEs on some hosts after some time: all of them compute.
func made(n, hosts int, elapsed time.Duration) launch.Snapshot {
	s := launch.Snapshot{Elapsed: elapsed}
	for h := range hosts {
		s.Hosts = append(s.Hosts, launch.HostState{Name: fmt.Sprint("host", h), First: h * n / hosts, PEs: n / hosts, State: "running"})
	}
	for i := range n {
		s.PEs = append(s.PEs, launch.PEState{PE: i, Host: i * hosts / n, Known: true, For: -1, CPU: elapsed, Memory: 1 << 20})
	}
	return s
}

// block blocks a PE for a long time.
func block(s *launch.Snapshot, pe int, op boot.BlockedOp, seq uint64, of int, site string) {
	p := &s.PEs[pe]
	p.Op, p.In, p.Seq, p.For, p.Site, p.Time = op, op.String(), seq, of, site, 5*time.Second
}

// move has a PE have put bytes to another.
func move(s *launch.Snapshot, pe, peer int, ops, bytes uint64) {
	t := record.Traffic{Peer: peer}
	t.Ops[record.Put], t.Bytes[record.Put] = ops, bytes
	s.PEs[pe].Peers = append(s.PEs[pe].Peers, t)
}

// pageOf returns a page that has seen snapshots.
func pageOf(t *testing.T, all ...launch.Snapshot) *Page {
	t.Helper()
	p := New(Job{Program: "/opt/app", Args: []string{"-x", "a b"}, PEs: len(all[0].PEs)})
	for _, s := range all {
		p.now = func() launch.Snapshot { return s }
		p.look()
	}
	return p
}

// explained returns why PEs wait in the last of two snapshots, between which PEs that compute use their CPUs.
func explained(s launch.Snapshot) Explanation {
	h := newHistory(len(s.PEs))
	before := s
	before.Elapsed -= time.Second
	before.PEs = append([]launch.PEState(nil), s.PEs...)
	for i := range before.PEs {
		if before.PEs[i].CPU > time.Second {
			before.PEs[i].CPU -= time.Second
		}
	}
	for _, x := range []launch.Snapshot{{Hosts: s.Hosts, PEs: made(len(s.PEs), len(s.Hosts), 0).PEs}, before, s} {
		h.add(x)
	}
	return h.explain(s)
}
