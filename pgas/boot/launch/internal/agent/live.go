package agent

// What PEs are doing while they run, for the launcher. An answer is bounded: of a PE in a large job it has the peers
// with most bytes, and the rest as one.

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch/internal/frame"
	"github.com/gopgas/gopgas/pgas/boot/record"
)

// mostLivePeers is how many peers of a PE an answer has one by one.
const mostLivePeers = 64

// liveState returns what a PE of this host is doing, as its row of the table says, and what it has recorded.
func liveState(host int, records *record.Memory, row frame.Blocked, p pe) frame.PEState {
	s := frame.PEState{PE: row.PE, Host: host, Known: true, Process: p.pid, For: -1}
	if end := p.ended; end != nil {
		s.Ended, s.Status, s.CPU, s.Memory = true, end.status, end.cpu, end.memory
	} else {
		s.CPU, s.Memory = p.usage()
		if row.Op != boot.NotBlocked {
			s.Op, s.In, s.For, s.Time, s.Seq = row.Op, row.Op.String(), row.Peer, time.Duration(row.ForNsec), row.Seq
			s.Team, s.Name, s.Site = row.Team, row.Name, row.Site
		}
	}
	if records != nil {
		c := records.PE(row.PE).Counts()
		s.Counters, s.Levels, s.Waits, s.Lines = c.Counters, c.Levels, c.Waits, c.Lines
		s.Peers, s.Others = mostBytes(c.Peers, mostLivePeers)
	}
	return s
}

// mostBytes returns the n peers with most bytes, in their order, and the sum of the others.
func mostBytes(peers []record.Traffic, n int) ([]record.Traffic, record.Traffic) {
	rest := record.Traffic{Peer: -1}
	if len(peers) <= n {
		return peers, rest
	}
	peers = slices.SortedFunc(slices.Values(peers), func(a, b record.Traffic) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(b.Operations(), a.Operations()), cmp.Compare(a.Peer, b.Peer))
	})
	for _, t := range peers[n:] {
		for k := range record.NumKinds {
			rest.Ops[k] += t.Ops[k]
			rest.Bytes[k] += t.Bytes[k]
		}
		rest.Waited += t.Waited
	}
	most := peers[:n:n]
	slices.SortFunc(most, func(a, b record.Traffic) int { return cmp.Compare(a.Peer, b.Peer) })
	return most, rest
}

// clockTick is the unit of times in /proc, which is the same on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// usage returns the CPU time of a process so far, and its resident memory; 0 of one that has ended.
func usage(pid int) (cpu time.Duration, memory uint64) {
	if pid <= 0 {
		return 0, 0
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// behind the name, which may have anything in it
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime, stime, rss = 11, 12, 21
	if len(fields) <= rss {
		return 0, 0
	}
	number := func(i int) uint64 { n, _ := strconv.ParseUint(fields[i], 10, 64); return n }
	return time.Duration(number(utime)+number(stime)) * clockTick, number(rss) * uint64(os.Getpagesize())
}

// usage returns the CPU time that the PE has used, and the bytes that are resident.
func (p *pe) usage() (time.Duration, uint64) {
	cpu, memory := usage(p.pid)
	return max(0, cpu-p.usedBefore()), memory
}
