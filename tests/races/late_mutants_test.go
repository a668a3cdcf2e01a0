package races

// Planted bugs of the late network and of the simulator's adversary: something comes too early, an order too many by
// which a mistake is not found, and an order too few by which a right program fails. The first is always tried, the
// others with -long.

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

const (
	ofLate    = "../../pgas/pgastest/"
	ofNetwork = "../../pgas/sim/internal/network/"
)

// form is the test of a non-blocking form, and kind that of the mistakes whose names begin so.
func form(name string) string { return "^TestNonblocking$/^" + name + "$" }
func kind(name string) string { return "^TestMistakes$/^" + name }

var lateMutants = []mutant.Bug{
	// Too early, or not early enough.
	mutant.New("simulator: a source is read at the call", ofNetwork+"transport.go", form("Slice.PutNB"), "a == nil || !a.draw()", "a == nil || a != nil"),
	mutant.New("simulator: no source is read at the call", ofNetwork+"transport.go", form("Slice.PutNB"), "a == nil || !a.draw()", "a == nil"),
	mutant.New("simulator: nothing is held", ofNetwork+"issue.go", form("Slice.GetNB"), "case late && !a.awaited(o):", "case false:"),
	mutant.New("simulator: no get is filled at the call", ofNetwork+"issue.go", form("Slice.GetNB"), "case !late && !l.keep", "case false && !l.keep"),
	mutant.New("simulator: no result is kept", ofNetwork+"late.go", kind("`FetchAddNB`"), "\ta.kept = append(a.kept, o)\n\treturn true\n", "\treturn false\n"),
	mutant.New("simulator: gets are filled in order", ofNetwork+"late.go", kind("`GetNB`,_`GetNB`"), "range slices.Backward(slices.Clone(a.held))", "range slices.Clone(a.held)"),
	mutant.New("simulator: a wait for sources reads none", ofNetwork+"transport.go", form("Slice.PutNB"), "\t\t\t\to.readSource()\n", ""),
	mutant.New("simulator: a put is held for a moment", ofNetwork+"late.go", kind("put,_sync,_sync"), "holdTime = 32 * longestStep", "holdTime = 1"),
	mutant.New("simulator: any wait of the target lets a put arrive", ofNetwork+"late.go", kind("put,_sync"), "return o.to == p && o.changes(lo, hi) })\n}\n\n// changes", "return o.to == p })\n}\n\n// changes"),
	mutant.New("simulator: no task begins at its start", ofNetwork+"late.go", form("SumReduceNB"), "case a == nil || a.draw():", "case a == nil || a != nil:"),
	mutant.New("late: a source is read at the call", ofLate+"late.go", form("Slice.PutNB"), "\tif handle == 0 {\n\t\ts.read()", "\tif true {\n\t\ts.read()"),
	mutant.New("late: no source is read at the call", ofLate+"late_seed.go", form("Slice.PutNB"), "d != nil && (d.early || d.random.IntN(2) == 0)", "false"),
	mutant.New("late: a get is filled at the call", ofLate+"late.go", form("Slice.GetNB"), "\tc.gets = append(c.gets, f)\n", "\tf.fill()\n"),
	mutant.New("late: no result comes at the call", ofLate+"late_seed.go", form("Slice.GetNB"), "case d.early && returns:", "case false:"),
	mutant.New("late: a value is stored when the atomic is applied", ofLate+"late.go", kind("`FetchAddNB`"), "\tif c.draws.atOnce() {\n\t\treturn dst", "\tif true {\n\t\treturn dst"),
	mutant.New("late: gets are filled in order", ofLate+"late_seed.go", kind("`GetNB`,_`GetNB`"), "range slices.Backward(fills)", "range fills"),
	mutant.New("late: a wait for sources reads none", ofLate+"late.go", form("Slice.PutNB"), "\t\tif pe < 0 || s.pe == pe && s.handle == handle {\n\t\t\ts.read()\n", "\t\tif pe < 0 || s.pe == pe && s.handle == handle {\n"),
	mutant.New("late: the source of a notified put is read at the call", ofLate+"late_notify.go", form("Slice.PutNotifyNB"), "c.source(pe, handle, src)", "c.source(pe, 0, src)"),
	mutant.New("late: a goroutine begins at its start", ofLate+"late.go", form("BroadcastNB"), "\tif early {\n", "\tif true || early {\n"),
	mutant.New("late: no goroutine begins at its start", ofLate+"late.go", form("BroadcastNB"), "\tif early {\n", "\tif false && early {\n"),

	// An order too many.
	mutant.New("simulator: all operations to a PE are in order", ofNetwork+"flow.go", kind("put,_atomic_set"), "\to.epoch = f.epoch\n", "\tf.fence()\n\to.epoch = f.epoch\n"),
	mutant.New("simulator: a quiet completes the operations of all contexts", ofNetwork+"late.go", kind("put_on_another_context,_quiet"), "return o.flow.ch == c && (f == nil", "return true && (f == nil"),
	mutant.New("late: all operations to a PE are in order", ofLate+"late.go", kind("put,_atomic_set"), "op.pe == later.pe && op.epoch < later.epoch", "op.pe == later.pe"),
	mutant.New("late: a fence to one PE orders operations to all", ofLate+"late.go", kind("put,_fence_to_another_PE"), "c.epochs[max(pe, -1)]++", "c.epochs[-1]++"),
	mutant.New("late: a quiet of one PE completes the operations to all", ofLate+"late.go", kind("put,_quiet_of_another_PE"), "return op.from == c && (pe < 0 || op.pe == pe) }", "return op.from == c }"),
	mutant.New("late: a quiet completes the operations of all contexts", ofLate+"late.go", kind("put_on_another_context,_quiet"), "return op.from == c && (pe < 0 || op.pe == pe) }", "return pe < 0 || op.pe == pe }"),
	mutant.New("late: a wait for sources completes puts", ofLate+"late.go", kind("`PutNB`,_`QuietLocal`,_sync"), "\tfor _, s := range slices.Clone(c.sources) {\n\t\tif pe < 0", "\tc.deliverFrom(pe)\n\tfor _, s := range slices.Clone(c.sources) {\n\t\tif pe < 0"),

	// An order too few.
	mutant.New("simulator: a fence orders nothing", ofNetwork+"flow.go", kind("put,_atomic_set"), "o.predecessors > 0 || o.ordered() && o.epoch != f.oldestEpoch\n", "o.predecessors > 0\n"),
	mutant.New("simulator: operations on the same bytes are in no order", ofNetwork+"flow.go", "^TestRightPrograms$", "\t\t\tif a[0] < b[1] && b[0] < a[1] {\n\t\t\t\treturn true\n", "\t\t\tif a[0] < b[1] && b[0] < a[1] {\n\t\t\t\treturn false\n"),
	mutant.New("simulator: notes are in no order", ofNetwork+"flow.go", "^TestRightPrograms$", "\tif o.notifies && other.notifies {\n\t\treturn true\n", "\tif o.notifies && other.notifies {\n\t\treturn false\n"),
	mutant.New("late: a fence orders nothing", ofLate+"late.go", kind("put,_atomic_set"), "c.epochs[max(pe, -1)]++", "_ = pe"),
	mutant.New("late: a quiet completes no puts", ofLate+"late.go", kind("put,_sync,_with"), "\tc.deliverFrom(pe)\n\tfor _, f := range slices.Clone(c.gets)", "\tfor _, f := range slices.Clone(c.gets)"),
	mutant.New("late: a quiet fills no get", ofLate+"late.go", form("Slice.GetNB"), "\tc.fillGets(func(f lateFill) bool { return of(f, pe) })\n", ""),
	mutant.New("late: operations on the same bytes are in no order", ofLate+"late.go", "^TestRightPrograms$", "return op.touches(other.spans[0]) || op.touches(other.spans[1])", "return false"),
}

//ci:weekly
func TestLateMutants(t *testing.T) { mutant.Plant(t, lateMutants, *long) }
