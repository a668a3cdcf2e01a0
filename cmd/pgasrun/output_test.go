package main

import (
	"os"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// TestOutputsFull: a file that cannot be written is an error that names it, and the others are whole.
func TestOutputsFull(t *testing.T) {
	dir := t.TempDir()
	hosts := []boot.Host{{Name: "a", PEs: 2}, {Name: "b", First: 2, PEs: 9}}
	o := &outputs{dir: dir, host: everyHost}
	if err := o.open(&launch.Spec{Hosts: hosts}); err != nil {
		t.Fatal(err)
	}
	for _, pe := range []int{1, 7} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		o.pes[pe].f.Close()
		o.pes[pe].f = full
	}
	for pe := range o.pes {
		o.piece(pe, launch.Stdout, []byte("one"))
		o.piece(pe, launch.Stderr, []byte("two\n"))
	}
	err := o.close()
	want := dir + "/pe.01.out lacks what PE 1 has printed: no space left on device; so do those of 1 other"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if text, err := os.ReadFile(dir + "/pe.10.out"); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
	o.piece(0, launch.Stdout, []byte("late")) // of a host whose output is stuck
	if err := o.close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}
