package agent

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
)

func TestCPUSets(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		pes  int
		want [][]int
	}{
		{[]int{0, 1}, 2, [][]int{{0}, {1}}},
		// which no machine has: by their numbers
		{[]int{1 << 14, 1<<14 + 1, 1 << 15}, 2, [][]int{{1 << 14}, {1<<14 + 1, 1 << 15}}},
		{[]int{0, 1}, 1, nil}, // it may use all of them anyway
		{[]int{0, 1}, 3, nil}, // more PEs than CPUs
		{nil, 2, nil},
	} {
		if got := cpuSets(c.cpus, c.pes); !reflect.DeepEqual(got, c.want) {
			t.Errorf("shares(%v, %d) = %v, want %v", c.cpus, c.pes, got, c.want)
		}
	}
}

// TestStartBound: the thread is bound while start runs, and as before afterwards.
func TestStartBound(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := boot.AllowedCPUs()
	if len(before) < 2 {
		t.Skip("one CPU: nothing to bind to")
	}
	last := before[len(before)-1:]
	var during []int
	if err := startBound(last, func() error { during = boot.AllowedCPUs(); return nil }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(during, last) || !reflect.DeepEqual(boot.AllowedCPUs(), before) {
		t.Fatalf("during %v, after %v; want %v, %v", during, boot.AllowedCPUs(), last, before)
	}
}
