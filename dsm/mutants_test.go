package dsm_test

// Planted bugs of the protocol. Each is an edit of the source, which is compiled in its place (go test -overlay) and
// must be found by the random programs or the explored litmus programs. The first is always tried, the others with
// -long.

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

const (
	byPrograms    = "^TestRandom$"
	byExploration = "^TestLitmusExplored$"
)

var bugs = []mutant.Bug{
	mutant.New("a notice does not invalidate", "internal/protocol/acquire.go", byPrograms, "int(n.PE) != s.Me && n.WTS > s.Cache.Known(n.Block).RTS", "int(n.PE) != s.Me && n.WTS > Closed"),
	mutant.New("no twin", "soft.go", byPrograms, "\t\ts.twins.store(b, s.copyOf(b))\n\t\tif !i.inDirty", "\t\tif !i.inDirty"),
	mutant.New("any lease is trusted", "internal/protocol/fetch.go", byPrograms, "f.Fast = f.RTS >= f.Now", "f.Fast = true"),
	mutant.New("moved versions are not followed", "internal/protocol/fetch.go", byPrograms, "if f.Version&Moved != 0 {", "if f.Version&Moved != 0 && f.hops > 1<<30 {"),
	mutant.New("a closed version gets a lease", "internal/protocol/fetch.go", byExploration, "f.RTS = f.Version &^ Closed // a", "f.RTS = f.Lease // a"),
	mutant.New("own bytes are lost at a fetch", "soft.go", byPrograms, "\t\ts.keepOwn(b, data)\n", "\t\tcopy(s.copyOf(b), data)\n"),
	mutant.New("leases go on while a version is made", "internal/protocol/release.go", byPrograms, "FetchOrNB(int(t.Prev), Closed, &t.RTS)", "FetchOrNB(int(t.Prev), 0, &t.RTS)"),
	mutant.New("the whole block is merged", "soft.go", byPrograms, "if own[i] == twin[i] {\n\t\t\town[i] = latest[i]", "if own[i] == twin[i] && false {\n\t\t\town[i] = latest[i]"),
	mutant.New("numbers of versions ignore leases", "internal/protocol/release.go", byPrograms, "t.WTS = max(t.RTS+1, s.Now)\n\t\tfirst", "t.WTS = s.Now + 1\n\t\tfirst"),
	mutant.New("the turn is given away before the last home is told", "internal/protocol/release.go", byExploration, "\tp.tellPrevious(list)\n\ts.Give(list)\n", "\ts.Give(list)\n\tp.tellPrevious(list)\n"),
	mutant.New("the last home is not told", "internal/protocol/release.go", byPrograms, "\tp.tellPrevious(list)\n\ts.Give(list)\n", "\ts.Give(list)\n"),
	mutant.New("dropped notices are forgotten", "internal/protocol/notice.go", byPrograms, "\ts.Min = max(s.Min, s.List[s.limit].WTS)\n", ""),
	mutant.New("acquired notices are not passed on", "internal/protocol/acquire.go", byPrograms, "\t\ts.Notices.Add(n)\n", ""),
	mutant.New("the least time is ignored", "internal/protocol/acquire.go", byPrograms, "\ts.Now = max(s.Now, told.Min)\n", ""),
	mutant.New("a release publishes without a notice", "internal/protocol/release.go", byPrograms, "\t\ts.Notices.Add(Notice{t.Block, int32(s.Me), t.WTS})\n", ""),
	mutant.New("a release waits for one turn while another has come", "internal/protocol/turn.go", "^TestCrossedReleases$", "if len(queued) == 1 {", "if len(queued) > 0 {"),
	mutant.New("a lock's notices are left after it is released", "mutex.go", byPrograms, "\tif err := m.leave(); err != nil {\n\t\tpanic(err)\n\t}\n\tm.lock.Unlock()\n", "\tm.lock.Unlock()\n\tif err := m.leave(); err != nil {\n\t\tpanic(err)\n\t}\n"),
	mutant.New("a home renews the lease of a version that has moved", "internal/protocol/acquire.go", byPrograms, "old[i]&(Closed|Moved) == 0", "old[i]&Closed == 0"),
	mutant.New("FixedHome: a copy is kept though another PE has released", "internal/baseline/fixed.go", byPrograms, "if t.Full || p.fetched.get(t.Block) == before[i] {", "if p.fetched.get(t.Block) <= before[i] {"),
	mutant.New("Directory: a reader fetches before it is in the bitmap", "internal/baseline/directory.go", byPrograms, "p.sharers.At(i).FetchOrNB(int(f.Home), bit, &f.Version)\n\t}\n\th.MustQuiet()\n\th.Counters.SlowReads.Add(uint64(len(list)))\n\th.Get(list)\n", "p.sharers.At(i).FetchNB(int(f.Home), &f.Version)\n\t\t_ = bit\n\t}\n\th.MustQuiet()\n\th.Counters.SlowReads.Add(uint64(len(list)))\n\th.Get(list)\n\tfor _, f := range list {\n\t\ti, bit := h.mine(f.Block)\n\t\tp.sharers.At(i).Or(int(f.Home), bit)\n\t}\n\th.MustQuiet()\n"),
	mutant.New("Classified: the first writer tells no reader", "internal/baseline/classified.go", byPrograms, "\t\th.tell(p.shared, b, readers[k*n:(k+1)*n])\n", ""),
}

//ci:weekly
func TestMutants(t *testing.T) { mutant.Plant(t, bugs, *long, "-seeds=40") }
