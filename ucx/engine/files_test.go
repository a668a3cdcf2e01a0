//go:build cgo

package engine

import (
	"strings"
	"syscall"
	"testing"
)

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
			if !strings.Contains(err.Error(), "`ulimit -n`") || strings.Contains(err.Error(), "\n") {
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
