//go:build !race

package boot

// HideSync does nothing: there is no race detector to hide from.
func HideSync() {}

// ShowSync ends what HideSync has begun.
func ShowSync() {}
