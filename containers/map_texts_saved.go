package containers

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
)

// Checkpoint makes a map an item of a ckpt.Set, with what Map.Checkpoint says.
func (t *TextMap) Checkpoint() ckpt.Parts {
	if t == nil || t.m == nil {
		notMade("TextMap.Checkpoint")
	}
	return ckpt.Parts{Kind: "TextMap", Save: t.saveElements, Restore: t.restoreElements}
}

// saveElements returns what this member has, and how many long values it has made.
func (t *TextMap) saveElements(ctx context.Context) ([]ckpt.Section, error) {
	all, err := t.m.saveElements(ctx)
	if len(all) > 0 {
		all[0].Shape = binary.AppendUvarint(nil, t.written.Load())
	}
	return all, err
}

// restoreElements sets the elements of every n-th PE that has saved some. Long values keep their numbers, so each
// member goes on with numbers that none has used.
func (t *TextMap) restoreElements(ctx context.Context, from *ckpt.Saved) error {
	m := &t.m.keys.members
	if m.Team == nil {
		return nil
	}
	keys, text, err := t.m.wordsSaved(ctx, from)
	most := t.m.mostText()
	for _, value := range t.m.keys.elementsOf(keys) {
		if !value.sound(most) {
			err = errors.New("what was saved as a value of it is none")
		}
	}
	var written uint64
	if err == nil {
		written, err = t.writtenSaved(ctx, from)
	}
	if all, err := allRestore(ctx, m, err); !all {
		return err
	}
	if written, err = pgas.MaxValue(ctx, m.Team, max(written, t.written.Load())); err != nil {
		return err
	}
	t.written.Store(written)
	return t.m.become(ctx, keys, text)
}

// writtenSaved returns the most long values that one of every n-th PE had made.
func (t *TextMap) writtenSaved(ctx context.Context, from *ckpt.Saved) (most uint64, err error) {
	m := &t.m.keys.members
	for pe := m.Me; pe < from.PEs(); pe += m.N {
		s, number, err := savedSection(ctx, from, pe, savedKeys)
		if err != nil {
			return 0, err
		}
		if number < 0 {
			continue // no member
		}
		n, ok := savedNumber(s.Shape)
		if !ok {
			return 0, errors.New("its number of long values is damaged")
		}
		most = max(most, n)
	}
	return most, nil
}
