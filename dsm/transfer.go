package dsm

// How the bytes of blocks come from their homes, after the protocol has found them. Neighbouring blocks of one home are
// one message. What is long comes in pieces: one is on its way while the one before it is installed, and the buffers
// of both stay in a processor's cache.

// pieceBytes is the length of a piece, of whole blocks: long enough that its round trip takes little beside it.
const pieceBytes = 1 << 20

// get fetches blocks from their homes and installs them, after their leases have been taken: a version that is fetched
// before could get the lease of a later one.
func (r *Region) get(list []*fetch) {
	list = r.getMapped(list)
	if len(list) == 0 {
		return
	}
	piece := min(len(list), max(1, pieceBytes/r.o.Block))
	buffers := [2]*[]byte{r.scratch.take(piece * r.o.Block), r.scratch.take(piece * r.o.Block)}
	next := func(i int) []*fetch { return list[min(i*piece, len(list)):min((i+1)*piece, len(list))] }
	r.issueGets(next(0), *buffers[0])
	for i := 0; len(next(i)) > 0; i++ {
		r.mustQuiet()
		if more := next(i + 1); len(more) > 0 {
			r.issueGets(more, *buffers[(i+1)%2])
		}
		here := *buffers[i%2]
		for k, f := range next(i) {
			f.installed = r.cache.install(f.b, f.generation, here[k*r.o.Block:(k+1)*r.o.Block], f.home, f.rts)
		}
	}
	for _, b := range buffers { // not if a PE is lost: what is on its way may still come
		r.scratch.give(b)
	}
}

// issueGets starts gets of list into buffer.
func (r *Region) issueGets(list []*fetch, buffer []byte) {
	size := r.o.Block
	r.stats.count(&r.stats.BytesFetched, uint64(len(list)*size))
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].b == list[0].b+int32(n) && list[n].home == list[0].home {
			n++
		}
		r.fetchSource(list[0].b, int32(n)).GetNB(int(list[0].home), buffer[:n*size])
		r.stats.count(&r.stats.Gets, 1)
		list, buffer = list[n:], buffer[n*size:]
	}
}

// getMapped installs the blocks whose homes are on this host from the homes' memory, without a copy between, where that
// can be done. It returns the others.
func (r *Region) getMapped(list []*fetch) (rest []*fetch) {
	if r.mapped == nil {
		return list
	}
	for _, f := range list {
		from := r.mapped[f.home]
		if from == nil {
			rest = append(rest, f)
			continue
		}
		at := int(f.b) * r.o.Block
		f.installed = r.cache.install(f.b, f.generation, from[at:at+r.o.Block], f.home, f.rts)
		r.stats.count(&r.stats.Gets, 1)
		r.stats.count(&r.stats.BytesFetched, uint64(r.o.Block))
	}
	return rest
}
