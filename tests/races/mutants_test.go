package races

// Planted bugs of what the race detector is shown: an edge too few for each kind of order, by which a right program is
// reported, and an edge too many, by which a wrong one is not. The rows of the page must find each. The first is always
// tried, the others with -long.

import (
	"flag"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

var long = flag.Bool("long", false, "try every planted bug")

const (
	ofStrands = "../../pgas/internal/strands/"
	inDefault = "^TestRaces$/^default$"
)

func plant(name, file string, edits ...string) mutant.Bug {
	return mutant.New(name, file, inDefault, edits...).InPrograms()
}

var mutants = []mutant.Bug{
	// An edge too few.
	plant("a quiet completes nothing", ofStrands+"channel_race.go", "\t\t\ts.ended.follow()\n\t\t\ts.past.addAll", "\t\t\ts.past.addAll"),
	plant("a fence orders nothing", ofStrands+"channel_race.go", "\t\ts.follow(&to.fenced)\n", ""),
	plant("operations on the same bytes are in no order", ofStrands+"channel_race.go", "\t\t\ts.follow(&other.ended)\n", "\t\t\t_ = other\n"),
	plant("an operation does not come after what its initiator did", ofStrands+"strand_race.go", "\ts.issued.follow()\n", ""),
	plant("a quiet of the sources completes nothing", ofStrands+"deferred_race.go", "\t\tif s != nil {\n\t\t\ts.ended.follow()\n", "\t\tif s != nil {\n"),
	plant("a wait for a source orders nothing", ofStrands+"deferred_race.go", "\t\tc.handles.clocks[handle%n].follow()\n", "\t\t_ = n\n"),
	plant("a get does not find what was put", ofStrands+"channel_race.go", "\t\tif s.remote.overlap(on) {\n\t\t\ts.ended.follow()\n\t\t}\n", ""),
	plant("a note orders nothing", "../../pgas/transport/shm/notequeue.go", "\tq.places.release(n.Stamp)\n", ""),
	plant("a request does not see its note", "../../pgas/internal/node/notequeue.go", "\tb.Ring.Seen(n.Stamp)\n\tif b.node.Races", "\tif b.node.Races"),
	plant("a signal comes before its data", ofStrands+"task_race.go", "\t\tmove(t.remote, t.local)\n\t\twrites(t.remote)\n\t\tt.update(s)\n", "\t\tt.update(s)\n\t\tmove(t.remote, t.local)\n\t\twrites(t.remote)\n"),

	// An edge too many.
	plant("an operation is complete when its call returns", ofStrands+"channel_race.go", "\ts.run(t)\n\tto.unfenced =", "\ts.run(t)\n\ts.ended.follow()\n\tto.unfenced ="),
	plant("the source of a put is read at its call", ofStrands+"channel_race.go", "\ts.run(t)\n}\n", "\ts.run(t)\n\ts.ended.follow()\n}\n"),
	plant("a fence completes", ofStrands+"channel_race.go", "\tto.fences++\n", "\tto.fences++\n\tto.fenced.follow()\n"),
	plant("a fence orders operations to all PEs", ofStrands+"channel_race.go", "to.unfenced && (pe < 0 || to == c.target(pe))", "to.unfenced"),
	plant("a quiet of one PE completes the operations to all", ofStrands+"channel_race.go", "&c.targets[i]; pe < 0 || to == c.target(pe) {\n\t\t\tto.complete()", "&c.targets[i]; true {\n\t\t\tto.complete()"),
	plant("a quiet of the sources completes puts", ofStrands+"deferred_race.go", "\t} else {\n\t\tc.followSources()\n\t}\n\treturn context.Cause(ctx)", "\t} else {\n\t\tfor i := range c.targets {\n\t\t\tc.targets[i].complete()\n\t\t}\n\t}\n\treturn context.Cause(ctx)"),
	plant("an atomic comes after earlier puts", ofStrands+"channel_race.go", "\tat := &to.atomics[t.word.Off/8%natomics]\n", "\tat := &to.puts\n"),
	plant("gets are in order", ofStrands+"target_race.go", "\tngets    = 4\n", "\tngets    = 1\n"),
	plant("puts with a signal are in order", ofStrands+"target_race.go", "\tnsignals = 4\n", "\tnsignals = 1\n"),
	plant("sources are read in order", ofStrands+"target_race.go", "const nsources = 2", "const nsources = 1"),
	plant("a PE sees all notes that have arrived", "../../pgas/transport/shm/notequeue.go", "\tq.next++\n\treturn true\n", "\tq.next++\n\tq.Seen(n.Stamp)\n\treturn true\n"),
	plant("a collective orders all its members", "../../pgas/internal/coll/races.go", "\tif vector.Detected {", "\tif false {"),
}

//ci:weekly
func TestMutants(t *testing.T) { mutant.Plant(t, mutants, *long) }
