package dsm

// The words of a block, and how a reader gets a copy.
//
// Versions of a block are numbered by a logical time, strictly increasing: they are made one after another, by the PE
// whose turn it is (turn.go). Each version has a lease: no later version has a number up to its rts.
//
//	version[b] of PE p   rts               pub[b] of p is the newest version; a reader may raise rts (FetchMax)
//	                     closed | rts      it is, until the release under way ends; it gives no more leases
//	                     moved | q         PE q has made a newer one
//	lock[b] of PE p      unlocked          p may change the block, and is not changing it
//	                     locked            p changes it, or waits for its turn
//	                     link + q          q has asked p for the turn, or p would ask q (a probable owner)
//	grant[b] of PE p     1 + q             q gives p the turn, and the newest version is q's
//	hint[b]              1 + q             on PE b mod n only: q was the home a while ago; 0: PE b mod n
//
// Zero is the beginning: the home of block b is PE b mod n, and every PE has a valid copy of zeros.
//
// A fetch takes no lock and waits for no program: the PE that holds the turn is a Go program that may be stopped by its
// collector, which waits for a goroutine in a page fault. So a reader follows the words that it finds.

import (
	"github.com/gopgas/gopgas/pgas"
)

const (
	closed = uint64(1) << 62
	moved  = uint64(1) << 63

	unlocked = 0
	locked   = 1
	link     = 2
)

// hintAfter is the number of hops after which a reader asks where the home was last.
const hintAfter = 2

// words are the words of all blocks.
type words struct {
	version, lock, grant, hint pgas.AtomicSlice[uint64]
	versionAt, hintAt          uint64 // offsets in the symmetric heap
}

func (r *Region) pubOf(b, n int32) pgas.Slice[byte] {
	return r.pub.Range(int(b)*r.o.Block, (int(b)+int(n))*r.o.Block)
}

// A fetch is a copy under way.
type fetch struct {
	copyInfo
	b       int32
	hops    int
	fast    bool   // a notice has told where the version is, and its lease is good
	version uint64 // the version word as the lease found it
	from    uint64 // hint word
	lease   uint64
	// installed says that the copy has become valid: no fence has come between.
	installed bool
}

// bring makes valid copies of those blocks of lo to hi-1 that this PE does not have. It panics with *pgas.PeerError if
// a PE that has one of them is lost.
func (r *Region) bring(lo, hi int32) {
	defer r.shown.clear(shownFetch)
	for missing := r.missing(lo, hi); len(missing) > 0; {
		var refused []*fetch
		for len(missing) > 0 {
			n := min(len(missing), maxFetches)
			r.shown.set(shownFetch, missing[0].b, missing[0].home)
			r.protocol.fetch(missing[:n])
			refused = append(refused, r.refused(missing[:n])...)
			missing = missing[n:]
		}
		if missing = refused; r.o.Protocol != Uncached { // whose copies are there, but never valid
			missing = r.missing(lo, hi)
		}
	}
}

// refused returns fetches of the blocks of list that have not become copies, because a fence has come between.
func (r *Region) refused(list []*fetch) (again []*fetch) {
	for _, f := range list {
		if !f.installed {
			again = append(again, &fetch{copyInfo: r.cache.known(f.b), b: f.b})
		}
	}
	return again
}

// maxFetches bounds the memory of fetches under way.
const maxFetches = 512

// missing returns the blocks of lo to hi-1 without a copy. Untouched blocks become valid.
func (r *Region) missing(lo, hi int32) (list []*fetch) {
	for b := lo; b < hi; b++ {
		k := r.cache.known(b)
		switch {
		case k.valid:
		case k.untouched && r.protocol.zeroAtFirst():
			r.cache.zeros(b)
		default:
			list = append(list, &fetch{copyInfo: k, b: b})
		}
	}
	return list
}

// fetch fetches blocks as they are at their last writers. All messages of a step go out together.
func (p *floating) fetch(list []*fetch) {
	r := p.Region
	var known []*fetch
	for _, f := range list {
		f.fast = f.rts >= f.now
		if f.fast {
			known = append(known, f)
			r.stats.count(&r.stats.FastReads, 1)
		}
	}
	r.get(known)
	for pending := withoutFast(list); len(pending) > 0; {
		r.takeLeases(pending)
		var found, moves []*fetch
		for _, f := range pending {
			if f.version&moved != 0 {
				f.home = int32(f.version &^ moved)
				f.hops++
				r.stats.count(&r.stats.Hops, 1)
				moves = append(moves, f)
				continue
			}
			f.rts = max(f.version, f.lease)
			if f.version&closed != 0 {
				f.rts = f.version &^ closed // a closed version gives no lease: the copy is good until the next fence
			}
			found = append(found, f)
			r.stats.count(&r.stats.SlowReads, 1)
		}
		r.get(found)
		r.askHints(moves)
		pending = moves
	}
}

func withoutFast(list []*fetch) (slow []*fetch) {
	for _, f := range list {
		if !f.fast {
			slow = append(slow, f)
		}
	}
	return slow
}

// takeLeases raises the leases of versions to this PE's time plus a lease, unless the versions are closed or have
// moved.
func (r *Region) takeLeases(list []*fetch) {
	for _, f := range list {
		f.lease = f.now + r.o.Lease
		r.words.version.At(int(f.b)).FetchMaxNB(int(f.home), f.lease, &f.version)
	}
	r.mustQuiet()
}

// askHints asks where the homes were last, for blocks whose homes have moved often.
func (r *Region) askHints(list []*fetch) {
	asked := false
	for _, f := range list {
		if f.hops == hintAfter {
			r.words.hint.At(int(f.b)).FetchNB(int(f.b)%r.n, &f.from)
			asked = true
		}
	}
	if !asked {
		return
	}
	r.mustQuiet()
	for _, f := range list {
		if f.hops == hintAfter && f.from > 0 {
			f.home = int32(f.from - 1)
		}
	}
}

// mustQuiet completes this PE's operations on the region's context. If that fails it panics, as an operation does whose
// target is lost.
func (r *Region) mustQuiet() {
	if err := r.ctx.Quiet(r.waits); err != nil {
		panic(err)
	}
}
