//go:build cgo

package engine

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestEnoughFiles: a channel has descriptors for its connections and for as many from other PEs, or none is opened.
func TestEnoughFiles(t *testing.T) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	const connections = 100
	lowest, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(lowest)
	need := lowest + workerFiles + 2*connections + sparedFiles
	for limit, enough := range map[int]bool{need: true, need - 1: false, lowest: false, need - connections: false} {
		less := syscall.Rlimit{Cur: uint64(limit), Max: was.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &less); err != nil {
			t.Fatal(err)
		}
		err := enoughFiles(connections)
		if (err == nil) != enough {
			t.Errorf("with a limit of %d: %v", limit, err)
		}
		if want := fmt.Sprintf("its limit is %d (hard: %d)", limit, was.Max); err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with a limit of %d: %v, want %s", limit, err, want)
		}
	}
}

// TestManyChannels: opening more channels than there are descriptors for returns an error, and the open
// channels go on.
func TestManyChannels(t *testing.T) {
	t.Setenv("UCX_TLS", "tcp")
	_, b, first := pair(t, false, 0)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	less := was
	less.Cur = min(was.Cur, 400)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &less); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	n := 0
	for ; ; n++ {
		c, err := first.engine.Channel(true, func(int) []byte { return b.Address() })
		if err != nil {
			if !strings.Contains(err.Error(), "its limit is 400") || !strings.Contains(err.Error(), "`ulimit -n`") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
			break
		}
		defer c.Close()
		c.Put(1, 4096, []byte("hello"))
		if err := c.Quiet(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		if n > 400 {
			t.Fatal("400 files are enough for 400 channels")
		}
	}
	if n == 0 {
		t.Error("there are no files for even one channel")
	}
	first.Put(1, 4096, []byte("hello"))
	if err := first.Quiet(t.Context(), -1); err != nil {
		t.Error(err)
	}
}
