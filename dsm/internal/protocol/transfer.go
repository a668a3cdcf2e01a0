package protocol

// How the bytes of blocks come from their homes, after the protocol has found them. Neighbouring blocks of one home are
// one message. What is long comes in pieces: one is on its way while the one before it is installed, and the buffers
// of both stay in a processor's cache.

// pieceBytes is the length of a piece, of whole blocks: long enough that its round trip takes little beside it.
const pieceBytes = 1 << 20

// Get fetches blocks from their homes and installs them, after their leases have been taken: a version that is fetched
// before could get the lease of a later one.
func (s *State) Get(list []*Fetch) {
	list = s.getMapped(list)
	if len(list) == 0 {
		return
	}
	piece := min(len(list), max(1, pieceBytes/s.Block))
	buffers := [2]*[]byte{s.scratch.take(piece * s.Block), s.scratch.take(piece * s.Block)}
	next := func(i int) []*Fetch { return list[min(i*piece, len(list)):min((i+1)*piece, len(list))] }
	s.issueGets(next(0), *buffers[0])
	for i := 0; len(next(i)) > 0; i++ {
		s.MustQuiet()
		if more := next(i + 1); len(more) > 0 {
			s.issueGets(more, *buffers[(i+1)%2])
		}
		here := *buffers[i%2]
		for k, f := range next(i) {
			f.Installed = s.Cache.Install(f.Block, f.Generation, here[k*s.Block:(k+1)*s.Block], f.Home, f.RTS)
		}
	}
	for _, b := range buffers { // not if a PE is lost: what is on its way may still come
		s.scratch.give(b)
	}
}

// issueGets starts gets of list into buffer.
func (s *State) issueGets(list []*Fetch, buffer []byte) {
	size := s.Block
	s.Counters.BytesFetched.Add(uint64(len(list) * size))
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Block == list[0].Block+int32(n) && list[n].Home == list[0].Home {
			n++
		}
		s.Source.Range(int(list[0].Block)*size, (int(list[0].Block)+n)*size).GetNB(int(list[0].Home), buffer[:n*size])
		s.Counters.Gets.Add(1)
		list, buffer = list[n:], buffer[n*size:]
	}
}

// getMapped installs the blocks whose homes are on this host from the homes' memory, without a copy between, where that
// can be done. It returns the others.
func (s *State) getMapped(list []*Fetch) (rest []*Fetch) {
	if s.Near == nil {
		return list
	}
	for _, f := range list {
		from := s.Near[f.Home]
		if from == nil {
			rest = append(rest, f)
			continue
		}
		at := int(f.Block) * s.Block
		f.Installed = s.Cache.Install(f.Block, f.Generation, from[at:at+s.Block], f.Home, f.RTS)
		s.Counters.Gets.Add(1)
		s.Counters.BytesFetched.Add(uint64(s.Block))
	}
	return rest
}
