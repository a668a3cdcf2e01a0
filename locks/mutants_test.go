package locks_test

// Planted bugs. Each is an edit of the real source, which is compiled in its place (go test -overlay) and
// must be found by the simulator: a mutant that passes means that the tests look away. The first of each
// protocol is always tried, the others with -long.

import (
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

var spinMutants = []mutant.Bug{
	mutant.New("a writer looks, and then writes", "fompi.go", "Spin",
		"l.word.CompareSwap(l.home, 0, int64(l.me)+1) == 0 }", "l.word.Fetch(l.home) == 0 && l.word.Swap(l.home, int64(l.me)+1) >= 0 }",
	),
	mutant.New("a reader goes in whatever it has found", "fompi_rw.go", "Spin",
		"if l.word.FetchAdd(l.home, 1)>>writerShift == 0 {", "if l.word.FetchAdd(l.home, 1); true {",
	),
	mutant.New("a writer that leaves forgets readers that are about to look", "fompi_rw.go", "Spin",
		"l.word.FetchAdd(l.home, -(int64(l.me)+1)<<writerShift)", "l.word.Swap(l.home, 0)",
	),
}

var dqnlMutants = []mutant.Bug{
	mutant.New("goes behind the PE that it believed to be the last", "dqnl.go", "DQNL",
		"if tail == before {", "if true {",
	),
}

var srslMutants = []mutant.Bug{
	mutant.New("readers go past a writer that has the lock", "srsl_server.go", "SRSL",
		"return s.writer < 0 && (x.mode == readerMode || s.readers == 0)", "return x.mode == readerMode || s.writer < 0 && s.readers == 0",
	),
	mutant.New("a message replaces the one before", "srsl.go", "SRSL",
		"l.inbox.At(l.w.PE()).FetchAdd(l.home, m)", "l.inbox.At(l.w.PE()).Swap(l.home, m)",
	),
	mutant.New("the server looks once", "srsl_server.go", "SRSLLeft",
		"\ts.found = set.TestSome(s.found[:0])\n", "\ts.found = nil\n",
	),
	mutant.New("the server takes all that it finds at its second look", "srsl_server.go", "SRSLLeft",
		"s.taken[pe] = s.taken[pe]&^unlocks | s.inbox.At(pe).Fetch(s.home)&unlocks", "s.taken[pe] = s.inbox.At(pe).Fetch(s.home)",
	),
	mutant.New("a PE that gives up takes any answer for the last", "srsl.go", "SRSL",
		"answer.WaitUntil(context.Background(), pgas.GE, refused)", "answer.WaitUntil(context.Background(), pgas.NE, pending)",
	),
}

var dmcsMutants = []mutant.Bug{
	mutant.New("told by a put, whether it waits or not", "dmcs_queue.go", "DMCS",
		"if q.status.CompareSwap(pe, waiting, word) == waiting {", "if q.status.Swap(pe, word); true {",
	),
	mutant.New("lost wake-up: arms its flag when it is linked", "dmcs_queue.go", "DMCSExplored/l_l",
		"if q.status.CompareSwap(pe, waiting, word) == waiting {", "if q.status.Swap(pe, word); true {",
		"\tq.mine.status.Swap(q.me, waiting)\n\tif word, ok := q.link(before); ok {", "\tword, ok := q.link(before)\n\tq.mine.status.Swap(q.me, waiting)\n\tif ok {",
	),
	mutant.New("next is cleared after the swap", "dmcs_queue.go", "DMCS",
		"\tif before == 0 {\n", "\tq.next.Swap(q.me, 0)\n\tif before == 0 {\n",
	),
	mutant.New("reversed compare-swap", "dmcs_queue.go", "DMCS",
		"q.tail.CompareSwap(q.home, int64(head)+1, 0) == int64(head)+1", "q.tail.CompareSwap(q.home, 0, int64(head)+1) == 0",
	),
	mutant.New("a turn that came at the last moment is lost", "dmcs_queue.go", "DMCS",
		"if word = q.status.CompareSwap(q.me, waiting, abandoned); word == waiting {", "if q.status.Swap(q.me, abandoned); true {",
	),
	mutant.New("spends a node whose PE has come back", "dmcs_queue.go", "DMCS",
		"if q.status.CompareSwap(pe, abandoned, spent) == abandoned {", "if q.status.Swap(pe, spent); true {",
	),
	mutant.New("a node is idle before its next is cleared", "dmcs_queue.go", "DMCS",
		"\t\tq.next.Swap(pe, 0)\n\t\tq.status.Swap(pe, idle)\n\t\treturn\n", "\t\tq.status.Swap(pe, idle)\n\t\tq.next.Swap(pe, 0)\n\t\treturn\n",
	),
	mutant.New("a node is spent after the word was left", "dmcs_queue.go", "DMCS",
		"\t\tq.nodeOf(head).status.Swap(head, spent)\n\t\tif q.next.CompareSwap(head, 0, -word) == 0 {\n", "\t\tif q.next.CompareSwap(head, 0, -word) == 0 {\n\t\t\tq.nodeOf(head).status.Swap(head, spent)\n",
	),
	mutant.New("a node that was left is not given back", "dmcs_queue.go", "DMCS",
		"\tq.free(before)\n", "",
	),
	mutant.New("the next holder does not see what was written", "mutex.go", "DMCS",
		"\tm.w.MustQuiet()\n", "",
	),
}

var rmamcsMutants = []mutant.Bug{
	mutant.New("leaves the level above by its own node (Listing 5)", "rmamcs_tree.go", "RMAMCS",
		"t.releaseAt(i-1, above, total)", "_ = above\n\t\tt.releaseAt(i-1, t.me, total)",
	),
	mutant.New("a PE that gives up keeps the queues below", "rmamcs_tree.go", "RMAMCS",
		"\t\tif err != nil {\n\t\t\tt.descend(i + 1)\n", "\t\tif err != nil {\n",
	),
	mutant.New("the lock stays in an element", "rmamcs_tree.go", "Bounds",
		"g.count < t.tl[i] &&", "",
	),
}

var rmarwMutants = []mutant.Bug{
	mutant.New("a writer does not look for readers (Listing 6)", "rmarw_counter.go", "RMARW",
		"modeOf(at) == wanted && readersIn(at) == 0 {", "modeOf(at) == wanted {",
	),
	mutant.New("T_W is compared at level 1 only (Listing 8)", "rmamcs_tree.go", "Bounds",
		"(t.tw == 0 || total < t.tw)", "(t.tw == 0 || i > 0 || g.count < t.tw)",
	),
	mutant.New("a level above counts writers as when it was told", "rmamcs_tree.go", "Bounds",
		"\tabove := g.above\n", "\tabove := g.above\n\ttotal = g.total\n",
	),
	mutant.New("a reader does not look again", "rmarw_counter.go", "RMARW",
		"if c.admits(c.state.Fetch(c.home())) && c.tryShare() {", "if false {",
	),
	mutant.New("waiting readers are let in before the counter is given back", "rmarw_counter.go", "RMARW",
		"\tc.ensureScratch() // another writer may have claimed them\n", "\tc.ensureScratch()\n\tc.admit()\n",
		"\tc.w.Fence() // a reader that sets its bit after its home's are read finds the counter open\n\tc.admit()\n", "\tc.w.MustQuiet()\n",
	),
	mutant.New("a counter is opened and its bits are read in any order", "rmarw_counter.go", "RMARW",
		"\tc.w.Fence() // a reader that sets its bit after its home's are read finds the counter open\n", "",
	),
	mutant.New("a counter with tickets is not taken", "rmarw_counter.go", "RMARW",
		"\t\tif v.found[i] == v.seen[i] {\n\t\t\tv.missing[i] = false\n", "\t\tif v.found[i] != v.seen[i] {\n\t\t\tv.missing[i] = true\n",
	),
	mutant.New("hands over though another has come", "rmarw_counter.go", "RMARW",
		"return c.state.CompareSwap(home, s, taken<<modeShift) == s", "c.state.Swap(home, taken<<modeShift)\n\treturn true",
	),
	mutant.New("a writer that gives up does not wait for what is handed to it", "rmarw_counter.go", "RMARW",
		"if handed > 0 {", "if handed > 1<<20 {",
	),
	mutant.New("a writer that gives up lets in no reader", "rmarw_counter.go", "RMARWTickets",
		"\t\t\tc.state.FetchAdd(p.home, -taken<<modeShift)\n\t\t}\n\t}\n\tc.admit()\n", "\t\t\tc.state.FetchAdd(p.home, -taken<<modeShift)\n\t\t}\n\t}\n",
	),
	mutant.New("a writer that gives up leaves the tickets", "rmarw_counter.go", "RMARWTickets",
		"c.state.CompareSwap(home, s, readersIn(s)) == s", "c.state.CompareSwap(home, s, s-wanted<<modeShift) == s",
	),
	mutant.New("a writer that takes a counter leaves the tickets", "rmarw_counter.go", "RMARWTickets",
		"return c.state.CompareSwap(home, s, taken<<modeShift) == s", "return c.state.CompareSwap(home, s, s+(taken-wanted)<<modeShift) == s",
	),
	mutant.New("one reader more than T_R", "rmarw_counter.go", "RMARWTickets",
		"return ticketsOf(s) < c.tr", "return ticketsOf(s) <= c.tr",
	),
	mutant.New("one reader less than T_R", "rmarw_counter.go", "RMARWTickets",
		"return ticketsOf(s) < c.tr", "return ticketsOf(s) < c.tr-1",
	),
}

//ci:weekly
func TestSpinMutants(t *testing.T) { plant(t, spinMutants) }

//ci:weekly
func TestDMCSMutants(t *testing.T) { plant(t, dmcsMutants) }

//ci:weekly
func TestDQNLMutants(t *testing.T) { plant(t, dqnlMutants) }

//ci:weekly
func TestSRSLMutants(t *testing.T) { plant(t, srslMutants) }

//ci:weekly
func TestRMAMCSMutants(t *testing.T) { plant(t, rmamcsMutants) }

//ci:weekly
func TestRMARWMutants(t *testing.T) { plant(t, rmarwMutants) }

//ci:weekly
func TestALockMutants(t *testing.T) { plant(t, alockMutants) }

//ci:weekly
func TestNCoSEDMutants(t *testing.T) { plant(t, nCoSEDMutants) }

// plant tries the bugs of one protocol.
func plant(t *testing.T, bugs []mutant.Bug) {
	bugs = slices.Clone(bugs)
	for i := range bugs {
		bugs[i].Run = "^Test" + finders(bugs[i].Run)
	}
	mutant.Plant(t, bugs, *long, "-long")
}

// finders returns the simulator's tests of a protocol.
func finders(of string) string {
	if strings.Contains(of, "/") || of == "Bounds" || of == "RMARWTickets" || of == "ALockSecondGo" || of == "SRSLLeft" {
		return of
	}
	return of + "Adversaries"
}
