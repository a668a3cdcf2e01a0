package main

// Text of any length in pages of a symmetric heap, at byte offsets.

import "github.com/gopgas/gopgas/pgas"

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
