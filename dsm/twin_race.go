//go:build race

package dsm

// copyForGets is copy to memory that other PEs may get meanwhile. Such a get reads bytes that its PE has no right to,
// or that do not change. The race detector, which knows nothing of rights, does not see these stores; it would see
// those of the built-in copy.
//
//go:norace
//go:noinline
func copyForGets(to, from []byte) {
	for i, v := range from {
		to[i] = v
	}
}
