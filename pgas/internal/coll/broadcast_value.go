package coll

// Broadcasts of Go memory: small broadcasts (broadcast.go), as many in a row as it takes. Where the others do not know
// the length, the first has it, and the start of the data behind it.

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/internal/node"
)

// BroadcastValue returns v of member root to every member.
func BroadcastValue[T any](ctx context.Context, g *Group, v T, root int) (T, error) {
	b := broadcastOfGo[T](g, root, Plain)
	one := []T{v}
	if b.call.Size == 0 {
		return v, b.wrap(g.enter(ctx, &b.call))
	}
	if err := b.pieces(ctx, AsBytes(one)); err != nil {
		return v, err
	}
	return one[0], nil
}

// BroadcastSlice returns v of member root to every member: v itself to the root.
func BroadcastSlice[T any](ctx context.Context, g *Group, v []T, root int) ([]T, error) {
	b := broadcastOfGo[T](g, root, ofSlice)
	var first [inlineBytes]byte
	binary.LittleEndian.PutUint64(first[:], uint64(len(v)))
	began := copy(first[wordBytes:], AsBytes(v))
	if err := b.pieces(ctx, first[:]); err != nil {
		return nil, err
	}
	if root != g.Me {
		v = make([]T, binary.LittleEndian.Uint64(first[:]))
		began = copy(AsBytes(v), first[wordBytes:])
	}
	return v, b.pieces(ctx, AsBytes(v)[began:])
}

// broadcastOfGo prepares broadcasts of Go memory.
func broadcastOfGo[T any](g *Group, root int, op uint8) *Broadcast {
	c := Call{Kind: kindBroadcastValue, op: op, root: root, Size: int(node.SizeOf[T]()), elem: reflect.TypeFor[T]()}
	b := &Broadcast{g: g, l: &g.layout, call: c}
	b.place(root, Options{})
	return b
}

// pieces broadcasts memory, which is as long on every member, in messages.
func (b *Broadcast) pieces(ctx context.Context, memory []byte) error {
	for len(memory) > 0 {
		b.memory = memory[:min(len(memory), maxMessage)]
		b.n, b.call.count = len(b.memory), uint64(len(b.memory))
		s := exposure{kind: bcopy, n: b.n}
		if len(b.l.hosts) == 1 && b.n <= inlineBytes {
			s.kind = inline
		}
		if err := b.small(ctx, s); err != nil {
			return b.wrap(err)
		}
		b.g.noteRoot(b.call.root)
		memory = memory[b.n:]
	}
	return nil
}

func (b *Broadcast) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("%s on team %s%s: %w", b.call.Kind, b.g.Name, callsite.At(), err)
	}
	return nil
}
