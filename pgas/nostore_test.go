package pgas_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// TestNoStoreQuietCompletes: the quiet of a context without stores completes all that its other
// operations do, those that fetch and those that do not.
func TestNoStoreQuietCompletes(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error {
		const n = 300
		s, err := pgas.Alloc[int64](ctx, w, 4*n+1)
		if err != nil {
			return err
		}
		c, err := w.NewContext(pgas.NoStore())
		if err != nil {
			return err
		}
		other, word := 1-w.PE(), pgas.AtomicOf(s, 4*n)
		mem := s.On(c)
		src, got, column := make([]int64, n), make([]int64, n), make([]int64, n)
		for round := range int64(10) {
			for i := range src {
				src[i] = round*n + int64(i)
			}
			var old int64
			mem.Range(n, 4*n).GetNB(other, got)
			word.On(c).FetchAddNB(other, 1, &old)
			mem.Range(0, n).PutNB(other, src)
			mem.Range(2*n, 4*n).IPut(other, src, 2, 1, n)
			word.On(c).Add(other, 1)
			if err := c.Quiet(ctx); err != nil {
				return err
			}
			s.Range(0, n).Get(other, got) // on a context that knows nothing of it
			s.Range(2*n, 4*n).IGet(other, column, 1, 2, n)
			for i := range src {
				if got[i] != src[i] || column[i] != src[i] {
					return fmt.Errorf("round %d: element %d is %d (%d strided), want %d", round, i, got[i], column[i], src[i])
				}
			}
			if sum := word.Fetch(other); old != 2*round || sum != 2*round+2 {
				return fmt.Errorf("round %d: the word was %d and is %d", round, old, sum)
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		return c.Close()
	}
	onEvery(t, 2, body)
	pgastest.RunLate(t, 2, 2, body)
}
