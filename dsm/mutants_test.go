package dsm_test

// Planted bugs of the protocol. Each is an edit of the source, which is compiled in its place (go test -overlay) and must
// be found by the random programs or the explored litmus programs. The first is always tried, the others with -long.

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

const (
	byPrograms    = "^TestRandom$"
	byExploration = "^TestLitmusExplored$"
)

var bugs = []mutant.Bug{
	mutant.New("a notice does not invalidate", "acquire.go", byPrograms, "int(n.pe) != r.me && n.wts > r.cache.known(n.b).rts", "int(n.pe) != r.me && n.wts > closed"),
	mutant.New("no twin", "soft.go", byPrograms, "\t\ts.storeTwin(b, s.copyOf(b))\n\t\tif !i.inDirty", "\t\tif !i.inDirty"),
	mutant.New("any lease is trusted", "version.go", byPrograms, "f.fast = f.rts >= f.now", "f.fast = true"),
	mutant.New("moved versions are not followed", "version.go", byPrograms, "if f.version&moved != 0 {", "if f.version&moved != 0 && f.hops > 1<<30 {"),
	mutant.New("a closed version gets a lease", "version.go", byExploration, "f.rts = f.version &^ closed // a", "f.rts = f.lease // a"),
	mutant.New("own bytes are lost at a fetch", "soft.go", byPrograms, "\t\ts.keepOwn(b, data)\n", "\t\tcopy(s.copyOf(b), data)\n"),
	mutant.New("leases go on while a version is made", "release.go", byPrograms, "FetchOrNB(int(t.prev), closed, &t.rts)", "FetchOrNB(int(t.prev), 0, &t.rts)"),
	mutant.New("the whole block is merged", "soft.go", byPrograms, "if own[i] == twin[i] {\n\t\t\town[i] = latest[i]", "if own[i] == twin[i] && false {\n\t\t\town[i] = latest[i]"),
	mutant.New("numbers of versions ignore leases", "release.go", byPrograms, "t.wts = max(t.rts+1, r.now)\n\t\tfirst", "t.wts = r.now + 1\n\t\tfirst"),
	mutant.New("the turn is given away before the last home is told", "release.go", byExploration, "\tp.tellPrevious(list)\n\tr.give(list)\n", "\tr.give(list)\n\tp.tellPrevious(list)\n"),
	mutant.New("the last home is not told", "release.go", byPrograms, "\tp.tellPrevious(list)\n\tr.give(list)\n", "\tr.give(list)\n"),
	mutant.New("dropped notices are forgotten", "notice.go", byPrograms, "\ts.min = max(s.min, s.list[s.limit].wts)\n", ""),
	mutant.New("acquired notices are not passed on", "acquire.go", byPrograms, "\t\tr.notices.add(n)\n", ""),
	mutant.New("the least time is ignored", "acquire.go", byPrograms, "\tr.now = max(r.now, s.min)\n", ""),
	mutant.New("a release publishes without a notice", "release.go", byPrograms, "\t\tr.notices.add(notice{t.b, int32(r.me), t.wts})\n", ""),
	mutant.New("a release waits for one turn while another has come", "turn.go", "^TestCrossedReleases$", "if len(queued) == 1 {", "if len(queued) > 0 {"),
	mutant.New("a lock's notices are left after it is released", "mutex.go", byPrograms, "\tif err := m.leave(); err != nil {\n\t\tpanic(err)\n\t}\n\tm.lock.Unlock()\n", "\tm.lock.Unlock()\n\tif err := m.leave(); err != nil {\n\t\tpanic(err)\n\t}\n"),
	mutant.New("a home renews the lease of a version that has moved", "acquire.go", byPrograms, "old[i]&(closed|moved) == 0", "old[i]&closed == 0"),
	mutant.New("FixedHome: a copy is kept though another PE has released", "fixed.go", byPrograms, "if t.full || p.fetched.get(t.b) == before[i] {", "if p.fetched.get(t.b) <= before[i] {"),
	mutant.New("Directory: a reader fetches before it is in the bitmap", "directory.go", byPrograms, "p.sharers.At(i).FetchOrNB(int(f.home), bit, &f.version)\n\t}\n\tr.mustQuiet()\n\tr.stats.count(&r.stats.SlowReads, uint64(len(list)))\n\tr.get(list)\n", "p.sharers.At(i).FetchNB(int(f.home), &f.version)\n\t\t_ = bit\n\t}\n\tr.mustQuiet()\n\tr.stats.count(&r.stats.SlowReads, uint64(len(list)))\n\tr.get(list)\n\tfor _, f := range list {\n\t\ti, bit := r.mine(f.b)\n\t\tp.sharers.At(i).Or(int(f.home), bit)\n\t}\n\tr.mustQuiet()\n"),
	mutant.New("Classified: the first writer tells no reader", "classified.go", byPrograms, "\t\tr.tell(p.shared, b, readers[k*n:(k+1)*n])\n", ""),
}

func TestMutants(t *testing.T) { mutant.Plant(t, bugs, *long, "-seeds=40") }
