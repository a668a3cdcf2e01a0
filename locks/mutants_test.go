package locks_test

// Planted bugs. Each is an edit of the real source, which is compiled in its place (go test -overlay) and
// must be found by the simulator: a mutant that passes means that the tests look away. The first of each
// protocol is always tried, the others with -long.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

type mutant struct {
	name, file string
	edits      []string // old, new, old, new, …; each old is there once
	tests      string   // that find it
}

var spinMutants = []mutant{
	{"a writer looks, and then writes", "fompi.go", []string{
		"l.word.CompareSwap(l.home, 0, int64(l.me)+1) == 0 }", "l.word.Fetch(l.home) == 0 && l.word.Swap(l.home, int64(l.me)+1) >= 0 }",
	}, "Spin"},
	{"a reader goes in whatever it has found", "fompi_rw.go", []string{
		"if l.word.FetchAdd(l.home, 1)>>writerShift == 0 {", "if l.word.FetchAdd(l.home, 1); true {",
	}, "Spin"},
	{"a writer that leaves forgets readers that are about to look", "fompi_rw.go", []string{
		"l.word.FetchAdd(l.home, -(int64(l.me)+1)<<writerShift)", "l.word.Swap(l.home, 0)",
	}, "Spin"},
}

var dqnlMutants = []mutant{
	{"goes behind the PE that it believed to be the last", "dqnl.go", []string{
		"if tail == before {", "if true {",
	}, "DQNL"},
}

var srslMutants = []mutant{
	{"readers go past a writer that has the lock", "srsl_server.go", []string{
		"return s.writer < 0 && (x.mode == readerMode || s.readers == 0)", "return x.mode == readerMode || s.writer < 0 && s.readers == 0",
	}, "SRSL"},
	{"a message replaces the one before", "srsl.go", []string{
		"l.inbox.At(l.w.PE()).FetchAdd(l.home, m)", "l.inbox.At(l.w.PE()).Swap(l.home, m)",
	}, "SRSL"},
	{"the server looks once", "srsl_server.go", []string{
		"\ts.found = set.TestSome(s.found[:0])\n", "\ts.found = nil\n",
	}, "SRSLLeft"},
	{"the server takes all that it finds at its second look", "srsl_server.go", []string{
		"s.taken[pe] = s.taken[pe]&^unlocks | s.inbox.At(pe).Fetch(s.home)&unlocks", "s.taken[pe] = s.inbox.At(pe).Fetch(s.home)",
	}, "SRSLLeft"},
	{"a PE that gives up takes any answer for the last", "srsl.go", []string{
		"answer.WaitUntil(context.Background(), pgas.GE, refused)", "answer.WaitUntil(context.Background(), pgas.NE, pending)",
	}, "SRSL"},
}

var dmcsMutants = []mutant{
	{"told by a put, whether it waits or not", "dmcs_queue.go", []string{
		"if q.status.CompareSwap(pe, waiting, word) == waiting {", "if q.status.Swap(pe, word); true {",
	}, "DMCS"},
	{"lost wake-up: arms its flag when it is linked", "dmcs_queue.go", []string{
		"if q.status.CompareSwap(pe, waiting, word) == waiting {", "if q.status.Swap(pe, word); true {",
		"\tq.mine.status.Swap(q.me, waiting)\n\tif word, ok := q.link(int(before - 1)); ok {", "\tword, ok := q.link(int(before - 1))\n\tq.mine.status.Swap(q.me, waiting)\n\tif ok {",
	}, "DMCSExplored/l_l"},
	{"next is cleared after the swap", "dmcs_queue.go", []string{
		"\tif before == 0 {\n", "\tq.next.Swap(q.me, 0)\n\tif before == 0 {\n",
	}, "DMCS"},
	{"reversed compare-swap", "dmcs_queue.go", []string{
		"q.tail.CompareSwap(q.home, int64(head)+1, 0) == int64(head)+1", "q.tail.CompareSwap(q.home, 0, int64(head)+1) == 0",
	}, "DMCS"},
	{"a turn that came at the last moment is lost", "dmcs_queue.go", []string{
		"if word = q.status.CompareSwap(q.me, waiting, abandoned); word == waiting {", "if q.status.Swap(q.me, abandoned); true {",
	}, "DMCS"},
	{"spends a node whose PE has come back", "dmcs_queue.go", []string{
		"if q.status.CompareSwap(pe, abandoned, spent) == abandoned {", "if q.status.Swap(pe, spent); true {",
	}, "DMCS"},
	{"a node is idle before its next is cleared", "dmcs_queue.go", []string{
		"\t\tq.next.Swap(pe, 0)\n\t\tq.status.Swap(pe, idle)\n\t\treturn\n", "\t\tq.status.Swap(pe, idle)\n\t\tq.next.Swap(pe, 0)\n\t\treturn\n",
	}, "DMCS"},
	{"a node is spent after the word was left", "dmcs_queue.go", []string{
		"\t\tq.nodeOf(head).status.Swap(head, spent)\n\t\tif q.next.CompareSwap(head, 0, -word) == 0 {\n", "\t\tif q.next.CompareSwap(head, 0, -word) == 0 {\n\t\t\tq.nodeOf(head).status.Swap(head, spent)\n",
	}, "DMCS"},
	{"a node that was left is not given back", "dmcs_queue.go", []string{
		"\tq.free(before)\n", "",
	}, "DMCS"},
	{"the next holder does not see what was written", "mutex.go", []string{
		"\tmustQuiet(m.w)\n", "",
	}, "DMCS"},
}

var rmamcsMutants = []mutant{
	{"leaves the level above by its own node (Listing 5)", "rmamcs_tree.go", []string{
		"t.releaseAt(i-1, above, total)", "_ = above\n\t\tt.releaseAt(i-1, t.me, total)",
	}, "RMAMCS"},
	{"a PE that gives up keeps the queues below", "rmamcs_tree.go", []string{
		"\t\tif err != nil {\n\t\t\tt.descend(i + 1)\n", "\t\tif err != nil {\n",
	}, "RMAMCS"},
	{"the lock stays in an element", "rmamcs_tree.go", []string{
		"g.count < t.tl[i] &&", "",
	}, "Bounds"},
}

var rmarwMutants = []mutant{
	{"a writer does not look for readers (Listing 6)", "rmarw_counter.go", []string{
		"if readersIn(v.seen[i]) == 0 {", "if true {",
	}, "RMARW"},
	{"T_W is compared at level 1 only (Listing 8)", "rmamcs_tree.go", []string{
		"(t.tw == 0 || total < t.tw)", "(t.tw == 0 || i > 0 || g.count < t.tw)",
	}, "Bounds"},
	{"a level above counts writers as when it was told", "rmamcs_tree.go", []string{
		"\tabove := g.above\n", "\tabove := g.above\n\ttotal = g.total\n",
	}, "Bounds"},
	{"a reader does not look again", "rmarw_counter.go", []string{
		"if c.admits(c.state.Fetch(c.home())) && c.tryShare() {", "if false {",
	}, "RMARW"},
	{"waiting readers are let in before the counter is given back", "rmarw_counter.go", []string{
		"\tc.ensureScratch() // another writer may have claimed them\n", "\tc.ensureScratch()\n\tc.admit()\n",
		"\tmustQuiet(c.w)\n\tc.admit()\n}\n\n// admit lets in", "\tmustQuiet(c.w)\n}\n\n// admit lets in",
	}, "RMARW"},
	{"hands over though another has come", "rmarw_counter.go", []string{
		"return c.state.CompareSwap(home, s, taken<<modeShift) == s", "c.state.Swap(home, taken<<modeShift)\n\treturn true",
	}, "RMARW"},
	{"a writer that gives up does not wait for what is handed to it", "rmarw_counter.go", []string{
		"if handed > 0 {", "if handed > 1<<20 {",
	}, "RMARW"},
	{"a writer that gives up lets in no reader", "rmarw_counter.go", []string{
		"\t\t\tc.state.FetchAdd(p.home, -taken<<modeShift)\n\t\t}\n\t}\n\tc.admit()\n", "\t\t\tc.state.FetchAdd(p.home, -taken<<modeShift)\n\t\t}\n\t}\n",
	}, "RMARWTickets"},
	{"a writer that gives up leaves the tickets", "rmarw_counter.go", []string{
		"c.state.CompareSwap(home, s, readersIn(s)) == s", "c.state.CompareSwap(home, s, s-wanted<<modeShift) == s",
	}, "RMARWTickets"},
	{"a writer that takes a counter leaves the tickets", "rmarw_counter.go", []string{
		"return c.state.CompareSwap(home, s, taken<<modeShift) == s", "return c.state.CompareSwap(home, s, s+(taken-wanted)<<modeShift) == s",
	}, "RMARWTickets"},
	{"one reader more than T_R", "rmarw_counter.go", []string{
		"return ticketsOf(s) < c.tr", "return ticketsOf(s) <= c.tr",
	}, "RMARWTickets"},
	{"one reader less than T_R", "rmarw_counter.go", []string{
		"return ticketsOf(s) < c.tr", "return ticketsOf(s) < c.tr-1",
	}, "RMARWTickets"},
}

func TestSpinMutants(t *testing.T)   { plant(t, spinMutants) }
func TestDMCSMutants(t *testing.T)   { plant(t, dmcsMutants) }
func TestDQNLMutants(t *testing.T)   { plant(t, dqnlMutants) }
func TestSRSLMutants(t *testing.T)   { plant(t, srslMutants) }
func TestRMAMCSMutants(t *testing.T) { plant(t, rmamcsMutants) }
func TestRMARWMutants(t *testing.T)  { plant(t, rmarwMutants) }
func TestALockMutants(t *testing.T)  { plant(t, alockMutants) }
func TestNCoSEDMutants(t *testing.T) { plant(t, nCoSEDMutants) }

// plant tries the bugs of one protocol. All of them must follow the source, whether they are tried or not.
func plant(t *testing.T, mutants []mutant) {
	if testing.Short() {
		t.Skip("compiles the package for each mutant")
	}
	for i, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			text := m.text(t)
			if i > 0 {
				needsLong(t)
			}
			m.mustBeFound(t, text)
		})
	}
}

// text returns the source with the bug in it.
func (m mutant) text(t *testing.T) string {
	src, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for i := 0; i < len(m.edits); i += 2 {
		if n := strings.Count(text, m.edits[i]); n != 1 {
			t.Fatalf("%s has %q %d times: the mutant must follow the source", m.file, m.edits[i], n)
		}
		text = strings.Replace(text, m.edits[i], m.edits[i+1], 1)
	}
	return text
}

func (m mutant) mustBeFound(t *testing.T, text string) {
	dir := t.TempDir()
	bad, overlay := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json")
	real, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {real: bad}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{bad: []byte(text), overlay: list} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := hang.Context(t.Context()) // a bug may hang
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "test", "-vet=off", "-overlay", overlay, "-failfast", "-timeout=0", "-run", "^Test"+finders(m.tests), ".", "-long").CombinedOutput()
	switch {
	case err == nil:
		t.Fatalf("nothing has found it:\n%s", out)
	case !strings.Contains(string(out), "--- FAIL"):
		t.Fatalf("it was not found but did not build or run:\n%s", out)
	}
	found := ""
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			found, _, _ = strings.Cut(name, " ") // the innermost test comes last
		}
	}
	t.Logf("caught by %s", found)
}

// finders returns the simulator's tests of a protocol.
func finders(of string) string {
	if strings.Contains(of, "/") || of == "Bounds" || of == "RMARWTickets" || of == "ALockSecondGo" || of == "SRSLLeft" {
		return of
	}
	return of + "Adversaries"
}
