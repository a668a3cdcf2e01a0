package checked_test

// Planted bugs of what a World that checks knows: each must be found by the tests of the package. The first is always
// tried, the others with -long.

import (
	"flag"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

var long = flag.Bool("long", false, "try every planted bug")

var mutants = []mutant.Bug{
	mutant.New("what orders two updates of a signal does not count", "signals.go", "^TestSignals$",
		"\tif s.learned.Load() == epoch+1 {\n\t\treturn \"\"\n\t}\n", ""),
	mutant.New("what was learned before a barrier counts", "signals.go", "^TestSignals$",
		"s.learned.Load() == epoch+1", "s.learned.Load() != 0"),
	mutant.New("barriers do not order updates of a signal", "signals.go", "^TestSignals$",
		"words[0].Load() != epoch+1 ||", "words[0].Load() == 0 ||", "words[0].Load() == epoch+1\n", "true\n"),
	mutant.New("two sets of a signal are a mix", "signals.go", "^TestSignals$",
		"words[1].Load() != u.off || words[2].Load() != u.word()", "words[1].Load() != u.off || words[2].Load()>>1 != u.word()>>1"),
	mutant.New("all signals are one", "signals.go", "^TestSignals$", "words[1].Load() != u.off || ", ""),
	mutant.New("a PE's own updates are another's", "signals.go", "^TestSignals$", "\t\tif i == s.me {\n\t\t\tcontinue\n\t\t}\n", ""),
	mutant.New("the notes of an earlier job count", "signals.go", "^TestSignals$", "\t\ts.boards[s.me][i].Store(0)\n", "\t\t_ = i\n"),
	mutant.New("the oldest note stays", "signals.go", "^TestSignalsForget$", "\ts.notes++\n", "\ts.notes = min(s.notes+1, boardNotes-1)\n"),
	mutant.New("a quiet of one PE completes what is under way to others", "domain.go", "^TestOnto$", "(pe < 0 || t.pe == pe) && ", ""),
	mutant.New("a quiet completes what was issued while it waited", "domain.go", "^TestOnto$", " && i.number <= last", " && i.number <= d.last"),
	mutant.New("memory of the runtime is watched", "domain.go", "^TestOnto$", "\tif b == nil {\n\t\treturn // memory of the runtime\n\t}\n", "\tif b == nil {\n\t\tb = uint64(2)\n\t}\n"),
	mutant.New("a private context is that of its last goroutine", "domain.go", "^TestUse$", "if d.owner == 0 {", "if d.owner != me {"),
	mutant.New("a serialized context stays taken", "domain.go", "^TestUse$", "\t\td.inside = nil\n", ""),
	mutant.New("two goroutines may be in a serialized context", "domain.go", "^TestUse$", "\tif other != nil {\n", "\tif false {\n"),
	mutant.New("one unlock frees the lock of all readers", "locks.go", "^TestLocks$", "h.n = max(h.n+n, 0)", "h.n = max(n, 0)"),
	mutant.New("an unlock of nothing counts", "locks.go", "^TestLocks$", "h.n > 0 {\n\t\t\treturn", "h.n >= 0 {\n\t\t\treturn"),
	mutant.New("a lock at the end of the memory is in it", "locks.go", "^TestLocks$", "off < hi", "off <= hi"),
	mutant.New("only the destination of a collective is under way", "requests.go", "^TestRequests$", "(q.on[0] == key || q.on[1] == key)", "q.on[0] == key"),
	mutant.New("a collective is under way for ever", "requests.go", "^TestRequests$", " && !q.over() }", " }"),
	mutant.New("collectives that are over are kept", "requests.go", "^TestRequests$",
		"slices.DeleteFunc(r.list, func(q request) bool { return q.over() })", "slices.Clone(r.list)"),
}

//ci:weekly
func TestMutants(t *testing.T) { mutant.Plant(t, mutants, *long) }
