package main_test

// Do generated accessors move the right bytes? Every method of the references in the golden cases is
// called by PE 0 on the memory of PE 1, with random arguments; a model of the record, changed field by
// field through package reflect, says what the memory must then hold, in the field and around it.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/atomics"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/design"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/locks"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/nested"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/plain"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/small"
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/views"
	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

func TestAccessors(t *testing.T) {
	const seed = 1
	for _, c := range []struct {
		name string
		body pgastest.Body
	}{
		{"design", func(ctx context.Context, w *pgas.World) error {
			s, err := design.AllocCell(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Local()))
		}},
		{"atomics", func(ctx context.Context, w *pgas.World) error {
			s, err := atomics.AllocWords(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Local()))
		}},
		{"numbers", func(ctx context.Context, w *pgas.World) error {
			s, err := plain.AllocNumbers(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Local()))
		}},
		{"shapes", func(ctx context.Context, w *pgas.World) error {
			s, err := plain.AllocShapes(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Local()))
		}},
		{"nested", func(ctx context.Context, w *pgas.World) error {
			s, err := nested.AllocTable(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Local()))
		}},
		{"locks", func(ctx context.Context, w *pgas.World) error {
			s, err := locks.AllocAccount(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Local()))
		}},
		{"views", func(ctx context.Context, w *pgas.World) error {
			s, err := views.AllocQueue(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Sym().Local()))
		}},
		{"some views", func(ctx context.Context, w *pgas.World) error {
			s, err := views.AllocSome(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Local()))
		}},
		{"small", func(ctx context.Context, w *pgas.World) error {
			s, err := small.AllocTask(ctx, w, 3)
			return errors.Join(err, drive(ctx, w, seed, s.At(1), s.Local()))
		}},
	} {
		t.Run(c.name, func(t *testing.T) { pgastest.RunGoroutines(t, 2, c.body) })
	}
}

// TestAllocs: no accessor allocates on the steady path.
func TestAllocs(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		cells, err := design.AllocCell(ctx, w, 2)
		if err != nil {
			return err
		}
		queues, err := views.AllocQueue(ctx, w, 2)
		if err != nil {
			return err
		}
		q := queues.At(1)
		c, row := cells.At(1), make([]float64, 64)
		var f float64
		for _, op := range []struct {
			name string
			f    func()
		}{
			{"PutSum", func() { c.PutSum(0, 1) }},
			{"GetSum", func() { f = c.GetSum(0) }},
			{"PutSumSignal", func() { c.PutSumSignal(0, f, c.Ready(), 1) }},
			{"PutSumNotify", func() { c.PutSumNotify(0, f, 1) }},
			{"GetSumNotify", func() { f = c.GetSumNotify(0, 1) }},
			{"PutHaloNotify", func() { c.PutHaloNotify(0, 1, row, 1) }},
			{"GetHaloNotify", func() { c.GetHaloNotify(0, 1, row, 1) }},
			{"PutHalo", func() { c.PutHalo(0, 1, row) }},
			{"GetHalo", func() { c.GetHalo(0, 1, row) }},
			{"PutHaloSignal", func() { c.PutHaloSignal(0, 1, row, c.Ready(), 1) }},
			{"Halo.At.Put", func() { c.Halo(1).At(3).Put(0, 1) }},
			{"FetchAddCount", func() { c.FetchAddCount(0, 1) }},
			{"CompareSwapCount", func() { c.CompareSwapCount(0, 1, 2) }},
			{"Tail.FetchAdd", func() { q.Tail().FetchAdd(0, 1) }},
			{"Next.CompareSwap", func() { q.Next(1).CompareSwap(0, 1, 2) }},
			{"OwnerRef.Put", func() { q.OwnerRef().Put(0, 1) }},
			{"Slots.Put", func() { q.Slots().Put(0, row[:4]) }},
			{"Span.HiRef.Get", func() { q.Span().HiRef().Get(0) }},
		} {
			if n := testing.AllocsPerRun(100, op.f); n != 0 {
				return fmt.Errorf("%s allocates %v times", op.name, n)
			}
			// the notes of these accesses are not asked for
			for _, told := notify.Probe(w, 0, 1); told; _, told = notify.Probe(w, 0, 1) {
				notify.New(w, 0, 1, 1).Start()
			}
		}
		return nil
	})
}

// A driver calls accessors on one PE, and keeps the model. Both PEs run the same driver in step.
type driver struct {
	ctx    context.Context
	w      *pgas.World
	rng    *rand.Rand
	local  reflect.Value // []T: this PE's copy of all records; the middle one is driven
	model  reflect.Value // []T
	sig    pgas.SignalRef
	arrive uint64
	called map[string]bool // "Type.Method"
}

// drive exercises ref, which refers to record 1 of the three in local.
func drive[T any](ctx context.Context, w *pgas.World, seed uint64, ref any, local []T) error {
	sigs, err := pgas.Alloc[pgas.Signal](ctx, w, 1)
	if err != nil {
		return err
	}
	d := &driver{
		ctx: ctx, w: w, rng: rand.New(rand.NewPCG(seed, 0)),
		local: reflect.ValueOf(local), model: reflect.ValueOf(make([]T, len(local))),
		sig: pgas.SignalOf(sigs, 0), called: map[string]bool{},
	}
	if err := d.record(reflect.ValueOf(ref), d.model.Index(1)); err != nil {
		return err
	}
	return d.complete(reflect.TypeOf(ref))
}

// complete reports methods that PE 0 never called.
func (d *driver) complete(t reflect.Type) error {
	if d.w.PE() != 0 {
		return nil
	}
	var missed []string
	for i := range t.NumMethod() {
		name := t.Method(i).Name
		if name != "On" && name != "Ref" && name != "Local" && !d.called[t.Name()+"."+name] {
			missed = append(missed, name)
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("%s: not called: %s", t, strings.Join(missed, " "))
	}
	return nil
}

// record exercises a reference to one record, whose model is at.
func (d *driver) record(ref, at reflect.Value) error {
	if m := ref.MethodByName("Put"); m.IsValid() {
		if err := d.moves(ref, "", nil, at); err != nil {
			return err
		}
		next := d.random(at.Type())
		if err := d.step("PutNB", func() { d.call(ref, "PutNB", 1, pointerTo(next)) }, func() { at.Set(next) }); err != nil {
			return err
		}
	}
	for i := range at.NumField() {
		f := at.Type().Field(i)
		if f.Name == "_" {
			continue
		}
		if err := d.field(ref, f, at.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// field exercises the accessors of one field.
func (d *driver) field(ref reflect.Value, f reflect.StructField, at reflect.Value) error {
	t, rank := f.Type, 0
	for t.Kind() == reflect.Array {
		t, rank = t.Elem(), rank+1
	}
	marked := false // has a reference of its own
	if m := ref.MethodByName(f.Name); m.IsValid() && m.Type().NumOut() == 1 {
		marked = strings.HasSuffix(m.Type().Out(0).Name(), "Ref") && t.Kind() == reflect.Struct && t != reflect.TypeFor[pgas.Signal]() && t != reflect.TypeFor[pgas.Lock]()
	}
	for range 4 { // other random indexes each time
		idx, elem := d.index(at, rank)
		switch {
		case t == reflect.TypeFor[pgas.Signal]():
			if err := d.signal(ref, f.Name, idx, elem); err != nil {
				return err
			}
		case t == reflect.TypeFor[pgas.Lock]():
			if err := d.lock(ref, f.Name, idx, elem); err != nil {
				return err
			}
		case strings.Contains(string(f.Tag), "atomic") && !ref.MethodByName("Set"+f.Name).IsValid():
			if err := d.views(ref, f.Name, at); err != nil {
				return err
			}
		case strings.Contains(string(f.Tag), "atomic"):
			if err := d.atomic(ref, f.Name, idx, elem); err != nil {
				return err
			}
		default:
			if marked {
				if err := d.record(d.call(ref, f.Name, idx...)[0], elem); err != nil {
					return err
				}
			}
			if !ref.MethodByName("Put" + f.Name).IsValid() {
				if err := d.views(ref, f.Name, at); err != nil {
					return err
				}
				continue
			}
			if rank == 0 {
				if err := d.moves(ref, f.Name, nil, at); err != nil {
					return err
				}
				continue
			}
			outer, inner := d.index(at, rank-1)
			if err := d.slices(ref, f.Name, outer, inner, at, marked); err != nil {
				return err
			}
		}
	}
	return nil
}

// views exercises the views of one field, each by a put or a set through it.
func (d *driver) views(ref reflect.Value, name string, at reflect.Value) error {
	var err error
	for _, view := range []string{name, name + "Slice", name + "Ref"} {
		m := ref.MethodByName(view)
		if !m.IsValid() {
			continue
		}
		idx, part := d.index(at, m.Type().NumIn())
		v, put := d.random(part.Type()), "Put"
		arg := v
		through := d.call(ref, view, idx...)[0]
		switch kind, _, _ := strings.Cut(through.Type().Name(), "["); kind {
		case "Atomic", "AtomicFloat", "AtomicSmall":
			put = "Set"
		case "Slice":
			arg = v.Slice(0, v.Len())
		case "Ref":
		default:
			continue // the reference to a record, which record exercises
		}
		err = errors.Join(err, d.step(view, func() { d.call(through, put, 1, arg) }, func() { part.Set(v) }))
	}
	return err
}

// moves exercises puts and gets of a whole field or record.
func (d *driver) moves(ref reflect.Value, name string, idx []any, at reflect.Value) error {
	v := func() reflect.Value { return d.random(at.Type()) }
	a, b, c := v(), v(), v()
	d.arrive++
	err := errors.Join(
		d.step("Put"+name, func() { d.call(ref, "Put"+name, 1, a) }, func() { at.Set(a) }),
		d.returns("Get"+name, func() any { return d.call(ref, "Get"+name, 1)[0].Interface() }, at),
		d.gets(ref, "Get"+name+"NB", idx, at),
	)
	if name == "" || err != nil {
		return err
	}
	return errors.Join(
		d.step("Put"+name+"Signal", func() { d.call(ref, "Put"+name+"Signal", 1, b, d.sig, d.arrive) }, func() { at.Set(b) }),
		d.arrived(),
		d.step("Put"+name+"SignalAdd", func() { d.call(ref, "Put"+name+"SignalAdd", 1, c, d.sig, uint64(1)) }, func() { at.Set(c); d.arrive++ }),
		d.arrived(),
		d.step("Put"+name+"Notify", func() { d.call(ref, "Put"+name+"Notify", 1, a, 5) }, func() { at.Set(a) }),
		d.notified(5),
		d.returns("Get"+name+"Notify", func() any { return d.call(ref, "Get"+name+"Notify", 1, 6)[0].Interface() }, at),
		d.notified(6),
		d.returns(name+"Ref", func() any {
			return d.call(ref, name+"Ref")[0].MethodByName("Get").Call([]reflect.Value{reflect.ValueOf(1)})[0].Interface()
		}, at),
	)
}

// slices exercises the accessors of an array.
func (d *driver) slices(ref reflect.Value, name string, idx []any, inner, all reflect.Value, marked bool) error {
	part := func() reflect.Value { // the first few elements
		s := reflect.MakeSlice(reflect.SliceOf(inner.Type().Elem()), 1+d.rng.IntN(inner.Len()), inner.Len())
		for i := range s.Len() {
			s.Index(i).Set(d.random(s.Type().Elem()))
		}
		return s
	}
	view := name
	if marked {
		view += "Slice"
	}
	at := d.rng.IntN(inner.Len())
	a, b, c, whole := part(), part(), part(), d.random(all.Type())
	pe := append([]any{1}, idx...)
	d.arrive++
	return errors.Join(
		d.step("Put"+name, func() { d.call(ref, "Put"+name, append(pe, a)...) }, func() { reflect.Copy(inner, a) }),
		d.step("Put"+name+"Signal", func() { d.call(ref, "Put"+name+"Signal", append(pe, b, d.sig, d.arrive)...) }, func() { reflect.Copy(inner, b) }),
		d.arrived(),
		d.step("Put"+name+"SignalAdd", func() { d.call(ref, "Put"+name+"SignalAdd", append(pe, c, d.sig, uint64(1))...) }, func() { reflect.Copy(inner, c); d.arrive++ }),
		d.arrived(),
		d.step("Put"+name+"Notify", func() { d.call(ref, "Put"+name+"Notify", append(pe, a, 5)...) }, func() { reflect.Copy(inner, a) }),
		d.notified(5),
		d.gets(ref, "Get"+name+"Notify", idx, inner, 6),
		d.notified(6),
		d.gets(ref, "Get"+name, idx, inner),
		d.gets(ref, "Get"+name+"NB", idx, inner),
		d.returns(view, func() any {
			element := d.call(ref, view, idx...)[0].MethodByName("At").Call([]reflect.Value{reflect.ValueOf(at)})[0]
			got := reflect.New(inner.Type()).Elem()
			got.Set(inner)
			got.Index(at).Set(element.MethodByName("Get").Call([]reflect.Value{reflect.ValueOf(1)})[0])
			return got.Interface()
		}, inner),
		d.step("Put"+name+"All", func() { d.call(ref, "Put"+name+"All", 1, whole) }, func() { all.Set(whole) }),
		d.returns("Get"+name+"All", func() any { return d.call(ref, "Get"+name+"All", 1)[0].Interface() }, all),
		d.returns(name+"Ref", func() any {
			return d.call(ref, name+"Ref")[0].MethodByName("Get").Call([]reflect.Value{reflect.ValueOf(1)})[0].Interface()
		}, all),
		d.misuse(ref, "Put"+name, append(pe, reflect.MakeSlice(a.Type(), inner.Len()+1, inner.Len()+1))),
		d.outside(ref, "Put"+name, idx, a),
	)
}

// atomic exercises the operations of one word.
func (d *driver) atomic(ref reflect.Value, name string, idx []any, at reflect.Value) error {
	pe := append([]any{1}, idx...)
	// op calls one operation; it leaves want in the word, and if it fetches returns the old value.
	op := func(method string, fetches bool, want reflect.Value, args ...any) error {
		old := reflect.New(at.Type()).Elem()
		old.Set(at)
		var got any
		err := d.step(method, func() {
			if out := d.call(ref, method, append(pe, args...)...); fetches {
				got = out[0].Interface()
			}
		}, func() { at.Set(want) })
		if err == nil && fetches && d.w.PE() == 0 && got != old.Interface() {
			err = fmt.Errorf("%s returned %v, want the old value %v", method, got, old)
		}
		return err
	}
	v, u, x := d.random(at.Type()), d.random(at.Type()), d.random(at.Type())
	other := x // what a compare-swap for v leaves: no swap
	if v.Equal(x) {
		other = u // a truth value
	}
	err := errors.Join(
		op("Set"+name, false, v, v),
		op("Fetch"+name, true, v),
		op("Swap"+name, true, u, u),
		op("CompareSwap"+name, true, x, u, x),
		op("CompareSwap"+name, true, other, v, u),
		d.returns(name, func() any {
			return d.call(ref, name, idx...)[0].MethodByName("Fetch").Call([]reflect.Value{reflect.ValueOf(1)})[0].Interface()
		}, at),
	)
	if err != nil {
		return err
	}
	if at.Type().Size() < 4 {
		return d.waitsForSmall(ref, name, idx, at, d.random(at.Type()))
	}
	if at.CanFloat() {
		a, b := d.random(at.Type()), d.random(at.Type())
		return errors.Join(
			op("Add"+name, false, sum(at, a), a),
			op("FetchAdd"+name, true, sum(at, b), b),
			d.waits(ref, name, idx, at, sum(at, reflect.ValueOf(1).Convert(at.Type()))))
	}
	for _, o := range []struct {
		name string
		f    func(x, y uint64) uint64
	}{
		{"Add", func(x, y uint64) uint64 { return x + y }},
		{"And", func(x, y uint64) uint64 { return x & y }},
		{"Or", func(x, y uint64) uint64 { return x | y }},
		{"Xor", func(x, y uint64) uint64 { return x ^ y }},
	} {
		a, b := d.random(at.Type()), d.random(at.Type())
		if err := op(o.name+name, false, combined(at, a, o.f), a); err != nil {
			return err
		}
		if err := op("Fetch"+o.name+name, true, combined(at, b, o.f), b); err != nil {
			return err
		}
	}
	one := reflect.ValueOf(1).Convert(at.Type())
	add := func(x, y uint64) uint64 { return x + y }
	if err := op("Inc"+name, false, combined(at, one, add)); err != nil {
		return err
	}
	if err := op("FetchInc"+name, true, combined(at, one, add)); err != nil {
		return err
	}
	return d.waits(ref, name, idx, at, combined(at, one, add))
}

// sum returns the sum of two floating-point numbers, in their type and with its precision.
func sum(x, y reflect.Value) reflect.Value {
	v := reflect.New(x.Type()).Elem()
	v.SetFloat(x.Float() + y.Float())
	return v
}

// combined returns f of two integers, in their type.
func combined(x, y reflect.Value, f func(x, y uint64) uint64) reflect.Value {
	bits := func(v reflect.Value) uint64 {
		if v.CanInt() {
			return uint64(v.Int())
		}
		return v.Uint()
	}
	return reflect.ValueOf(f(bits(x), bits(y))).Convert(x.Type())
}

// waits lets PE 1 wait for v, which PE 0 sets.
func (d *driver) waits(ref reflect.Value, name string, idx []any, at, v reflect.Value) error {
	if d.w.PE() == 0 {
		d.call(ref, "Set"+name, append(append([]any{1}, idx...), v)...)
	}
	d.called[ref.Type().Name()+".WaitUntil"+name] = true
	if d.w.PE() == 1 {
		args := append(append([]any{d.ctx}, idx...), pgas.EQ, v)
		out := d.call(ref, "WaitUntil"+name, args...)
		if err, _ := out[1].Interface().(error); err != nil || out[0].Interface() != v.Interface() {
			return fmt.Errorf("WaitUntil%s returned %v, %v; want %v", name, out[0], err, v)
		}
	}
	return d.step("WaitUntil"+name, func() {}, func() { at.Set(v) })
}

// waitsForSmall lets PE 1 wait for v, a small value, which PE 0 sets.
func (d *driver) waitsForSmall(ref reflect.Value, name string, idx []any, at, v reflect.Value) error {
	if d.w.PE() == 0 {
		d.call(ref, "Set"+name, append(append([]any{1}, idx...), v)...)
	}
	d.called[ref.Type().Name()+".WaitUntil"+name] = true
	if d.w.PE() == 1 {
		out := d.call(ref, "WaitUntil"+name, append(append([]any{d.ctx}, idx...), v)...)
		if err, _ := out[0].Interface().(error); err != nil {
			return fmt.Errorf("WaitUntil%s: %w", name, err)
		}
	}
	return d.step("WaitUntil"+name, func() {}, func() { at.Set(v) })
}

// signal exercises a signal field: PE 0 sets it, PE 1 waits for it.
func (d *driver) signal(ref reflect.Value, name string, idx []any, at reflect.Value) error {
	v := d.rng.Uint64()
	sig := d.call(ref, name, idx...)[0].Interface().(pgas.SignalRef)
	if d.w.PE() == 0 {
		sig.Set(1, v)
	} else if got, err := sig.WaitUntil(d.ctx, pgas.EQ, v); err != nil || got != v {
		return fmt.Errorf("signal %s: %d, %v", name, got, err)
	}
	// The model cannot spell a signal's value, so it takes over the word that has just been checked.
	if d.w.PE() == 1 {
		reflect.NewAt(at.Type(), at.Addr().UnsafePointer()).Elem().Set(d.twin(at))
	}
	return d.step(name, func() {}, func() {})
}

// lock exercises a lock field: PE 1 cannot take what PE 0 holds, and then both get it.
func (d *driver) lock(ref reflect.Value, name string, idx []any, at reflect.Value) error {
	lock := d.call(ref, name, idx...)[0].Interface().(pgas.LockRef)
	var err error
	if d.w.PE() == 0 {
		err = lock.Lock(d.ctx)
	}
	err = errors.Join(err, d.w.Barrier(d.ctx))
	if d.w.PE() == 1 && lock.TryLock() {
		err = fmt.Errorf("%s was taken twice", name)
	}
	if err = errors.Join(err, d.w.Barrier(d.ctx)); err != nil {
		return err
	}
	if d.w.PE() == 0 {
		err = lock.Unlock()
	} else if err = lock.Lock(d.ctx); err == nil {
		err = lock.Unlock()
	}
	if err = errors.Join(err, d.w.Barrier(d.ctx)); err != nil {
		return err
	}
	// What its words are is its own business.
	if d.w.PE() == 1 {
		reflect.NewAt(at.Type(), at.Addr().UnsafePointer()).Elem().Set(d.twin(at))
	}
	return d.step(name, func() {}, func() {})
}

// twin returns the place in this PE's memory that corresponds to a place in the model.
func (d *driver) twin(at reflect.Value) reflect.Value {
	off := at.Addr().Pointer() - d.model.Index(0).Addr().Pointer()
	for i := range d.local.Len() {
		if v, ok := placed(d.local.Index(i), at.Type(), off-uintptr(i)*d.local.Type().Elem().Size()); ok {
			return v
		}
	}
	panic("the model and the memory differ in shape")
}

// placed finds the part of v that has type t and is off bytes from its start.
func placed(v reflect.Value, t reflect.Type, off uintptr) (reflect.Value, bool) {
	switch {
	case off >= v.Type().Size():
		return reflect.Value{}, false
	case off == 0 && v.Type() == t:
		return v, true
	case v.Kind() == reflect.Array:
		size := v.Type().Elem().Size()
		return placed(v.Index(int(off/size)), t, off%size)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if off >= f.Offset && off < f.Offset+f.Type.Size() {
				return placed(v.Field(i), t, off-f.Offset)
			}
		}
	}
	return reflect.Value{}, false
}

// step runs do on PE 0 and want on both models, and compares PE 1's memory with its model.
func (d *driver) step(name string, do, want func()) error {
	if d.w.PE() == 0 {
		do()
	}
	want()
	if err := d.w.Barrier(d.ctx); err != nil {
		return err
	}
	var err error
	if d.w.PE() == 1 && !reflect.DeepEqual(d.local.Interface(), d.model.Interface()) {
		err = fmt.Errorf("%s: memory is\n%+v\nwant\n%+v", name, d.local, d.model)
	}
	return errors.Join(err, d.w.Barrier(d.ctx))
}

// returns checks what PE 0 gets.
func (d *driver) returns(name string, get func() any, want reflect.Value) error {
	if d.w.PE() == 0 {
		if got := get(); !reflect.DeepEqual(got, want.Interface()) {
			return fmt.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	return nil
}

// gets checks a get into memory: of a pointer, or of a slice shorter than the field. more are arguments
// behind that.
func (d *driver) gets(ref reflect.Value, method string, idx []any, want reflect.Value, more ...any) error {
	if d.w.PE() != 0 {
		return nil
	}
	dst, got := reflect.New(want.Type()), reflect.Value{}
	arg := dst
	m := ref.MethodByName(method).Type()
	if in := m.In(m.NumIn() - 1 - len(more)); in.Kind() == reflect.Slice {
		n := (want.Len() + 1) / 2
		arg = reflect.MakeSlice(in, n, n)
		got, want = arg, want.Slice(0, n)
	} else {
		got = dst.Elem()
	}
	d.call(ref, method, append(append(append([]any{1}, idx...), arg), more...)...)
	if err := d.w.Quiet(d.ctx); err != nil {
		return err
	}
	for i := range lengthOf(got) {
		if !reflect.DeepEqual(partOf(got, i), partOf(want, i)) {
			return fmt.Errorf("%s: got %v, want %v", method, got, want)
		}
	}
	return nil
}

func lengthOf(v reflect.Value) int {
	if v.Kind() == reflect.Slice {
		return v.Len()
	}
	return 1
}

func partOf(v reflect.Value, i int) any {
	if v.Kind() == reflect.Slice {
		return v.Index(i).Interface()
	}
	return v.Interface()
}

// arrived lets PE 1 check the signal that came with a put.
func (d *driver) arrived() error {
	var err error
	if got := d.sig.Fetch(); d.w.PE() == 1 && got != d.arrive {
		err = fmt.Errorf("the signal is %d, want %d", got, d.arrive)
	}
	return errors.Join(err, d.w.Barrier(d.ctx))
}

// notified checks that PE 1 was notified once with that tag.
func (d *driver) notified(tag int) error {
	var err error
	if d.w.PE() == 1 {
		r := notify.New(d.w, 0, tag, 1)
		r.Start()
		_, err = r.Wait(d.ctx)
	}
	return errors.Join(err, d.w.Barrier(d.ctx))
}

// misuse checks that a call panics with a usage error, and moves nothing.
func (d *driver) misuse(ref reflect.Value, method string, args []any) (err error) {
	defer func() {
		if _, ok := recover().(*pgas.UsageError); !ok {
			err = fmt.Errorf("%s%v: no usage error", method, args)
		}
	}()
	d.call(ref, method, args...)
	return nil
}

// outside checks that indexes out of range are misuse.
func (d *driver) outside(ref reflect.Value, method string, idx []any, last ...any) error {
	for i := range idx {
		for _, bad := range []int{-1, 1000} {
			args := append([]any{1}, idx...)
			args[1+i] = bad
			if err := d.misuse(ref, method, append(args, last...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// call calls a method of a reference.
func (d *driver) call(ref reflect.Value, method string, args ...any) []reflect.Value {
	d.called[ref.Type().Name()+"."+method] = true
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		v, ok := a.(reflect.Value)
		if !ok {
			v = reflect.ValueOf(a)
		}
		in[i] = v
	}
	return ref.MethodByName(method).Call(in)
}

// index picks random indexes of an array, and what they select.
func (d *driver) index(at reflect.Value, rank int) (idx []any, elem reflect.Value) {
	for range rank {
		i := d.rng.IntN(at.Len())
		idx, at = append(idx, i), at.Index(i)
	}
	return idx, at
}

// random returns a random value of a type.
func (d *driver) random(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	d.fill(v)
	return v
}

func (d *driver) fill(v reflect.Value) {
	switch {
	case v.CanInt():
		v.SetInt(d.rng.Int64())
	case v.CanUint():
		v.SetUint(d.rng.Uint64())
	case v.CanFloat():
		v.SetFloat(d.rng.Float64())
	case v.CanComplex():
		v.SetComplex(complex(d.rng.Float64(), d.rng.Float64()))
	case v.Kind() == reflect.Bool:
		v.SetBool(d.rng.IntN(2) == 0)
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			d.fill(v.Index(i))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				d.fill(v.Field(i))
			}
		}
	default:
		panic("no random " + v.Type().String())
	}
}

func pointerTo(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}
