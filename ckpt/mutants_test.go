package ckpt_test

// Planted bugs in what a Set saves and restores. Each is an edit of the real source, which must be found.

import (
	"flag"
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

var long = flag.Bool("long", false, "try all planted bugs")

// TestMutants tries the first, since each compiles the package; ./tests/mutants and -long try the others.
//
//ci:weekly
func TestMutants(t *testing.T) {
	mutant.Plant(t, []mutant.Bug{
		mutant.New("saves before others have come", "save.go", "^TestSaveCompletes",
			"	words, err := s.settle(ctx, \"Set.Save\")\n", "	words, err := uint64(0), error(nil)\n"),
		mutant.New("completes the default context alone", "../pgas/world.go", "^TestSaveCompletes",
			"		err = node.FirstError(err, c.complete(ctx))\n", "		_ = c\n"),
		mutant.New("does not look for notifications", "../pgas/settle.go", "^TestSaveRefuses",
			"; len(left) > 0 {", "; len(left) > 1000 {"),
		mutant.New("copies pieces that have not changed alone", "../internal/cuts/image/frame.go", "^TestRestart",
			"!bytes.Equal(f.b[at:at+n], b[:n])", "bytes.Equal(f.b[at:at+n], b[:n])"),
		mutant.New("sums no piece again", "../internal/cuts/image/frame.go", "^TestTerms",
			"			f.chunks[i] = frameChunk{}\n		}\n		at, b", "			f.chunks[i].sent = false\n		}\n		at, b"),
		mutant.New("sends no piece again", "../internal/cuts/image/frame.go", "^TestTerms",
			"			f.chunks[i] = frameChunk{}\n		}\n		at, b", "			f.chunks[i].summed = 0\n		}\n		at, b"),
		mutant.New("all cuts have the same place", "internal/memory/memory.go", "^TestTerms",
			"return int(c.Version % 2)", "return 0"),
		mutant.New("the mark of the cut before stays", "internal/memory/memory.go", "^Test(Terms|BadCutInMemory)",
			"	s.Clear()\n	f :=", "	f :="),
		mutant.New("the buddy is on the same host", "internal/memory/memory.go", "^Test(Terms|BothHostsLost)",
			"m.hosts[(h+len(m.hosts)/2)%len(m.hosts)]", "m.hosts[h]"),
		mutant.New("the buddies get no copies", "background.go", "^TestTerms",
			"return s.memory.CopyWards(ctx, cut, s.job)", "return nil"),
		mutant.New("a cut counts of which images are missing", "restore.go", "^Test(Terms|BothHostsLost)",
			"		case len(k.Lost) == 0 && !slices", "		case !slices"),
		mutant.New("images of two cuts make one", "internal/memory/memory.go", "^TestTerms",
			"		name := key{", "		x.Mark.Cut.Term = 1\n		name := key{"),
		mutant.New("what was lost is not copied again", "restore.go", "^TestTerms",
			"agreed(ctx, s.team, s.memory.MendWards(ctx, k))", "error(nil)"),
		mutant.New("a lost cut is no error", "restore.go", "^TestBothHostsLost",
			"	if len(lost) == 0 ||", "	if len(lost) >= 0 ||"),
		mutant.New("a cut that is in memory alone is not written", "restore.go", "^TestStoreFailsBesideMemory",
			"			s.writeKept(ctx, c)\n", ""),
		mutant.New("a cut of more PEs is not kept anew", "restore.go", "^TestCutOfMore",
			"	return s.save(ctx, 0)\n", "	return nil\n"),
		mutant.New("a cut of more PEs is kept anew in its own place", "restore.go", "^TestCutOfMore",
			"	return s.save(ctx, 0)\n", "	s.last.Version++\n	return s.save(ctx, 0)\n"),
		mutant.New("images of more PEs are dropped before they are read", "internal/memory/memory.go", "^TestFewerHosts",
			"		m.stale, err = m.others()\n", "		m.stale, err = m.others()\n		for _, p := range m.stale {\n			if s, err := m.slot(p); err == nil {\n				s.Clear()\n			}\n		}\n"),
		mutant.New("images of more PEs stay for ever", "internal/memory/memory.go", "^TestStaleIsFreed",
			"		_ = m.slots[p].Free()", "		m.slots[p].Close()"),
		mutant.New("images of more PEs are looked for where those of as many are", "internal/memory/copy.go", "^TestFewerHosts",
			"		p = x.kept.at[pe]\n", ""),
		mutant.New("a cut takes the place of the last safe one", "background.go", "^TestStoreFailsBesideMemory",
			"			s.last.Version++ //", "			//"),
		mutant.New("no start is counted in memory", "restore.go", "^TestBadCutInMemory",
			"			s.memory.CountStart(k.Cut)\n", ""),
		mutant.New("the next Save does not wait for the one before", "save.go", "^Test(NextSave|Restart)",
			"	if _, err := s.wait(ctx); err != nil {\n		return fmt.Errorf(\"Set.Save: %w\", err)\n	}\n	cut :=", "	cut :="),
		mutant.New("the end of the job does not wait for the last cut", "background.go", "^TestCloseWaits",
			"	if x != nil && !hook.Leaves(s.w) {", "	if x != nil {"),
		mutant.New("tells that a cut is there before it is", "background.go", "^TestNextSave",
			"	defer func() { s.done.Set(s.w.PE(), x.cut.Version) }()\n", "	s.done.Set(s.w.PE(), x.cut.Version)\n"),
		mutant.New("a PE that cannot save says so to nobody", "save.go", "^TestItemFails",
			"	if failed != nil {\n		word |= hasFailed\n", "	if failed != nil {\n		word |= 0\n"),
		mutant.New("equal sums are not told from others", "save.go", "^TestSharedDiffers",
			"return all&(all>>31)&sumBits == 0", "return true || all&(all>>31)&sumBits == 0"),
		mutant.New("each PE looks at its own clock", "save.go", "^TestSaveIfDue",
			"	if s.w.PE() == 0 && s.w.Now()", "	if s.w.Now()"),
		mutant.New("the PE that was asked stops alone", "save.go", "^TestStop",
			"	return hook.Settle(ctx, s.w, op, words)\n", "	all, err := hook.Settle(ctx, s.w, op, words&^mustStop)\n	return all | words&mustStop, err\n"),
		mutant.New("does not compare shared values", "save.go", "^TestSharedDiffers",
			"		if !sections[i].same {", "		if len(sections) > 0 {"),
		mutant.New("does not count starts", "restore.go", "^TestStarts",
			"		c.Manifest.Starts++\n", ""),
		mutant.New("counts starts that end well", "restore.go", "^TestStarts",
			"	m.Starts--\n", ""),
		mutant.New("takes the images of another job", "../internal/cuts/images.go", "^TestImageOfAnotherJob",
			"Job: s.job, PE: pe", "Job: m.Head.Job, PE: pe"),
		mutant.New("saves beside another job", "owner.go", "^TestTwoJobs",
			"o.Job != s.job", "o.Term < s.term"),
		mutant.New("a new start has the term of an older one", "owner.go", "^TestOwnerIsLost",
			"		s.term = max(s.term, c.Term+1)\n", "		s.term = max(1, c.Term)\n"),
		mutant.New("the manifest comes before the images", "background.go", "^TestStoreFails",
			"	err := s.writeImage(ctx, x.cut, b)\n",
			"	if s.w.PE() == 0 {\n		_ = (&cuts.Manifest{Format: cuts.Format, Cut: x.cut, Job: s.job, PEs: s.w.NPEs(), Program: programName(), Images: make([]cuts.File, s.w.NPEs())}).Write(ctx, s.store)\n	}\n	err := s.writeImage(ctx, x.cut, b)\n"),
		mutant.New("removes one cut too many", "../internal/cuts/old.go", "^Test(DamagedCut|Restart)",
			"all[:min(keep, len(all))]", "all[:min(keep-1, len(all))]"),
	}, *long)
}
