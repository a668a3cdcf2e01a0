package ckpt

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// Sym is the memory of s on every PE. It is restored on the same number of PEs only.
func Sym[T any](s pgas.Sym[T]) Item { return symItem[T]{s} }

type symItem[T any] struct{ s pgas.Sym[T] }

func (x symItem[T]) Checkpoint() Parts { return Parts{"Sym", x.save, x.restore} }

func (x symItem[T]) save(context.Context) ([]Section, error) {
	return []Section{Elements(x.s.Local())}, nil
}

func (x symItem[T]) restore(ctx context.Context, from *Saved) error {
	pe, err := from.Own()
	if err != nil {
		return err
	}
	saved, err := from.one(ctx, pe)
	if err != nil {
		return err
	}
	if err := MustBe[T](&saved); err != nil {
		return err
	}
	local := x.s.Local()
	if saved.Count != len(local) {
		return fmt.Errorf("it has %s, and was saved with %d", plural.Count(len(local), "element"), saved.Count)
	}
	return Read(ctx, from, pe, 0, 0, local)
}

// Shared is a Go value that is equal on all PEs, such as the number of the next step: a Save fails if it is not. It is
// restored on any number of PEs. The value is an encoding.BinaryMarshaler, or one that encoding/gob takes. Values that
// are equal must have equal bytes, which maps do not.
func Shared[T any](p *T) Item { return valueItem[T]{p, true} }

// Value is a Go value of each PE, in the form of Shared. It is restored on the same number of PEs only.
func Value[T any](p *T) Item { return valueItem[T]{p, false} }

type valueItem[T any] struct {
	p    *T
	same bool
}

func (x valueItem[T]) Checkpoint() Parts {
	if x.same {
		return Parts{"Shared", x.save, x.restore}
	}
	return Parts{"Value", x.save, x.restore}
}

func (x valueItem[T]) save(context.Context) ([]Section, error) {
	b, err := encode(x.p)
	return []Section{{Width: 1, Count: len(b), Same: x.same, Data: [][]byte{b}}}, err
}

func (x valueItem[T]) restore(ctx context.Context, from *Saved) (err error) {
	pe := from.me % from.PEs() // all have the same
	if !x.same {
		if pe, err = from.Own(); err != nil {
			return err
		}
	}
	b, err := from.all(ctx, pe)
	if err != nil {
		return err
	}
	var v T
	if err := decode(b, &v); err != nil {
		return err
	}
	*x.p = v
	return nil
}

// Values are Go values of all PEs, such as tasks: those of each PE, in the order of the PEs. They are restored on any
// number of PEs, and dealt out so that each has as many as the others to within one, in the same order.
func Values[T any](p *[]T) Item { return valuesItem[T]{p} }

type valuesItem[T any] struct{ p *[]T }

func (x valuesItem[T]) Checkpoint() Parts { return Parts{"Values", x.save, x.restore} }

func (x valuesItem[T]) save(context.Context) ([]Section, error) {
	b, err := encode(x.p)
	n := binary.AppendUvarint(nil, uint64(len(*x.p)))
	return []Section{{Width: 1, Count: len(b), Shape: n, Data: [][]byte{b}}}, err
}

func (x valuesItem[T]) restore(ctx context.Context, from *Saved) error {
	begins := []int{0} // the number of the first value of each PE, and of all
	for pe := range from.PEs() {
		s, err := from.one(ctx, pe)
		if err != nil {
			return err
		}
		n, used := binary.Uvarint(s.Shape)
		if used <= 0 || n > uint64(s.Count) { // a value has a byte at least
			return fmt.Errorf("PE %d has saved %s in %d bytes", pe, plural.Count(n, "value"), s.Count)
		}
		begins = append(begins, begins[pe]+int(n))
	}
	lo, hi := from.team.Share(begins[from.PEs()])
	var mine []T
	for pe := range from.PEs() {
		if begins[pe+1] <= lo || hi <= begins[pe] {
			continue
		}
		b, err := from.all(ctx, pe)
		if err != nil {
			return err
		}
		var v []T
		if err := decode(b, &v); err != nil {
			return err
		}
		if len(v) != begins[pe+1]-begins[pe] {
			return fmt.Errorf("PE %d has saved %s, and has counted %d", pe, plural.Count(len(v), "value"), begins[pe+1]-begins[pe])
		}
		mine = append(mine, v[max(lo, begins[pe])-begins[pe]:min(hi, begins[pe+1])-begins[pe]]...)
	}
	*x.p = slices.Clip(mine)
	return nil
}

// encode returns the bytes of *p.
func encode[T any](p *T) ([]byte, error) {
	if m, ok := any(p).(encoding.BinaryMarshaler); ok {
		return m.MarshalBinary()
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(p)
	return out.Bytes(), err
}

// decode sets *p, which is zero, to what b holds.
func decode[T any](b []byte, p *T) error {
	if m, ok := any(p).(encoding.BinaryUnmarshaler); ok {
		return m.UnmarshalBinary(b)
	}
	return gob.NewDecoder(bytes.NewReader(b)).Decode(p)
}
