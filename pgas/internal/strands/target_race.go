//go:build race && (amd64 || arm64)

package strands

// How many strands a target has for atomics, for puts with a signal, and for gets that do not wait.
const (
	natomics = 4
	nsignals = 4
	ngets    = 4
)

// nsources is how many strands a channel has for sources.
const nsources = 2

// maxStrands is how many strands a target can have.
const maxStrands = 3 + natomics + nsignals + ngets

// A target is the strands of a channel for one PE, or for some PEs in a job of many, and the order between them.
type target struct {
	puts, notes *strand
	atomics     [natomics]*strand
	signals     [nsignals]*strand
	gets        [ngets]*strand
	order       *strand // follows the others at a fence

	fenced   clock  // operations before the last fence
	fences   uint64 // how many fences there were
	unfenced bool   // there were operations since the last fence that a fence orders
	next     int    // the strand of signals, or of gets, that is shared next
}

// strands returns all strands of t. Those that have not begun are nil.
//
//go:norace
func (t *target) strands() [maxStrands]*strand {
	all := [maxStrands]*strand{t.puts, t.notes, t.order}
	n := 3
	for _, kind := range [...][]*strand{t.atomics[:], t.signals[:], t.gets[:]} {
		for _, s := range kind {
			all[n] = s
			n++
		}
	}
	return all
}

// isGet reports whether s is one of the strands of gets.
//
//go:norace
func (t *target) isGet(s *strand) bool {
	for _, g := range t.gets {
		if g == s {
			return true
		}
	}
	return false
}

// forSignal returns the index of the strand of signals for an operation on these bytes: one that has been on them, or
// an unused one.
//
//go:norace
func (t *target) forSignal(on, also span) int {
	if i := t.signalOn(on); i >= 0 {
		return i
	}
	if i := t.signalOn(also); i >= 0 {
		return i
	}
	for i, s := range t.signals {
		if s == nil || s.remote.none() {
			return i
		}
	}
	t.next++
	return t.next % nsignals
}

// signalOn returns the index of a strand of signals that has been on these bytes, or -1.
//
//go:norace
func (t *target) signalOn(on span) int {
	for i, s := range t.signals {
		if s != nil && s.remote.overlap(on) {
			return i
		}
	}
	return -1
}

// forGet returns the index of the strand of gets for a get into these addresses: one that fills others.
//
//go:norace
func (t *target) forGet(into span) int {
	for i, s := range t.gets {
		if s == nil || !s.local.overlap(into) {
			return i
		}
	}
	t.next++
	return t.next % ngets
}
