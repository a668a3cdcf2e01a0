//go:build race

package boot

import "runtime"

// HideSync begins atomics of this goroutine in which the race detector sees no order, up to ShowSync. Under the race
// detector PEs are goroutines. Words of the runtime's own, which all of them change, would seem to order the program's accesses, which
// then would not be reported. The words' updates are still atomic.
func HideSync() { runtime.RaceDisable() }

// ShowSync ends what HideSync has begun.
func ShowSync() { runtime.RaceEnable() }
