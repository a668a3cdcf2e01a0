package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas"
)

// TestAgree: equal calls pass, different ones are reported to every PE with what each called, and the PEs stay in step.
func TestAgree(t *testing.T) {
	type options struct {
		Bytes uint64
		Name  string
	}
	long := strings.Repeat("ü", 300)
	cases := []struct {
		name  string
		call  func(ctx context.Context, w *pgas.World, odd int) error
		wants []string
	}{
		{"a value", func(ctx context.Context, w *pgas.World, odd int) error {
			return pgas.Agree(ctx, w, "lib.Open", options{uint64(7 + odd), "x"}, odd*0)
		}, []string{"PE 0,2: lib.Open({7 x}, 0)", "PE 1: lib.Open({8 x}, 0)"}},
		{"the name", func(ctx context.Context, w *pgas.World, odd int) error {
			return pgas.Agree(ctx, w, []string{"lib.Open", "lib.Close"}[odd])
		}, []string{"PE 0,2: lib.Open()", "PE 1: lib.Close()"}},
		{"the end of a long text", func(ctx context.Context, w *pgas.World, odd int) error {
			return pgas.Agree(ctx, w, "lib.Open", long, odd)
		}, []string{"PE 0,2: lib.Open(üü", "… (digest ", "; PE 1: lib.Open(üü"}},
		{"another collective", func(ctx context.Context, w *pgas.World, odd int) error {
			if odd == 0 {
				return pgas.Agree(ctx, w, "lib.Open", 1)
			}
			s, err := pgas.Alloc[int64](ctx, w, 3)
			if err == nil {
				err = s.Free(ctx)
			}
			return err
		}, []string{"PE 0,2: lib.Open(1)", "PE 1: alloc of 3 × int64"}},
	}
	onEvery(t, 3, func(ctx context.Context, w *pgas.World) error {
		for _, tt := range cases {
			if err := disagree(ctx, w, tt.call, tt.wants); err != nil {
				return fmt.Errorf("%s: %w", tt.name, err)
			}
		}
		return w.Barrier(ctx)
	})
}

// disagree makes the same call on all PEs, and then another one on PE 1, a few times.
func disagree(ctx context.Context, w *pgas.World, call func(context.Context, *pgas.World, int) error, wants []string) error {
	for range 3 {
		if err := call(ctx, w, 0); err != nil {
			return fmt.Errorf("equal calls: %w", err)
		}
		err := call(ctx, w, w.PE()%2)
		var mismatch *pgas.MismatchError
		if !errors.As(err, &mismatch) {
			return fmt.Errorf("different calls: %v", err)
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%q does not say %q", err, want)
			}
		}
	}
	return nil
}
