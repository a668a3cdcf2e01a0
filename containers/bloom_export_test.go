package containers

// BloomSize returns the bits for each key of a filter with a rate of false positives, and the bits of a key.
func BloomSize(rate float64) (perKey float64, ofKey int) {
	blocks, each := bloomSize(rate)
	return 512 * blocks, 2 * each
}
