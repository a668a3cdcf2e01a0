package containers

import (
	"context"
	"errors"

	"github.com/gopgas/gopgas/ckpt"
)

// Checkpoint makes a map an item of a ckpt.Set, with what Map.Checkpoint says.
func (m *StringMap[V]) Checkpoint() ckpt.Parts {
	if m == nil || m.keys == nil {
		notMade("StringMap.Checkpoint")
	}
	return ckpt.Parts{Kind: "StringMap", Save: m.saveElements, Restore: m.restoreElements}
}

// The sections of a StringMap: its keys with their values, and the pieces of long strings.
const (
	savedKeys = "keys"
	savedText = "text"
)

// saveElements returns what this member has of both maps.
func (m *StringMap[V]) saveElements(context.Context) ([]ckpt.Section, error) {
	if m.keys.members.Team == nil {
		return nil, nil
	}
	keys, err := m.keys.elementsToSave(savedKeys)
	if err != nil {
		return nil, err
	}
	text, err := m.text.elementsToSave(savedText)
	return []ckpt.Section{keys, text}, err
}

// restoreElements sets the elements of every n-th PE that has saved some.
func (m *StringMap[V]) restoreElements(ctx context.Context, from *ckpt.Saved) error {
	if m.keys.members.Team == nil {
		return nil
	}
	keys, text, err := m.wordsSaved(ctx, from)
	if all, err := allRestore(ctx, &m.keys.members, err); !all {
		return err
	}
	return m.become(ctx, keys, text)
}

// wordsSaved returns the words of both maps of every n-th PE.
func (m *StringMap[V]) wordsSaved(ctx context.Context, from *ckpt.Saved) (keys, text []uint64, err error) {
	if keys, err = m.keys.wordsSaved(ctx, from, savedKeys); err != nil {
		return nil, nil, err
	}
	if text, err = m.text.wordsSaved(ctx, from, savedText); err != nil {
		return nil, nil, err
	}
	most := m.mostText()
	for key := range m.keys.elementsOf(keys) {
		if !key.sound(most) {
			return nil, nil, errors.New("what was saved as a key of it is none")
		}
	}
	return keys, text, nil
}

// mostText returns how many bytes of long strings the map has room for.
func (m *StringMap[V]) mostText() int {
	t := m.text.shards
	return t.members.N * t.segments() * t.slots * len(textBytes{})
}

// sound reports whether k can be the key of a string, or the value of a TextMap, of which most bytes are in the second
// map.
func (k *stringKey) sound(most int) bool {
	n, long := k.long()
	if long {
		return n > shortString && n <= most
	}
	return n <= shortString && *k == keyOfString(string(k[:n]))
}

// become makes the members' elements those of the map, in place of all others. The bytes of long keys come first.
func (m *StringMap[V]) become(ctx context.Context, keys, text []uint64) error {
	if err := m.text.become(ctx, text); err != nil {
		return err
	}
	return m.keys.become(ctx, keys)
}
