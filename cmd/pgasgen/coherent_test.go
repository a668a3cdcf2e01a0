package main_test

// Do accessors of coherent records reach the right bytes? PE 0 sets each field of a record, and each element of its
// arrays, through the generated methods; a model, changed by field through package reflect, says what PE 1 must then
// find in the whole record, and through the accessors that read.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/coherent"
	"github.com/gopgas/gopgas/dsm"
	"github.com/gopgas/gopgas/dsm/pager"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// The accessors do the same in each mode, for PEs of each kind.
func TestCoherentAccessors(t *testing.T) {
	body := func(mode dsm.Mode) pgastest.Body {
		return func(ctx context.Context, w *pgas.World) error { return coherentBody(ctx, w, mode) }
	}
	t.Run("shared", func(t *testing.T) {
		pgastest.RunGoroutines(t, 2, body(dsm.Shared))
		pgastest.RunProcesses(t, 2, body(dsm.Shared))
	})
	t.Run("soft", func(t *testing.T) { pgastest.Run(t, 2, body(dsm.Soft)) })
	t.Run("paged", func(t *testing.T) {
		if err := pager.Available(); err != nil {
			t.Skip(err)
		}
		pgastest.Run(t, 2, body(dsm.Paged))
	})
}

// coherentBody writes records on PE 0, of which some are in two blocks, and compares them on both PEs.
func coherentBody(ctx context.Context, w *pgas.World, mode dsm.Mode) error {
	const n = 40
	r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 20, Block: 4096, Mode: mode})
	if err != nil {
		return err
	}
	bodies, err := coherent.AllocBody(ctx, r, n)
	if err != nil {
		return err
	}
	if bodies.Len() != n {
		return fmt.Errorf("%d records, want %d", bodies.Len(), n)
	}
	var model [n]coherent.Body
	random := &driver{rng: rand.New(rand.NewPCG(1, 1))}
	for i := range model {
		ref := reflect.ValueOf(bodies.At(i))
		setFields(random, ref, reflect.ValueOf(&model[i]).Elem(), w.PE() == 0)
	}
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	for i, view := range bodies.View(0, n) {
		if view != model[i] {
			return fmt.Errorf("record %d is %+v, want %+v", i, view, model[i])
		}
		if err := getFields(reflect.ValueOf(bodies.At(i)), reflect.ValueOf(model[i])); err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
	}
	return errors.Join(badElement(func() { bodies.At(0).PosAt(3) }), badElement(func() { bodies.At(0).SetTableAt(0, -1, 1) }),
		badElement(func() { bodies.At(n).Mass() }), badElement(func() { bodies.At(-1).SetMass(1) }), r.Close(ctx))
}

// setFields sets all fields of the model to random values and then one element of each array, and does the same through
// the accessors if do is set.
func setFields(d *driver, ref, model reflect.Value, do bool) {
	set := func(name string, args ...reflect.Value) {
		if do {
			ref.MethodByName(name).Call(args)
		}
	}
	for i := range model.NumField() {
		name, field := model.Type().Field(i).Name, model.Field(i)
		if name == "_" {
			continue
		}
		field.Set(d.random(field.Type()))
		set("Set"+name, reflect.ValueOf(field.Interface()))
		var index []reflect.Value
		for field.Kind() == reflect.Array {
			k := d.rng.IntN(field.Len())
			index, field = append(index, reflect.ValueOf(k)), field.Index(k)
		}
		if index != nil {
			field.Set(d.random(field.Type()))
			set("Set"+name+"At", append(index, reflect.ValueOf(field.Interface()))...)
		}
	}
}

// getFields compares what the accessors return with the model.
func getFields(ref, model reflect.Value) error {
	for i := range model.NumField() {
		name, field := model.Type().Field(i).Name, model.Field(i)
		if name == "_" {
			continue
		}
		if got := ref.MethodByName(name).Call(nil)[0]; got.Interface() != field.Interface() {
			return fmt.Errorf("%s is %v, want %v", name, got, field)
		}
		var index []reflect.Value
		for field.Kind() == reflect.Array {
			k := field.Len() - 1
			index, field = append(index, reflect.ValueOf(k)), field.Index(k)
		}
		if index == nil {
			continue
		}
		if got := ref.MethodByName(name + "At").Call(index)[0]; got.Interface() != field.Interface() {
			return fmt.Errorf("%sAt%v is %v, want %v", name, index, got, field)
		}
	}
	return nil
}

// badElement reports whether f does not panic with *pgas.UsageError.
func badElement(f func()) (err error) {
	defer func() {
		if _, ok := recover().(*pgas.UsageError); !ok {
			err = errors.New("an index out of range is no misuse")
		}
	}()
	f()
	return nil
}

// TestCoherentLayout: PEs whose records differ in their layout learn it from the allocation.
func TestCoherentLayout(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 20})
		if err != nil {
			return err
		}
		if w.PE() == 0 {
			_, err = coherent.AllocTree(ctx, r, 8)
		} else {
			_, err = dsm.AllocLayout[coherent.Tree](ctx, r, 8, 1) //pgasvet:ok tests the mismatch
		}
		var mismatch *pgas.MismatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "layout") {
			return fmt.Errorf("layouts that differ: %v", err)
		}
		return nil
	})
}

// TestCoherentAllocs: no accessor of a coherent record allocates, in any mode, once this PE has the record.
func TestCoherentAllocs(t *testing.T) {
	for _, mode := range []dsm.Mode{dsm.Shared, dsm.Soft} {
		pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
			r, err := dsm.Open(ctx, w, dsm.Options{Bytes: 1 << 20, Mode: mode})
			if err != nil {
				return err
			}
			bodies, err := coherent.AllocBody(ctx, r, 4)
			if err != nil {
				return err
			}
			n := testing.AllocsPerRun(100, func() {
				b := bodies.At(1)
				b.SetMass(b.Mass() + 1)
				b.SetPosAt(1, b.PosAt(2)+1)
				b.SetMoment(b.Moment())
			})
			if n != 0 || bodies.At(1).Mass() != 101 { // AllocsPerRun has one run to warm up
				return fmt.Errorf("mode %v: %v allocations, and mass %v after 101 steps", mode, n, bodies.At(1).Mass())
			}
			return r.Close(ctx)
		})
	}
}
