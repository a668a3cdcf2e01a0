package node

import (
	"maps"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/internal/callsite"
)

// TestWaitFunctions: the functions in which a goroutine waits have the names that stacks show.
func TestWaitFunctions(t *testing.T) {
	want := []string{
		callsite.Module + "pgas/internal/node.(*Node).AwaitClosed",
		callsite.Module + "pgas/internal/node.(*Node).SleepUntil",
		"sync.(*Cond).Wait", "sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock", "sync.(*WaitGroup).Wait",
	}
	if got := slices.Sorted(maps.Keys(waitFunctions())); !slices.Equal(got, want) {
		t.Errorf("the functions in which goroutines wait are %q, want %q", got, want)
	}
}
