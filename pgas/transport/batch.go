package transport

// Batcher is implemented by channels that can gather small operations for longer when they are told that
// many are to come before any must be complete. It changes neither order nor completion.
type Batcher interface {
	// Batch says whether many small operations are to come.
	Batch(on bool)
}
