package main

import (
	"fmt"
	"testing"
)

func TestCompare(t *testing.T) {
	want := map[string]int64{"a": 1, "b": 2, "c": 3}
	for _, c := range []struct {
		name          string
		table         []frequency
		agree, differ int
	}{
		{"same", []frequency{{"c", 3}, {"a", 1}, {"b", 2}}, 3, 0},
		{"lost", []frequency{{"a", 1}, {"b", 2}}, 2, 1},
		{"empty", nil, 0, 3},
		{"invented", []frequency{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 1}}, 3, 1},
		{"wrong", []frequency{{"a", 1}, {"b", 1}, {"c", 3}}, 2, 1},
		{"twice", []frequency{{"a", 1}, {"a", 1}, {"b", 2}, {"c", 3}}, 3, 1},
	} {
		v := compare(c.table, want)
		if v.Agree != c.agree || v.Differ != c.differ || (v.err() == nil) != (c.differ == 0) || len(v.Sample) != c.differ {
			t.Errorf("%s: %+v, error %v; want %d to agree, %d to differ", c.name, v, v.err(), c.agree, c.differ)
		}
	}
}

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
