package agent

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// TestLiveIsBounded: an answer has some peers of a PE one by one, those with most bytes, and loses none of the rest.
func TestLiveIsBounded(t *testing.T) {
	var peers []record.Traffic
	var bytes uint64
	for i := range 1000 {
		tr := record.Traffic{Peer: i, Waited: 1}
		tr.Ops[record.Get], tr.Bytes[record.Get] = 2, uint64(i*7%1000)
		bytes += tr.Total()
		peers = append(peers, tr)
	}
	most, rest := mostBytes(peers, 10)
	sum, least, last := rest.Total(), uint64(1)<<62, -1
	for _, tr := range most {
		sum += tr.Total()
		least = min(least, tr.Total())
		if tr.Peer <= last {
			t.Errorf("PE %d comes after PE %d", tr.Peer, last)
		}
		last = tr.Peer
	}
	if len(most) != 10 || least != 990 || sum != bytes || rest.Operations() != 2*990 || rest.Waited != 990 || rest.Peer != -1 {
		t.Errorf("%+v\nand %+v: %d bytes of %d", most, rest, sum, bytes)
	}
	if all, rest := mostBytes(peers[:3], 3); len(all) != 3 || rest.Total() != 0 {
		t.Errorf("of three: %+v and %+v", all, rest)
	}
}

// TestUsage: the CPU time of this process is some, and that of none is not.
func TestUsage(t *testing.T) {
	for used := new(unix.Rusage); used.Utime.Nano()+used.Stime.Nano() < (3 * clockTick).Nanoseconds(); {
		if err := unix.Getrusage(unix.RUSAGE_SELF, used); err != nil {
			t.Fatal(err)
		}
	}
	cpu, memory := usage(os.Getpid())
	if cpu == 0 || memory < 1<<20 {
		t.Errorf("this process has used %v and %d bytes", cpu, memory)
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if cpu, memory := usage(pid); cpu != 0 || memory != 0 {
			t.Errorf("process %d has used %v and %d bytes", pid, cpu, memory)
		}
	}
}
