package racecheck

// Puts that read their sources later than at the call. A channel that has none reads them at the call, and its puts
// count as under way all the same: on another host they would be.

import (
	"context"
	"maps"

	"github.com/gopgas/gopgas/pgas/transport"
)

// zeroCopy is the interface of such puts of a channel.
type zeroCopy struct {
	transport.ZeroCopyPutter // nil: sources are read at the call
	*channel
	strided transport.Strider // nil: each block is a put of its own

	given map[uint64]given // by the handles that the program has, of sources; guarded by pe.mu
	next  int              // drop those that the program will not ask for when there are so many; 0: fewGiven
}

// given is a handle of the channel, of a put to a PE.
type given struct {
	pe     int
	handle uint64
}

// fewGiven is how many are kept whether or not the program asks for them.
const fewGiven = 1024

// Over returns channel ch of c with its optional interfaces, z and s, such that the detectors are told of every
// operation. With z nil puts read their sources at once; the program may rely on that no more than elsewhere, so the
// result has an interface for them too. s stays nil if it is.
func (c *Context) Over(ch transport.Channel, z transport.ZeroCopyPutter, s transport.Strider) (transport.Channel, transport.ZeroCopyPutter, transport.Strider) {
	over := &channel{Channel: ch, c: c}
	c.channels = append(c.channels, ch)
	zero := &zeroCopy{ZeroCopyPutter: z, channel: over, strided: s, given: map[uint64]given{}}
	if s != nil {
		return over, zero, strided{s, over}
	}
	return over, zero, nil
}

// source notes that an operation to a PE reads memory of this process from now on, and returns its number.
func (z *zeroCopy) source(site Site, pe int, src []byte, b blocks) uint64 {
	if len(src) == 0 || b.count == 0 {
		return 0
	}
	c := z.c
	c.pe.mu.Lock()
	a := c.issue(sourceStream, pe, Read, 0, blocks{}, nil, site)
	c.pe.mu.Unlock()
	a.Local = true
	c.pe.use(src, a, b)
	return a.Number
}

// handle returns the handle that the program gets for a put to a PE, the number of its source. own is the channel's.
func (z *zeroCopy) handle(pe int, source, own uint64) uint64 {
	if source == 0 || own == 0 {
		return source
	}
	z.c.pe.mu.Lock()
	z.given[source] = given{pe, own}
	full := len(z.given) >= max(z.next, fewGiven)
	z.c.pe.mu.Unlock()
	if full {
		z.drop()
	}
	return source
}

// drop drops the handles of sources that have been read: a program that quiets does not ask for them.
func (z *zeroCopy) drop() {
	z.c.pe.mu.Lock()
	all := maps.Clone(z.given)
	z.c.pe.mu.Unlock()
	maps.DeleteFunc(all, func(_ uint64, g given) bool { return !z.ZeroCopyPutter.Released(g.pe, g.handle) })
	z.c.pe.mu.Lock()
	for source := range all {
		delete(z.given, source)
	}
	z.next = 2 * len(z.given)
	z.c.pe.mu.Unlock()
}

func (z *zeroCopy) PutZcopy(pe int, dst uint64, src []byte) uint64 {
	site := z.c.pe.Here()
	n := z.source(site, pe, src, whole(len(src)))
	z.operationAt(site, plainStream, pe, Write, dst, whole(len(src)), Record{})
	if z.ZeroCopyPutter == nil {
		z.Channel.Put(pe, dst, src)
		return n
	}
	return z.handle(pe, n, z.ZeroCopyPutter.PutZcopy(pe, dst, src))
}

func (z *zeroCopy) PutNotifyZcopy(pe int, dst uint64, src []byte, s transport.Stamp) (h uint64, ok bool) {
	k := NoteKey{s, uint64(len(src)), dst}
	state, told, mixed := z.c.beginNote(pe, k)
	n := state.source
	if !told {
		site := z.c.pe.Here()
		n = z.source(site, pe, src, whole(len(src)))
		state.source = n
		z.operationAt(site, notifiedStream, pe, Write, dst, whole(len(src)), Record{Release: ReleaseNote, Key: k, Mixed: mixed})
	}
	if z.ZeroCopyPutter == nil {
		h, ok = 0, z.Channel.PutNotify(pe, dst, src, s)
	} else {
		h, ok = z.ZeroCopyPutter.PutNotifyZcopy(pe, dst, src, s)
	}
	if z.c.endNote(state, ok); !ok {
		return 0, false
	}
	return z.handle(pe, n, h), true
}

func (z *zeroCopy) PutSignalZcopy(pe int, dst uint64, src []byte, sig uint64, op transport.Op, value uint64) uint64 {
	n := z.source(z.c.pe.Here(), pe, src, whole(len(src)))
	z.signal(pe, dst, src, sig)
	if z.ZeroCopyPutter == nil {
		z.Channel.PutSignal(pe, dst, src, sig, op, value)
		return n
	}
	return z.handle(pe, n, z.ZeroCopyPutter.PutSignalZcopy(pe, dst, src, sig, op, value))
}

func (z *zeroCopy) PutStridedZcopy(pe int, dst uint64, src []byte, b transport.Strided) uint64 {
	site := z.c.pe.Here()
	n := z.source(site, pe, src, here(b))
	z.operationAt(site, plainStream, pe, Write, dst, there(b), Record{})
	switch {
	case z.ZeroCopyPutter != nil:
		return z.handle(pe, n, z.ZeroCopyPutter.PutStridedZcopy(pe, dst, src, b))
	case z.strided != nil:
		z.strided.PutStrided(pe, dst, src, b)
	default:
		for i := range b.Count {
			z.Channel.Put(pe, dst+uint64(i*b.RemoteStride), src[i*b.LocalStride:][:b.BlockBytes])
		}
	}
	return n
}

// own returns the channel's own handle of one that the program has, or 0: the source has been read.
func (z *zeroCopy) own(h uint64) uint64 {
	z.c.pe.mu.Lock()
	defer z.c.pe.mu.Unlock()
	return z.given[h].handle
}

// read notes that the source with a handle has been read.
func (z *zeroCopy) read(pe int, h uint64) {
	z.c.pe.mu.Lock()
	delete(z.given, h)
	z.c.pe.mu.Unlock()
	z.c.released(pe, h)
}

func (z *zeroCopy) Released(pe int, h uint64) bool {
	if given := z.own(h); given != 0 && !z.ZeroCopyPutter.Released(pe, given) {
		return false
	}
	z.read(pe, h)
	return true
}

func (z *zeroCopy) AwaitReleased(ctx context.Context, pe int, h uint64) error {
	if given := z.own(h); pe < 0 && z.ZeroCopyPutter != nil || given != 0 {
		if err := z.ZeroCopyPutter.AwaitReleased(ctx, pe, given); err != nil {
			return err
		}
	}
	if pe >= 0 { // otherwise it is a QuietLocal, which tells of itself
		z.read(pe, h)
	}
	return nil
}
