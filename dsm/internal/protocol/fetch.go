package protocol

// How a reader gets a copy.
//
// A fetch takes no lock and waits for no program: the PE that holds the turn is a Go program that may be stopped by its
// collector, which waits for a goroutine in a page fault. So a reader follows the words that it finds.

// hintAfter is the number of hops after which a reader asks where the home was last.
const hintAfter = 2

// Bring makes valid copies of those blocks of lo to hi-1 that this PE does not have. It panics with *pgas.PeerError if
// a PE that has one of them is lost.
func (s *State) Bring(lo, hi int32) {
	defer s.shown.clear(shownFetch)
	for missing := s.missing(lo, hi); len(missing) > 0; {
		var refused []*Fetch
		for len(missing) > 0 {
			n := min(len(missing), maxFetches)
			s.shown.set(shownFetch, missing[0].Block, missing[0].Home)
			s.Protocol.Fetch(missing[:n])
			refused = append(refused, s.refused(missing[:n])...)
			missing = missing[n:]
		}
		if missing = refused; !s.Traits.Transient {
			missing = s.missing(lo, hi)
		}
	}
}

// refused returns fetches of the blocks of list that have not become copies, because a fence has come between.
func (s *State) refused(list []*Fetch) (again []*Fetch) {
	for _, f := range list {
		if !f.Installed {
			again = append(again, &Fetch{CopyInfo: s.Cache.Known(f.Block), Block: f.Block})
		}
	}
	return again
}

// maxFetches bounds the memory of fetches under way.
const maxFetches = 512

// missing returns the blocks of lo to hi-1 without a copy. Untouched blocks become valid.
func (s *State) missing(lo, hi int32) (list []*Fetch) {
	for b := lo; b < hi; b++ {
		k := s.Cache.Known(b)
		switch {
		case k.Valid:
		case k.Untouched && !s.Traits.AsksFirst:
			s.Cache.Zeros(b)
		default:
			list = append(list, &Fetch{CopyInfo: k, Block: b})
		}
	}
	return list
}

// Fetch fetches blocks as they are at their last writers. All messages of a step go out together.
func (p *Floating) Fetch(list []*Fetch) {
	s := p.State
	var known []*Fetch
	for _, f := range list {
		f.Fast = f.RTS >= f.Now
		if f.Fast {
			known = append(known, f)
			s.Counters.FastReads.Add(1)
		}
	}
	s.Get(known)
	for pending := withoutFast(list); len(pending) > 0; {
		s.TakeLeases(pending)
		var found, moves []*Fetch
		for _, f := range pending {
			if f.Version&Moved != 0 {
				f.Home = int32(f.Version &^ Moved)
				f.hops++
				s.Counters.Hops.Add(1)
				moves = append(moves, f)
				continue
			}
			f.RTS = max(f.Version, f.Lease)
			if f.Version&Closed != 0 {
				f.RTS = f.Version &^ Closed // a closed version gives no lease: the copy is good until the next fence
			}
			found = append(found, f)
			s.Counters.SlowReads.Add(1)
		}
		s.Get(found)
		s.askHints(moves)
		pending = moves
	}
}

func withoutFast(list []*Fetch) (slow []*Fetch) {
	for _, f := range list {
		if !f.Fast {
			slow = append(slow, f)
		}
	}
	return slow
}

// TakeLeases raises the leases of versions to this PE's time plus a lease, unless the versions are closed or have
// moved.
func (s *State) TakeLeases(list []*Fetch) {
	for _, f := range list {
		f.Lease = f.Now + s.Lease
		s.Words.Version.At(int(f.Block)).FetchMaxNB(int(f.Home), f.Lease, &f.Version)
	}
	s.MustQuiet()
}

// askHints asks where the homes were last, for blocks whose homes have moved often.
func (s *State) askHints(list []*Fetch) {
	asked := false
	for _, f := range list {
		if f.hops == hintAfter {
			s.Words.Hint.At(int(f.Block)).FetchNB(int(f.Block)%s.N, &f.From)
			asked = true
		}
	}
	if !asked {
		return
	}
	s.MustQuiet()
	for _, f := range list {
		if f.hops == hintAfter && f.From > 0 {
			f.Home = int32(f.From - 1)
		}
	}
}
