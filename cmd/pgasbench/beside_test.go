package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBeside: the programs of -beside run until stop is called.
func TestBeside(t *testing.T) {
	before := children(t)
	stop, err := startBeside(3)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(children(t)) - len(before); n != 3 {
		t.Errorf("%d programs run, want 3", n)
	}
	stop()
	if n := len(children(t)) - len(before); n != 0 {
		t.Errorf("after stop %d programs run", n)
	}
}

// children returns the processes that this one has started.
func children(t *testing.T) map[string]bool {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(threads) == 0 {
		t.Skip("this kernel does not list the children of a process")
	}
	all := map[string]bool{}
	for _, name := range threads {
		pids, _ := os.ReadFile(name) // a thread that has just ended has none
		for _, pid := range strings.Fields(string(pids)) {
			all[pid] = true
		}
	}
	return all
}
