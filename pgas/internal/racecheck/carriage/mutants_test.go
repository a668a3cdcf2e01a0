package carriage_test

// Planted bugs of how records travel: each must be found by the tests of the package. The first is always tried, the
// others with -long.

import (
	"flag"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

var long = flag.Bool("long", false, "try every planted bug")

var mutants = []mutant.Bug{
	mutant.New("a PE answers with what it knew before the question", "ask.go", "^TestAnswerIsLate$",
		"\t\tc.readAll() // what the askers have seen before they asked\n", ""),
	mutant.New("an operation may overtake its record", "carriage.go", "^TestNetworks$", "\t\to.via.Fence(o.to)\n", ""),
	mutant.New("records of an operation wait for more", "carriage.go", "^TestEffectThenRecord$",
		"if r.Release != 0 || uint64(len(o.messages))", "if uint64(len(o.messages))"),
	mutant.New("a full ring has room", "outbox.go", "^TestFullRings$", "o.at+n-o.head <= o.c.Ring }", "o.at+n-o.head <= 4*o.c.Ring }"),
	mutant.New("frames have no sum", "inbox.go", "^TestTornRing$",
		"sumOf(in.at, body) != binary.LittleEndian.Uint32(in.ring[from+4:])", "false"),
	mutant.New("releases into words leave no row", "carriage.go", "^TestWords$", "\t\tc.writeRow(o.via, to, r)\n", "\t\t_ = o\n"),
	mutant.New("a row forgets the releases before", "words.go", "^TestTornRow$",
		"	if !row.Add(r) {\n", "	*row = racecheck.Released{}\n	if !row.Add(r) {\n"),
	mutant.New("a row of own words is kept up no longer, and does not say so", "words.go", "^TestOwnWords$", "			if !own.asks {\n", "			if own.asks {\n"),
	mutant.New("a question has no row kept up", "ask.go", "^TestOwnWords$", "			c.keepUp(h.q.Word)\n", ""),
	mutant.New("a row that is written is read", "words.go", "^TestTornRow$", "sumOfRow(b) != binary.LittleEndian.Uint32(b[12:])", "false"),
	mutant.New("all rows that were read are kept", "words.go", "^TestRowsAreBounded$", "len(c.rows.read) >= mostRows {", "len(c.rows.read) < 0 {"),
	mutant.New("blocks may overlap", "wire.go", "^TestForgedBlocks$", "r.Stride >= max(r.Bytes, 1) && ", "r.Count <= d.heap && "),
	mutant.New("a clock may have any number of PEs", "wire.go", "^TestForgedClock$", "n > uint64(npes) {", "n > uint64(len(r.b)) {"),
	mutant.New("a fast sender keeps the reader", "inbox.go", "^TestReadEnds$", "in.at != tail && !in.torn; {", "in.at != tail && !in.torn; tail = in.tail.Load() {"),
	mutant.New("a collective of all PEs is told to its first member alone", "carriage.go", "^TestCallOfAll$",
		"int(k.Size) == npes\n", "int(k.Size) < 0*npes\n"),
}

//ci:weekly
func TestMutants(t *testing.T) { mutant.Plant(t, mutants, *long) }
