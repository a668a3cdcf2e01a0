package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The setting is off between the two calls, and afterwards what it was.
func TestWithoutAutogroups(t *testing.T) {
	file := filepath.Join(t.TempDir(), "setting")
	withoutAutogroups(file)() // there is none, and none is made
	if _, err := os.Stat(file); err == nil {
		t.Error("it has made a setting that this kernel does not have")
	}
	for _, was := range []string{"1\n", "0\n"} {
		if err := os.WriteFile(file, []byte(was), 0o600); err != nil {
			t.Fatal(err)
		}
		restore := withoutAutogroups(file)
		if got, _ := os.ReadFile(file); string(got) != "0\n" {
			t.Errorf("it was %q, and is %q meanwhile; want 0", was, got)
		}
		restore()
		if got, _ := os.ReadFile(file); string(got) != was {
			t.Errorf("it was %q, and is %q at the end", was, got)
		}
	}
}
