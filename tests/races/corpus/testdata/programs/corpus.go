package programs

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas"
)

// A pair is a function that is two programs: with right false it makes one mistake, and with right true it is the
// same program without the mistake. The function marks the two lines that conflict with the comments "first" and
// "then". Where one line is both, its comment is "first and then".
type pair struct {
	npes int
	f    func(ctx context.Context, w *pgas.World, right bool) error
}

// A Program is a small program for a few PEs, which is right or makes one mistake.
type Program struct {
	Theme   string // the kind of its mistake, as the file that it stands in
	Name    string // its function
	NPEs    int
	Right   bool
	OneHost bool // the PEs use each other's memory, so that they must be on one host

	f func(ctx context.Context, w *pgas.World, right bool) error
}

// Programs returns all programs, each wrong one before its right twin.
func Programs() (all []Program) {
	for _, theme := range []struct {
		name  string
		pairs []pair
	}{
		{"local", local()}, {"strided", strided()}, {"remote", remote()}, {"order", order()}, {"meet", meet()},
		{"signal", signal()}, {"notified", notified()}, {"notes", notes()}, {"atomic", atomics()}, {"lock", lock()},
		{"collective", collective()}, {"contexts", contexts()}, {"threads", threads()}, {"team", team()}, {"ptr", ptr()},
	} {
		for _, p := range theme.pairs {
			name := runtime.FuncForPC(reflect.ValueOf(p.f).Pointer()).Name()
			name = name[strings.LastIndexByte(name, '.')+1:]
			for _, right := range []bool{false, true} {
				all = append(all, Program{theme.name, name, p.npes, right, theme.name == "ptr", p.f})
			}
		}
	}
	return all
}

// String returns the name of the program in a table.
func (p Program) String() string {
	if p.Right {
		return p.Theme + "/" + p.Name + "/right"
	}
	return p.Theme + "/" + p.Name + "/wrong"
}

// Body runs the program on one PE. It returns an error if the program notices that its data is not what it should be.
func (p Program) Body(ctx context.Context, w *pgas.World) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case failure:
			err = v.error
		default:
			panic(v)
		}
	}()
	wrong := new(atomic.Pointer[failure])
	err = p.f(context.WithValue(ctx, wrongData{}, wrong), w, p.Right)
	if found := wrong.Load(); err == nil && found != nil {
		err = found
	}
	return err
}

// wrongData is the key of the place in a PE's context for the first wrong data that the program has found.
type wrongData struct{}

// failure is what ends a program from within must, or what it returns at its end for want.
type failure struct{ error }

func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// seen returns the value of a wait that has not failed.
func seen[T any](v T, err error) T {
	must(err)
	return v
}

// want notes that the program's data is wrong. The program goes on, so that it makes all its accesses.
func want(ctx context.Context, got, right int64) { wantOneOf(ctx, got, right) }

// wantOneOf does so if the data is none of some values.
func wantOneOf(ctx context.Context, got int64, right ...int64) {
	if !slices.Contains(right, got) {
		wrong := ctx.Value(wrongData{}).(*atomic.Pointer[failure])
		wrong.CompareAndSwap(nil, &failure{fmt.Errorf("the data is %d, want one of %v", got, right)})
	}
}

// use is a use of a value that the compiler cannot remove.
//
//go:noinline
func use(int64) {}

// numbers returns 64 numbers on every PE.
func numbers(ctx context.Context, w *pgas.World) pgas.Slice[int64] {
	return many(ctx, w, 64)
}

// many returns n numbers on every PE.
func many(ctx context.Context, w *pgas.World, n int) pgas.Slice[int64] {
	return seen(pgas.Alloc[int64](ctx, w, n)).All()
}

// words returns 4 numbers on every PE that are used as atomic words.
func words(ctx context.Context, w *pgas.World) pgas.Sym[int64] {
	return seen(pgas.Alloc[int64](ctx, w, 4))
}

// signals returns 4 signals on every PE.
func signals(ctx context.Context, w *pgas.World) pgas.Sym[pgas.Signal] {
	return seen(pgas.Alloc[pgas.Signal](ctx, w, 4))
}
