package main

import (
	"context"
	"io"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestWordcount counts the samples themselves, on every kind of PE; -verify compares with a sequential count.
func TestWordcount(t *testing.T) {
	for _, npes := range []int{1, 3} {
		pgastest.Run(t, npes, func(ctx context.Context, w *pgas.World) error {
			failure, err := wordcount(ctx, w, options{input: "..", capacity: 1 << 14, verify: true}, io.Discard)
			if err == nil {
				err = failure
			}
			return err
		})
	}
}

// TestWordcountFull: a map without room says which flag helps.
func TestWordcountFull(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		failure, err := wordcount(ctx, w, options{input: "..", capacity: 1}, io.Discard)
		if err != nil {
			return err
		}
		if want := "the map has no room for more identifiers: give a larger -capacity than 1"; failure == nil || failure.Error() != want {
			t.Errorf("failure %v, want %q", failure, want)
		}
		return nil
	})
}
