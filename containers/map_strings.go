package containers

// StringMap: a Map whose keys are strings of any length. A string of up to 31 bytes is the key itself. A longer one is
// known by 192 bits of its SHA-256, and its bytes are in a second map, in pieces, which are there before the key is.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// StringMap is a hash table from strings to V, which is plain. Its calls are those of Map, and move what those move; a
// key of more than 31 bytes costs a find in a second map in addition, and its first insertion by a member a write there
// for every 64 bytes and a Quiet. The bytes of a long key that was deleted stay until the map is freed, and serve the
// same key again.
//
// Two long keys are taken for one if the first 192 bits of their SHA-256 are the same, which nobody has ever seen.
type StringMap[V any] struct {
	keys *Map[stringKey, V]
	text *Map[textPiece, textBytes]
}

// stringKey is a string of up to 31 bytes and its length, or the digest of a longer one, its length, and longString.
type stringKey [32]byte

const (
	shortString = 31
	longString  = 0xff // in the last byte
	digestBytes = 24
)

// textPiece is the place of 64 bytes of a long string.
type textPiece struct {
	digest [digestBytes]byte
	number uint64
}

type textBytes [64]byte

// NewStringMap makes an empty map; its options are those of NewMap. It has room for a quarter as many pieces of long
// keys as for elements, and at least for 4096. It is collective over all PEs of the World. Its errors are those of
// NewMap.
func NewStringMap[V any](ctx context.Context, w *pgas.World, opts ...Option) (*StringMap[V], error) {
	s := settingsOf("NewStringMap", opts, "Capacity", "Ring", "Backlog")
	if s.capacity == 0 {
		n := carry.MembersOf(ctx, "NewStringMap", w, !s.over, s.team).N
		s.capacity = mapDefault(carry.SizeOf[stringKey](), carry.SizeOf[V](), max(1, n), w.HeapUsage().Max)
	}
	return makeStringMap[V](ctx, w, s, max(4096, s.capacity/4))
}

// makeStringMap makes a map with room for so many pieces of long strings.
func makeStringMap[V any](ctx context.Context, w *pgas.World, s settings, room int) (*StringMap[V], error) {
	if s.mapKind == "" {
		s.mapKind = "StringMap"
	}
	keys, err := makeMap[stringKey, V](ctx, w, s)
	if err != nil {
		return nil, err
	}
	pieces := s
	pieces.capacity = room
	text, err := makeMap[textPiece, textBytes](ctx, w, pieces)
	if err != nil {
		return nil, err
	}
	if err := newBatches(ctx, &keys.members, s, keys, text); err != nil {
		return nil, err
	}
	keys.batch.box.beside, text.batch.box.beside = text.batch.box, keys.batch.box
	return &StringMap[V]{keys, text}, nil
}

// keyOfString returns the key of k.
func keyOfString(k string) (key stringKey) {
	if len(k) <= shortString {
		copy(key[:], k)
		key[shortString] = byte(len(k))
		return key
	}
	digest := sha256.Sum256([]byte(k))
	copy(key[:digestBytes], digest[:])
	binary.LittleEndian.PutUint64(key[digestBytes:], uint64(len(k)))
	key[shortString] = longString
	return key
}

// long reports whether the text of a key is in the second map, and how many bytes that has.
func (k *stringKey) long() (n int, long bool) {
	if k[shortString] != longString {
		return int(k[shortString]), false
	}
	length := binary.LittleEndian.Uint64(k[digestBytes:])
	return int(length & (1<<56 - 1)), true
}

// piece returns the place of piece i of a long key's text.
func (k *stringKey) piece(i int) textPiece {
	return textPiece{[digestBytes]byte(k[:digestBytes]), uint64(i)}
}

// write returns the key of k for a call that may insert it: its text is there.
func (m *StringMap[V]) write(ctx context.Context, k string) (stringKey, error) {
	key := keyOfString(k)
	if _, long := key.long(); !long {
		return key, nil
	}
	last := (len(k) - 1) / len(textBytes{})
	if _, ok := m.text.Find(key.piece(last)); ok {
		return key, nil
	}
	for i := range last + 1 {
		var piece textBytes
		copy(piece[:], k[i*len(piece):])
		if _, err := m.text.Insert(ctx, key.piece(i), piece); err != nil {
			return key, fmt.Errorf("the bytes of a key of %d: %w", len(k), err)
		}
		if i == last-1 { // who finds the last piece takes it that all are there
			if err := m.text.members.Ctx.Quiet(ctx); err != nil {
				return key, err
			}
		}
	}
	return key, m.text.members.Ctx.Quiet(ctx)
}

// read returns the string of a key, and whether its bytes are there: they are unless there was no room for them.
func (m *StringMap[V]) read(key stringKey) (text string, ok bool) {
	n, long := key.long()
	if !long {
		return string(key[:n]), true
	}
	b := make([]byte, 0, n+len(textBytes{}))
	for i := 0; len(b) < n; i++ {
		piece, ok := m.text.Find(key.piece(i))
		if !ok {
			return "", false
		}
		b = append(b, piece[:]...)
	}
	return string(b[:n]), true
}

// Home returns the member that has k, if anyone has. It is local.
func (m *StringMap[V]) Home(k string) int { return m.keys.Home(keyOfString(k)) }

// Find is Map.Find.
func (m *StringMap[V]) Find(k string) (v V, ok bool) { return m.keys.Find(keyOfString(k)) }

// Insert is Map.Insert.
func (m *StringMap[V]) Insert(ctx context.Context, k string, v V) (inserted bool, err error) {
	if m.keys.promised.held() == onlyInserts {
		return false, m.insertLater(ctx, k, v)
	}
	key, err := m.write(ctx, k)
	if err != nil {
		return false, err
	}
	return m.keys.Insert(ctx, key, v)
}

// Set is Map.Set.
func (m *StringMap[V]) Set(ctx context.Context, k string, v V) error {
	key, err := m.write(ctx, k)
	if err != nil {
		return err
	}
	return m.keys.Set(ctx, key, v)
}

// Update is Map.Update.
func (m *StringMap[V]) Update(ctx context.Context, k string, v V, combine func(old, v V) V) error {
	key, err := m.write(ctx, k)
	if err != nil {
		return err
	}
	return m.keys.Update(ctx, key, v, combine)
}

// Delete is Map.Delete.
func (m *StringMap[V]) Delete(ctx context.Context, k string) (deleted bool, err error) {
	return m.keys.Delete(ctx, keyOfString(k))
}

// Local is Map.Local. It is one-sided: the bytes of long keys may be on other members.
func (m *StringMap[V]) Local() iter.Seq2[string, V] { return m.strings(m.keys.Local()) }

// All is Map.All.
func (m *StringMap[V]) All() iter.Seq2[string, V] { return m.strings(m.keys.All()) }

func (m *StringMap[V]) strings(elements iter.Seq2[stringKey, V]) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for k, v := range elements {
			if text, ok := m.read(k); ok && !yield(text, v) {
				return
			}
		}
	}
}

// LocalLen is Map.LocalLen.
func (m *StringMap[V]) LocalLen() int { return m.keys.LocalLen() }

// Len is Map.Len.
func (m *StringMap[V]) Len(ctx context.Context) (int, error) { return m.keys.Len(ctx) }

// UpdateAll is Map.UpdateAll.
func (m *StringMap[V]) UpdateAll(ctx context.Context, elements iter.Seq2[string, V], combine func(old, v V) V) error {
	return m.putAll(ctx, "UpdateAll", elements, func(keys iter.Seq2[stringKey, V]) error { return m.keys.UpdateAll(ctx, keys, combine) })
}

// SetAll is Map.SetAll.
func (m *StringMap[V]) SetAll(ctx context.Context, elements iter.Seq2[string, V]) error {
	return m.putAll(ctx, "SetAll", elements, func(keys iter.Seq2[stringKey, V]) error { return m.keys.SetAll(ctx, keys) })
}

// InsertAll is Map.InsertAll.
func (m *StringMap[V]) InsertAll(ctx context.Context, elements iter.Seq2[string, V]) error {
	return m.putAll(ctx, "InsertAll", elements, func(keys iter.Seq2[stringKey, V]) error { return m.keys.InsertAll(ctx, keys) })
}

// putAll puts the bytes of long keys in a batch, and then calls put with the keys.
func (m *StringMap[V]) putAll(ctx context.Context, op string, elements iter.Seq2[string, V], put func(iter.Seq2[stringKey, V]) error) error {
	type element struct {
		key stringKey
		v   V
	}
	var all []element // the caller's sequence can be read once
	err := m.text.putAll(ctx, op, func(yield func(textPiece, textBytes) bool) {
		for k, v := range elements {
			key := keyOfString(k)
			all = append(all, element{key, v})
			if !eachPiece(k, &key, yield) {
				return
			}
		}
	}, mapInsert[textBytes])
	if err != nil {
		return fmt.Errorf("the bytes of long keys: %w", err)
	}
	return put(func(yield func(stringKey, V) bool) {
		for i := range all {
			if !yield(all[i].key, all[i].v) {
				return
			}
		}
	})
}

// eachPiece yields the pieces of k, which is the string of key, if it is long. It reports whether yield wants more.
func eachPiece(k string, key *stringKey, yield func(textPiece, textBytes) bool) bool {
	if _, long := key.long(); !long {
		return true
	}
	for i := 0; i*len(textBytes{}) < len(k); i++ {
		var piece textBytes
		copy(piece[:], k[i*len(piece):])
		if !yield(key.piece(i), piece) {
			return false
		}
	}
	return true
}

// FindAll is Map.FindAll.
func (m *StringMap[V]) FindAll(ctx context.Context, keys []string) (values []V, found []bool, err error) {
	asked := make([]stringKey, len(keys))
	for i, k := range keys {
		asked[i] = keyOfString(k)
	}
	return m.keys.FindAll(ctx, asked)
}

// OnlyFinds is Map.OnlyFinds.
func (m *StringMap[V]) OnlyFinds(ctx context.Context) error {
	return m.promise(ctx, m.keys.OnlyFinds)
}

// OnlyInserts is Map.OnlyInserts. Each Insert of a long key sends its bytes, whether they are there or not. A long key
// whose bytes find no room is in the map, but loops do not meet it.
func (m *StringMap[V]) OnlyInserts(ctx context.Context) error {
	if err := m.promise(ctx, m.keys.OnlyInserts); err != nil {
		return err
	}
	return m.text.OnlyInserts(ctx)
}

// Writes is Map.Writes.
func (m *StringMap[V]) Writes(ctx context.Context) error { return m.promise(ctx, m.keys.Writes) }

// promise ends the promise about the bytes of long keys, and then changes that about keys. If the bytes have found no
// room it ends both.
func (m *StringMap[V]) promise(ctx context.Context, change func(context.Context) error) error {
	if m.text.promised.held() == anything {
		return change(ctx)
	}
	err := m.text.Writes(ctx)
	if err == nil {
		return change(ctx)
	}
	err = fmt.Errorf("the bytes of long keys: %w", err)
	var full *MapFullError
	if errors.As(err, &full) {
		err = errors.Join(err, m.keys.Writes(ctx))
	}
	return err
}

// insertLater is Insert under OnlyInserts. The bytes may come after the key, since nobody looks.
func (m *StringMap[V]) insertLater(ctx context.Context, k string, v V) (err error) {
	key := keyOfString(k)
	eachPiece(k, &key, func(p textPiece, b textBytes) bool {
		_, err = m.text.Insert(ctx, p, b)
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("the bytes of a key of %d: %w", len(k), err)
	}
	_, err = m.keys.Insert(ctx, key, v)
	return err
}

// Free is Map.Free.
func (m *StringMap[V]) Free(ctx context.Context) error {
	return freeAll(ctx, "StringMap.Free", m.keys.Free, m.text.Free)
}
