package main

// Moving text of any length between PEs: a PE offers text in pages of its own symmetric heap,
// and the PEs that want it get it.

import (
	"context"

	"github.com/gopgas/gopgas/pgas"
)

// offer makes mine readable on other PEs until the shelf is freed. It is collective.
func offer(ctx context.Context, w *pgas.World, tally TallyRef, mine string) (*shelf, error) {
	tally.OfferedRef().Put(w.PE(), int64(len(mine)))
	if err := w.Barrier(ctx); err != nil {
		return nil, err
	}
	s := &shelf{sizes: make([]int64, w.NPEs())}
	most := int64(0)
	for pe := range s.sizes {
		s.sizes[pe] = tally.OfferedRef().Get(pe)
		most = max(most, s.sizes[pe])
	}
	var err error
	if s.pages, err = AllocPage(ctx, w, pagesFor(int(most))); err != nil {
		return nil, err
	}
	putText(s.pages, w.PE(), 0, mine)
	return s, w.Barrier(ctx)
}

// A shelf holds what every PE offers.
type shelf struct {
	pages PageSym
	sizes []int64 // by PE
}

// get returns what pe offers.
func (s *shelf) get(ctx context.Context, w *pgas.World, pe int) (string, error) {
	b := make([]byte, s.sizes[pe])
	getText(s.pages, pe, 0, b)
	return string(b), w.Quiet(ctx)
}

// free frees the shelf. It is collective.
func (s *shelf) free(ctx context.Context) error { return s.pages.Free(ctx) }

// pagesFor returns the pages that n bytes need, one at least.
func pagesFor(n int) int { return max(1, (n+pageBytes-1)/pageBytes) }

// putText puts s at byte offset at of pe's pages. It is complete after a Quiet.
func putText(pages PageSym, pe int, at uint64, s string) {
	b := []byte(s)
	eachPiece(pages, at, len(b), func(piece pgas.Slice[byte], i, j int) { piece.Put(pe, b[i:j]) })
}

// getText fills b from byte offset at of pe's pages. It is complete after a Quiet.
func getText(pages PageSym, pe int, at uint64, b []byte) {
	eachPiece(pages, at, len(b), func(piece pgas.Slice[byte], i, j int) { piece.GetNB(pe, b[i:j]) })
}

// waitText does what getText does, and waits.
func waitText(pages PageSym, pe int, at uint64, b []byte) {
	eachPiece(pages, at, len(b), func(piece pgas.Slice[byte], i, j int) { piece.Get(pe, b[i:j]) })
}

// eachPiece calls f for the parts of n bytes of text at byte offset at that lie on one page each.
func eachPiece(pages PageSym, at uint64, n int, f func(piece pgas.Slice[byte], i, j int)) {
	for i := 0; i < n; {
		from := int((at + uint64(i)) % pageBytes)
		k := min(n-i, pageBytes-from)
		f(pages.At(int((at+uint64(i))/pageBytes)).Text().Range(from, from+k), i, i+k)
		i += k
	}
}
