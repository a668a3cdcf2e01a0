//go:build !amd64

package vector

import "reflect"

// loopOf returns nil: there is no loop for this CPU.
func loopOf(Op, reflect.Kind) func(d, a, b *byte, n int) { return nil }

// canCopyPast returns false: nothing copies past the caches of this CPU.
func canCopyPast() bool { return false }

// copyPast is not called where canCopyPast is false.
func copyPast(d, s *byte, n int) {}
