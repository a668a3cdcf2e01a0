//go:build !race

package boot

// hideSync does nothing: there is no race detector to hide from.
func hideSync() {}

// showSync ends what hideSync has begun.
func showSync() {}
