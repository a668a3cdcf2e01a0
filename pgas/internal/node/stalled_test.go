package node

import (
	"reflect"
	"runtime"
	"sync"
	"testing"
)

// TestInWait: the functions in which goroutines wait are known by the names that stacks show, and others are not.
func TestInWait(t *testing.T) {
	for _, test := range []struct {
		function any
		want     bool
	}{
		{(*Node).SleepUntil, true},
		{(*Node).AwaitClosed, true},
		{(*sync.WaitGroup).Wait, true},
		{(*sync.Mutex).Lock, true},
		{(*sync.RWMutex).Lock, true},
		{(*sync.RWMutex).RLock, true},
		{(*sync.Cond).Wait, true},
		{(*Node).Await, false},
		{(*sync.Once).Do, false},
	} {
		name := runtime.FuncForPC(reflect.ValueOf(test.function).Pointer()).Name()
		if got := inWait(name); got != test.want {
			t.Errorf("%s is taken for a wait: %t, want %t", name, got, test.want)
		}
	}
}
