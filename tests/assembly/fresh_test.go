package main

import (
	"bytes"
	"os"
	"testing"
)

// The files that are committed are what the command writes.
func TestFresh(t *testing.T) {
	for _, f := range files {
		for name, text := range f.texts() {
			if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s is not what tests/assembly writes (%v): run GOWORK=off go run -C tests/assembly .", name, err)
			}
		}
	}
}
