package pgas

import "math"

// What tests of waits must see, and set, to make events happen in an order.

// InVain is how many waits of w have looked in vain so far, and gone to sleep.
func InVain(w *World) int64 { return w.n.company.inVain.Load() }

// StandingBy is how many goroutines stand by because others look.
func StandingBy(w *World) int { return int(w.n.company.standing.Load()) }

// LookForEver makes waits of w that begin from now on never sleep.
func LookForEver(w *World) { w.n.pace.yields = math.MaxInt }
