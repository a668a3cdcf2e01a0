package containers

// TextMap: a StringMap whose values are strings, too. A value of up to 31 bytes is in the slot of its key. The bytes of
// a longer one are in the map of pieces that long keys use, under a number that no other value ever has; what the key
// has is that number. So
//
//   - the bytes are there before the key has the number: a Quiet is between them
//   - a member that replaces or deletes a value removes its pieces, whose slots serve other texts then
//   - a member that finds a number whose pieces are gone has come too late, and asks for the key again: pieces of another value it
//     cannot meet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// TextMap is a hash table from strings to strings, both of any length. Its calls are those of StringMap, and cost what
// those cost. A value of more than 31 bytes costs in addition: to find it, a find for every 64 bytes; to set it, a
// write for every 64 bytes and a Quiet, and a deletion for every 64 bytes of the value that was there. A Find is a
// value that the key had at some moment of the call.
//
// Memory of values that were replaced or deleted serves others. What a member had begun to write when it was lost stays
// until the map is freed, and so does what a SetAll drops because the map is full.
type TextMap struct {
	m       *StringMap[textValue]
	written atomic.Uint64 // long values that this member has made: no number may come twice
}

// textValue is a string of up to 31 bytes and its length, or the number of a longer one, its length, and longString.
type textValue = stringKey

const pieceBytes = len(textBytes{})

// TextBytes chooses the bytes of long keys and values that a TextMap must have room for, of all members. Each text
// takes a multiple of 64. The default is 64 bytes for each element of its Capacity. It is an option of NewTextMap.
func TextBytes(bytes int) Option {
	return Option{"TextBytes", func(s *settings) {
		if bytes <= 0 {
			carry.Misuse("TextBytes", "%d bytes: a map has room for at least one", bytes)
		}
		s.texts = bytes
	}}
}

// NewTextMap makes an empty map; its options are those of NewMap, and TextBytes. It is collective over all PEs of the
// World. Its errors are those of NewMap.
func NewTextMap(ctx context.Context, w *pgas.World, opts ...Option) (*TextMap, error) {
	s := settingsOf("NewTextMap", opts, "Capacity", "Ring", "Backlog", "TextBytes")
	if s.capacity == 0 {
		n := carry.MembersOf(ctx, "NewTextMap", w, !s.over, s.team).N
		s.capacity = mapDefault(carry.SizeOf[textPiece](), carry.SizeOf[textBytes](), max(1, n), w.HeapUsage().Max)
	}
	pieces := s.capacity
	if s.texts > 0 {
		pieces = s.texts/pieceBytes + 1
	}
	s.mapKind = "TextMap"
	m, err := makeStringMap[textValue](ctx, w, s, max(4096, pieces))
	if err != nil {
		return nil, err
	}
	return &TextMap{m: m}, nil
}

// mustBe panics with *pgas.UsageError if the map is nil or zero.
func (t *TextMap) mustBe(op string) {
	if t == nil || t.m == nil {
		(*carry.Members)(nil).MustBeMember(op)
	}
}

// Home returns the member that has k, if anyone has. It is local.
func (t *TextMap) Home(k string) int {
	t.mustBe("Home")
	return t.m.Home(k)
}

// Find returns the value of k and whether there is one. It is one-sided, takes no lock, and goes on while the map
// grows. It panics as Map.Find does.
func (t *TextMap) Find(k string) (v string, ok bool) {
	t.mustBe("Find")
	key := keyOfString(k)
	for wait := (pace{}); ; {
		value, ok := t.m.keys.Find(key)
		if !ok {
			return "", false
		}
		if v, ok := t.m.read(value); ok {
			return v, true
		}
		t.m.text.shards.letWrite(&wait)
	}
}

// Set gives k the value v, whatever it had. It is one-sided, and when it returns v's bytes are complete. It blocks and
// fails as Map.Insert does.
func (t *TextMap) Set(ctx context.Context, k, v string) error {
	return t.put(ctx, "Set", k, v, func(key stringKey, value textValue) (obsolete textValue, err error) {
		err = t.m.keys.Update(ctx, key, value, func(old, v textValue) textValue {
			obsolete = old
			return v
		})
		return obsolete, err
	})
}

// Insert gives k the value v if it has none, and reports whether it had none. It is one-sided. It blocks and fails as
// Map.Insert does.
func (t *TextMap) Insert(ctx context.Context, k, v string) (inserted bool, err error) {
	t.mustBe("Insert")
	carry.MustHaveContext("Insert", ctx)
	if _, ok := t.m.keys.Find(keyOfString(k)); ok {
		return false, nil
	}
	err = t.put(ctx, "Insert", k, v, func(key stringKey, value textValue) (obsolete textValue, err error) {
		inserted, err = t.m.keys.Insert(ctx, key, value)
		if err == nil && !inserted {
			obsolete = value
		}
		return obsolete, err
	})
	return inserted, err
}

// put writes the bytes of k and v, and then has change do what is to be done with the key. It removes the bytes of what
// that makes obsolete, or of v if it fails.
func (t *TextMap) put(ctx context.Context, op, k, v string, change func(key stringKey, value textValue) (obsolete textValue, err error)) error {
	t.mustBe(op)
	carry.MustHaveContext(op, ctx)
	t.m.keys.mustWrite(op)
	key, err := t.m.write(ctx, k)
	if err != nil {
		return err
	}
	value := t.number(v)
	if err := t.writeValue(ctx, value, v); err != nil {
		return errors.Join(err, t.erase(context.WithoutCancel(ctx), value))
	}
	obsolete, err := change(key, value)
	if err != nil {
		return errors.Join(err, t.erase(context.WithoutCancel(ctx), value))
	}
	return t.erase(ctx, obsolete)
}

// number returns what a key has for the value v: if that is long, a new number.
func (t *TextMap) number(v string) (value textValue) {
	if len(v) <= shortString {
		return keyOfString(v)
	}
	binary.LittleEndian.PutUint64(value[:], t.written.Add(1))
	binary.LittleEndian.PutUint64(value[8:], uint64(t.m.text.members.Me)+1)
	binary.LittleEndian.PutUint64(value[digestBytes:], uint64(len(v)))
	value[shortString] = longString
	return value
}

// writeValue writes the bytes of a long value, which are complete when it returns.
func (t *TextMap) writeValue(ctx context.Context, value textValue, v string) (err error) {
	if _, long := value.long(); !long {
		return nil
	}
	eachPiece(v, &value, func(p textPiece, b textBytes) bool {
		_, err = t.m.text.Insert(ctx, p, b)
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("the bytes of a value of %d: %w", len(v), err)
	}
	return t.m.text.members.Ctx.Quiet(ctx)
}

// erase removes the bytes of a long value that no key has any more.
func (t *TextMap) erase(ctx context.Context, value textValue) error {
	for p := range value.pieces() {
		if _, err := t.m.text.Delete(ctx, p); err != nil {
			return fmt.Errorf("the bytes of a value that is obsolete: %w", err)
		}
	}
	return nil
}

// pieces returns the places of a long text.
func (k *stringKey) pieces() iter.Seq[textPiece] {
	return func(yield func(textPiece) bool) {
		n, long := k.long()
		for i := 0; long && i*pieceBytes < n; i++ {
			if !yield(k.piece(i)) {
				return
			}
		}
	}
}

// Delete removes k and reports whether it was there. It is one-sided. It blocks and fails as Map.Insert does.
func (t *TextMap) Delete(ctx context.Context, k string) (deleted bool, err error) {
	t.mustBe("Delete")
	m := t.m.keys
	m.enter("Delete")
	defer m.turn.leave()
	var obsolete textValue
	deleted, err = m.shards.change(ctx, m.hashToWrite(ctx, "Delete", keyOfString(k)), m.key, func(value []uint64, found bool) mapAction {
		if found {
			obsolete = mapDecode[textValue](value)
		}
		return mapRemove
	})
	if err != nil || !deleted {
		return deleted, err
	}
	return true, t.erase(ctx, obsolete)
}

// Local is Map.Local. It is one-sided: the bytes of long keys and values may be on other members.
func (t *TextMap) Local() iter.Seq2[string, string] {
	t.mustBe("Local")
	return t.texts(t.m.Local())
}

// All is Map.All.
func (t *TextMap) All() iter.Seq2[string, string] {
	t.mustBe("All")
	return t.texts(t.m.All())
}

func (t *TextMap) texts(elements iter.Seq2[string, textValue]) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for k, value := range elements {
			v, ok := t.m.read(value)
			if !ok { // it was replaced or deleted meanwhile
				v, ok = t.Find(k)
			}
			if ok && !yield(k, v) {
				return
			}
		}
	}
}

// LocalLen is Map.LocalLen.
func (t *TextMap) LocalLen() int {
	t.mustBe("LocalLen")
	return t.m.LocalLen()
}

// Len is Map.Len.
func (t *TextMap) Len(ctx context.Context) (int, error) {
	t.mustBe("Len")
	return t.m.Len(ctx)
}

// SetAll does Set for all elements that the members give. It is collective, as Map.UpdateAll is, with the same errors:
// four batches, of the bytes of long values, of those of long keys, of the keys, and of the bytes that these have made
// obsolete.
func (t *TextMap) SetAll(ctx context.Context, elements iter.Seq2[string, string]) error {
	t.mustBe("SetAll")
	if elements == nil {
		carry.Misuse("SetAll", "elements is nil: a member that has none gives an empty sequence")
	}
	numbered, err := t.withBytes(ctx, elements)
	if err != nil {
		return fmt.Errorf("the bytes of long values: %w", err)
	}
	var obsolete []textValue
	err = t.m.putAll(ctx, "SetAll", numbered, func(keys iter.Seq2[stringKey, textValue]) error {
		return t.m.keys.putAll(ctx, "SetAll", keys, func(value []uint64, v textValue, found bool) mapAction {
			if found {
				obsolete = append(obsolete, mapDecode[textValue](value))
			}
			mapEncode(value, &v)
			return mapPut
		})
	})
	var full *MapFullError
	if err != nil && !errors.As(err, &full) {
		return err
	}
	return errors.Join(err, t.m.text.DeleteAll(ctx, func(yield func(textPiece) bool) {
		for _, value := range obsolete {
			for p := range value.pieces() {
				if !yield(p) {
					return
				}
			}
		}
	}))
}

// withBytes puts the bytes of long values in a batch, and returns the elements with what keys have for values.
func (t *TextMap) withBytes(ctx context.Context, elements iter.Seq2[string, string]) (iter.Seq2[string, textValue], error) {
	type element struct {
		k     string
		value textValue
	}
	var all []element
	err := t.m.text.putAll(ctx, "SetAll", func(yield func(textPiece, textBytes) bool) {
		for k, v := range elements {
			value := t.number(v)
			all = append(all, element{k, value})
			if !eachPiece(v, &value, yield) {
				return
			}
		}
	}, mapInsert[textBytes])
	return func(yield func(string, textValue) bool) {
		for _, e := range all {
			if !yield(e.k, e.value) {
				return
			}
		}
	}, err
}

// FindAll is Map.FindAll: two batches, of keys and of the bytes of their values.
func (t *TextMap) FindAll(ctx context.Context, keys []string) (values []string, found []bool, err error) {
	t.mustBe("FindAll")
	numbers, found, err := t.m.FindAll(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	var asked []textPiece
	for i := range numbers {
		for p := range numbers[i].pieces() {
			asked = append(asked, p)
		}
	}
	pieces, _, err := t.m.text.FindAll(ctx, asked)
	if err != nil {
		return nil, nil, err
	}
	values = make([]string, len(keys))
	for i := range numbers {
		n, long := numbers[i].long()
		if !long {
			values[i] = string(numbers[i][:n])
			continue
		}
		b := make([]byte, 0, n+pieceBytes)
		for len(b) < n {
			b = append(b, pieces[0][:]...)
			pieces = pieces[1:]
		}
		values[i] = string(b[:n])
	}
	return values, found, nil
}

// OnlyFinds is Map.OnlyFinds.
func (t *TextMap) OnlyFinds(ctx context.Context) error {
	t.mustBe("OnlyFinds")
	return t.m.OnlyFinds(ctx)
}

// Writes is Map.Writes.
func (t *TextMap) Writes(ctx context.Context) error {
	t.mustBe("Writes")
	return t.m.Writes(ctx)
}

// Free is Map.Free.
func (t *TextMap) Free(ctx context.Context) error {
	t.mustBe("Free")
	return t.m.Free(ctx)
}
