//go:build cgo

package engine

// RMA is how gets and large puts go.
type RMA int

// The ways. They are in the order of rma_choice in engine.h.
const (
	Auto   RMA = iota // as UCX does them where it lists hardware lanes for them, otherwise as AM
	AM                // by active messages
	Native            // as UCX does them, by hardware or not, and small puts too
)

// Strided describes a strided transfer: Count blocks of BlockBytes bytes each, whose starts are LocalStride bytes apart
// in this process and RemoteStride bytes in the heap of the target.
type Strided struct{ BlockBytes, Count, LocalStride, RemoteStride int }
