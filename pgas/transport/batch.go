package transport

// Batcher is implemented by channels that can gather small operations for longer when the caller announces
// that many are to come before any must be complete. That changes neither order nor completion.
type Batcher interface {
	// Batch announces that many small operations are to come, or takes that back.
	Batch(on bool)
}
