package main

import (
	"fmt"
	"testing"
)

func TestIncomplete(t *testing.T) {
	for want, r := range map[string]Result{
		"<nil>": {},
		"the count is not complete: 1 file could not be read":                                            {Unreadable: 1},
		"the count is not complete: 2 files could not be read, 1 identifier had more than 8388607 bytes": {Unreadable: 2, Refused: 1},
	} {
		if got := fmt.Sprint(r.incomplete()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
