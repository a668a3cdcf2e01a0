package containers

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gopgas/gopgas/ckpt"
)

// Checkpoint makes a map an item of a ckpt.Set. It is restored on any number of PEs and members, and has the elements
// that it had and no others. A Save or Restore under OnlyInserts, and a Restore under OnlyFinds, is an error.
func (m *Map[K, V]) Checkpoint() ckpt.Parts {
	if m == nil || m.members.World == nil {
		notMade("Map.Checkpoint")
	}
	return ckpt.Parts{Kind: "Map", Save: m.saveElements, Restore: m.restoreElements}
}

// mapLayoutOf identifies how keys and values are laid out in memory.
func mapLayoutOf[K, V any]() uint64 {
	return ckpt.LayoutOf[struct {
		Key   K
		Value V
	}]()
}

// saveElements returns the words of the elements that this member has.
func (m *Map[K, V]) saveElements(context.Context) ([]ckpt.Section, error) {
	if m.members.Team == nil {
		return nil, nil
	}
	s, err := m.elementsToSave("")
	return []ckpt.Section{s}, err
}

// elementsToSave returns the words of this member's elements as a section with a name.
func (m *Map[K, V]) elementsToSave(name string) (s ckpt.Section, err error) {
	if m.promised.held() == onlyInserts {
		return s, errors.New("OnlyInserts holds, so what was inserted is not there: call Writes before Save")
	}
	var words []uint64
	m.each(segmentAt{m.members.Me, 0}, 0, func(slot []uint64) bool {
		words = append(words, slot[1:]...)
		return true
	})
	s = ckpt.Elements(words)
	s.Name, s.Layout = name, mapLayoutOf[K, V]() // the words are those of keys and values
	return s, nil
}

// restoreElements sets the elements of every n-th PE that has saved some.
func (m *Map[K, V]) restoreElements(ctx context.Context, from *ckpt.Saved) error {
	if m.members.Team == nil {
		return nil
	}
	words, err := m.wordsSaved(ctx, from, "")
	if all, err := allRestore(ctx, &m.members, err); !all {
		return err
	}
	return m.become(ctx, words)
}

// wordsSaved returns the words of the elements of every n-th PE, from the section with a name.
func (m *Map[K, V]) wordsSaved(ctx context.Context, from *ckpt.Saved, name string) (words []uint64, err error) {
	if m.promised.held() != anything {
		return nil, errors.New("OnlyFinds or OnlyInserts holds: call Writes before Restore")
	}
	for pe := m.members.Me; pe < from.PEs(); pe += m.members.N {
		s, number, err := savedSection(ctx, from, pe, name)
		if err != nil {
			return nil, err
		}
		if number < 0 {
			continue // no member
		}
		if s.Layout != mapLayoutOf[K, V]() || s.Width != 8 || s.Count%(m.shards.slotWords()-1) != 0 {
			return nil, fmt.Errorf("it was saved with other types of keys or values")
		}
		more := make([]uint64, s.Count)
		if err := ckpt.Read(ctx, from, pe, number, 0, more); err != nil {
			return nil, err
		}
		words = append(words, more...)
	}
	return words, nil
}

// become empties the map, and sets the elements whose words the members give. It is collective.
func (m *Map[K, V]) become(ctx context.Context, words []uint64) error {
	n, err := m.Len(ctx)
	if err != nil {
		return err
	}
	if n > 0 {
		var old []K
		for k := range m.Local() {
			old = append(old, k)
		}
		if err := m.DeleteAll(ctx, slices.Values(old)); err != nil {
			return err
		}
	}
	return m.SetAll(ctx, m.elementsOf(words))
}

// elementsOf iterates over elements, of which words has the words of each key and its value.
func (m *Map[K, V]) elementsOf(words []uint64) iter.Seq2[K, V] {
	key, size := m.shards.keyWords, m.shards.slotWords()-1
	return func(yield func(K, V) bool) {
		for ; len(words) > 0; words = words[size:] {
			if !yield(mapDecode[K](words[:key]), mapDecode[V](words[key:size])) {
				return
			}
		}
	}
}
