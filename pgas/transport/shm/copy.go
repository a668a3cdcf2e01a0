package shm

// PiecewiseBytes is the size from which Copy differs from Go's copy.
const PiecewiseBytes = 2 * pieceBytes

const (
	pieceBytes = 512 << 10
	streamFrom = 16 << 20
)

// Copy copies src to dst, which is as long. Go's copy bypasses the caches from 1 MiB on. Between 1 MiB and the size
// of the caches, a reader of dst is faster if it was copied in pieces, which stay in them (1 MiB: 1.7 times as fast).
func Copy(dst, src []byte) {
	if len(src) < PiecewiseBytes || len(src) >= streamFrom {
		copy(dst, src)
		return
	}
	for len(src) > 0 {
		n := copy(dst, src[:min(pieceBytes, len(src))])
		dst, src = dst[n:], src[n:]
	}
}
