//go:build !race

package pgas_test

// The race detector is right about a word that is polled with gets: only a program without it has this order.
func init() {
	orders["get"] = func(m *mixing) error {
		if m.w.PE() == 0 {
			m.data.At(5).Put(0, 1)
		}
		return polled(m, func() bool { return m.data.At(5).Get(0) == 1 || m.signal(7).Fetch() == 1 })
	}
}
