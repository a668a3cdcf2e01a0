//go:build cgo && linux

package pager

// Planted bugs of the pager, in C. Tests of this package must find each. The first is always tried, the others with
// -long.

import (
	"testing"

	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
)

const (
	byFences  = "^Test(AcquireHidesOld|OwnWritesStay|FetchIntoDirty|ReleaseMissesNone)$"
	byOrder   = "^Test(ReleaseDuringFetch|FaultDuringAcquire|InstallAfterFence)$"
	byKernels = "^Test(KernelsAgree|ByteLoop)$"
	byKeep    = "^TestKeep(Dirty)?$"
	byStress  = "^TestStress$"
	bySignals = "^TestFaultsOfC$"
)

var bugs = []mutant.Bug{
	mutant.New("no fetch looks whether a fence came between", "block.c", byOrder,
		"return p->blk[b].generation + __atomic_load_n(&p->fences, __ATOMIC_SEQ_CST) == generation;", "return 1;"),
	mutant.New("a release does not tell a fetch under way", "fence.c", byOrder,
		"    x->generation++;\n    x->home = home;\n    x->rts = rts;\n    block_validate(p, b);", "    x->home = home;\n    x->rts = rts;\n    block_validate(p, b);"),
	mutant.New("an acquire does not tell a fetch under way", "fence.c", byOrder,
		"    __atomic_add_fetch(&p->fences, 1, __ATOMIC_SEQ_CST);\n    __atomic_store_n(&p->closing", "    __atomic_store_n(&p->closing"),
	mutant.New("a page fault takes a copy from before a fence", "fault.c", byOrder,
		"if (block_take(p, b, generation, p->tmp, home, rts))\n            return SERVED;", "block_take(p, b, x->generation + p->fences, p->tmp, home, rts);\n        return SERVED;"),
	mutant.New("a release compares blocks that the program may write", "fence.c", byFences,
		"    protect_all(p, list, n);\n", "    (void)protect_all;\n"),
	mutant.New("a fetch merges into a block that the program may write", "block.c", byFences,
		"        map_protect(p, b, 1);\n        x->flags &= ~(uint32_t)WRITABLE;\n        merge_fetch", "        merge_fetch"),
	mutant.New("a merge into a block that the program may write", "fence.c", byFences,
		"    block_lock(x);\n    block_hold_back(p, b);\n    if (x->flags & WHOLE) {\n        range", "    block_lock(x);\n    if (x->flags & WHOLE) {\n        range"),
	mutant.New("an acquire leaves stale copies mapped", "fence.c", byFences,
		"    in_spans(p, list, gone, 0, map_drop);\n", "    (void)gone;\n"),
	mutant.New("copies outlive their leases", "fence.c", byFences,
		": x->rts < now)\n", ": 0)\n"),
	mutant.New("any lease is trusted", "fetch.c", byStress,
		"if (*rts >= now) {", "if (*rts > 0) {"),
	mutant.New("a home renews the lease of a version that has moved", "fetch.c", byStress,
		"version & (CLOSED | MOVED))\n        return;", "version & CLOSED)\n        return;\n    version &= ~MOVED;"),
	mutant.New("a block that is dirty and unchanged leaves the list", "fence.c", byFences,
		"        if (x->flags & DIRTY)\n            attach(p, &p->dirty, b, IN_DIRTY);\n", ""),
	mutant.New("moved versions are not followed", "fetch.c", byStress,
		"if (!(version & MOVED))\n            break;", "if (hops == 0)\n            break;"),
	mutant.New("no twin", "block.c", byStress,
		"    memcpy(twin_of(p, b), copy_of(p, b), p->c.block);\n    x->flags |= DIRTY;", "    x->flags |= DIRTY;"),
	mutant.New("own bytes are lost at a fetch", "block.c", byFences,
		"merge_fetch(KERNEL_BEST, copy_of(p, b), twin_of(p, b), data, p->c.block);", "memcpy(copy_of(p, b), data, p->c.block);"),
	mutant.New("the mask of a word's own bytes misses their high bits", "merge.c", byKernels,
		"return (high >> 7) * 0xff;", "return (high >> 7) * 0x7f;"),
	mutant.New("vectors: a fetch keeps the bytes that are not own", "merge.c", byKernels,
		"_mm256_blendv_epi8(mine, new, _mm256_cmpeq_epi8(mine, was))", "_mm256_blendv_epi8(new, mine, _mm256_cmpeq_epi8(mine, was))"),
	mutant.New("vectors: the range ends before the last own byte", "merge.c", byKernels,
		"i + 31 - __builtin_clz(changed)", "i + 30 - __builtin_clz(changed)"),
	mutant.New("words: a release leaves the twin", "merge.c", byKernels,
		"                store(twin + i, load(latest + i));\n", ""),
	mutant.New("a dirty block is evicted", "evict.c", byKeep,
		"(DIRTY | PINNED | POISONED)", "(PINNED | POISONED)"),
	mutant.New("a pinned block is evicted", "evict.c", byKeep,
		"(DIRTY | PINNED | POISONED)", "(DIRTY | POISONED)"),
	mutant.New("an evicted block is zeros again", "evict.c", byKeep,
		"        x->flags |= TOUCHED; // it", "        x->flags &= ~(uint32_t)TOUCHED; // it"),
	mutant.New("the ring of pages is never full", "evict.c", byKeep,
		"if (p->ring.n > p->c.keep) {", "if (p->ring.n > p->c.blocks) {"),
	mutant.New("a page fault changes errno", "signal.c", bySignals,
		"    errno = saved;\n", "    errno = saved + 1;\n"),
	mutant.New("the loss of a home is not published", "fault.c", "^TestLostHome$",
		"        __atomic_store_n(&p->lost, home + 1, __ATOMIC_RELEASE);\n", "        (void)p->lost;\n"),
}

//ci:weekly
func TestMutants(t *testing.T) { mutant.Plant(t, bugs, *long, "-long") }
