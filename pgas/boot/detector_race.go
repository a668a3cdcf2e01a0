//go:build race

package boot

import "runtime"

// hideSync begins atomics of this goroutine in which the race detector sees no order, until showSync. Under the race
// detector PEs are goroutines, and words that the runtime has for itself, which all of them change, would seem to order
// what the program does.
func hideSync() { runtime.RaceDisable() }

// showSync ends what hideSync has begun.
func showSync() { runtime.RaceEnable() }
