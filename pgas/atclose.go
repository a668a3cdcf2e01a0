package pgas

// AtClose, by which a library above pgas ends with the World that it uses.

// AtClose makes w call f once, when it closes or is given up. Functions run last first, one at a time, on the goroutine
// that ends w, and all of them run even if one fails.
//
// Close runs them after the requests under way have completed and before it waits for other PEs: w, its contexts and
// its transport still work then, and what f issues is complete when Close returns. After a failure, and in Abandon,
// they run before the transport is closed; other PEs may be gone then, so f must not wait for them without an end.
// Close and Abandon return the error of f if they have none of their own before it.
//
// forget withdraws f, and reports whether it did: false means that f runs or has run. AtClose panics with *UsageError
// if w is nil or f is nil. On a World that is closed already f never runs.
func (w *World) AtClose(f func() error) (forget func() bool) {
	w.mustBeOpen("World.AtClose")
	if f == nil {
		misuse("World.AtClose", "the function is nil")
	}
	return w.closers.add(&closer{f})
}
