package ckpt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// memory is a Store that fails at a call with a number, and counts its calls.
type memory struct {
	mu     sync.Mutex
	files  map[string][]byte
	calls  int
	failAt int    // 0: at none
	refuse string // no file that begins so is made; "": every one is
}

var errStore = errors.New("the store fails")

func (m *memory) String() string { return "memory" }

func (m *memory) call() error {
	m.calls++
	if m.calls == m.failAt {
		return errStore
	}
	return nil
}

func (m *memory) locked(f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call(); err != nil {
		return err
	}
	return f()
}

type memoryWriter struct {
	bytes.Buffer
	m    *memory
	name string
}

func (m *memory) Create(_ context.Context, name string) (w ckpt.Writer, err error) {
	return &memoryWriter{m: m, name: name}, m.locked(func() error {
		if m.refuse != "" && strings.HasPrefix(name, m.refuse) {
			return errStore
		}
		return nil
	})
}

func (w *memoryWriter) Write(b []byte) (n int, err error) {
	return len(b), w.m.locked(func() error { w.Buffer.Write(b); return nil })
}

func (w *memoryWriter) Close() error {
	return w.m.locked(func() error {
		if w.m.files == nil {
			w.m.files = map[string][]byte{}
		}
		w.m.files[w.name] = w.Bytes()
		return nil
	})
}

func (w *memoryWriter) Abort() {}

type memoryReader struct{ *bytes.Reader }

func (memoryReader) Close() error { return nil }

func (m *memory) Open(_ context.Context, name string) (r ckpt.Reader, err error) {
	return r, m.locked(func() error {
		b, ok := m.files[name]
		if !ok {
			return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		r = memoryReader{bytes.NewReader(b)}
		return nil
	})
}

func (m *memory) List(_ context.Context, prefix string) (names []string, err error) {
	return names, m.locked(func() error {
		for _, name := range slices.Sorted(maps.Keys(m.files)) {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		return nil
	})
}

func (m *memory) Remove(_ context.Context, name string) error {
	return m.locked(func() error { delete(m.files, name); return nil })
}

// job runs a body on n PEs with a set of all items. The state is what it is after a number of steps, on n PEs.
type job struct {
	step  int
	tasks []int
	own   string
	local []int64
}

func (j *job) set(ctx context.Context, w *pgas.World, store ckpt.Store, sym bool) (*ckpt.Set, error) {
	set := ckpt.New(w, ckpt.In(store))
	set.Add("step", ckpt.Shared(&j.step))
	set.Add("tasks", ckpt.Values(&j.tasks))
	if sym {
		s, err := pgas.Alloc[int64](ctx, w, 100)
		if err != nil {
			return nil, err
		}
		j.local = s.Local()
		set.Add("own", ckpt.Value(&j.own))
		set.Add("memory", ckpt.Sym(s))
	}
	return set, nil
}

// make makes the state after a number of steps: 10 tasks on each PE and one more on PE 0 for each step.
func (j *job) make(w *pgas.World, step int) {
	j.step, j.own, j.tasks = step, fmt.Sprintf("PE %d after step %d", w.PE(), step), nil
	for i := range 10 {
		j.tasks = append(j.tasks, 1000*step+10*w.PE()+i)
	}
	for i := range j.local {
		j.local[i] = int64(1000*w.PE() + 100*step + i)
	}
}

// is returns an error unless the state is that of a step on n PEs.
func (j *job) is(ctx context.Context, w *pgas.World, step, n int) error {
	all, err := pgas.AllGather(ctx, w.Team(), j.tasks)
	if err != nil {
		return err
	}
	tasks := slices.Concat(all...)
	for i, v := range tasks {
		if v != 1000*step+i {
			return fmt.Errorf("task %d is %d", i, v)
		}
	}
	if lo, hi := w.Team().Share(10 * n); len(tasks) != 10*n || len(j.tasks) != hi-lo || j.step != step {
		return fmt.Errorf("%d tasks, %d of them here, step %d; want %d, %d and %d", len(tasks), len(j.tasks), j.step, 10*n, hi-lo, step)
	}
	if j.local == nil {
		return nil
	}
	if want := fmt.Sprintf("PE %d after step %d", w.PE(), step); j.own != want {
		return fmt.Errorf("%q, want %q", j.own, want)
	}
	for i, v := range j.local {
		if v != int64(1000*w.PE()+100*step+i) {
			return fmt.Errorf("word %d is %d", i, v)
		}
	}
	return nil
}

var errFails = errors.New("the job fails")

// run runs a job on n PEs: it must find the state of step from on fromPEs, or none if that is 0, and saves each of the
// next steps. A negative number of steps makes it fail instead.
func run(t *testing.T, n int, store ckpt.Store, sym bool, from, fromPEs, steps int) error {
	return pgastest.Goroutines(t.Context(), n, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
		var j job
		set, err := j.set(ctx, w, store, sym)
		if err != nil {
			return err
		}
		_, ok, err := set.Restore(ctx)
		if err != nil {
			return err
		}
		if ok != (fromPEs > 0) {
			return fmt.Errorf("restored: %t", ok)
		}
		if ok {
			if err := j.is(ctx, w, from, fromPEs); err != nil {
				return err
			}
		}
		if steps < 0 {
			return errFails
		}
		for step := from + 1; step <= from+steps; step++ {
			j.make(w, step)
			if err := set.Save(ctx); err != nil {
				return fmt.Errorf("step %d: %w", step, err)
			}
			j.make(w, -1) // while the cut is written
			if _, err := set.Wait(ctx); err != nil {
				return fmt.Errorf("step %d: %w", step, err)
			}
		}
		return nil
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRestart: a job goes on from the newest cut, in a directory too, on the same and on other numbers of PEs.
func TestRestart(t *testing.T) {
	for name, store := range map[string]ckpt.Store{"memory": &memory{}, "directory": ckpt.Dir(filepath.Join(t.TempDir(), "new", "ckpt"))} {
		t.Run(name, func(t *testing.T) {
			must(t, run(t, 1, store, false, 0, 0, 3))
			must(t, run(t, 8, store, false, 3, 1, 1))
			must(t, run(t, 3, store, false, 4, 8, 2))
			must(t, run(t, 5, store, false, 6, 3, 1))
			names, err := store.List(t.Context(), "")
			if err != nil || len(names) != 2+3+5+1 { // two cuts and the owner
				t.Errorf("%v is left, %v", names, err)
			}
		})
	}
	store := ckpt.Dir(t.TempDir())
	must(t, run(t, 4, store, true, 0, 0, 2))
	must(t, run(t, 4, store, true, 2, 4, 2))
	err := run(t, 3, store, true, 4, 4, 0)
	if err == nil || !strings.Contains(err.Error(), "start the job with 4 PEs, and not with 3") {
		t.Errorf("on 3 PEs: %v", err)
	}
}

// TestStoreFails: a Store that fails at a call, whichever, makes Save or Restore fail, and leaves a cut from which the
// next job goes on: the one before, or the new one if all of it was there.
func TestStoreFails(t *testing.T) {
	before := &memory{}
	must(t, run(t, 2, before, true, 0, 0, 2))
	whole := clone(before)
	must(t, run(t, 2, whole, true, 2, 2, 2))
	calls := whole.calls
	for failAt := 1; failAt <= calls; failAt++ {
		store := clone(before)
		store.failAt = failAt
		err := run(t, 2, store, true, 2, 2, 2)
		store.failAt = 0
		found := 0
		for step := 2; step <= 4 && found == 0; step++ {
			if run(t, 2, clone(store), true, step, 2, 1) == nil {
				found = step
			}
		}
		switch {
		case found == 0:
			t.Errorf("call %d fails: no cut is left (%v)", failAt, err)
		case err == nil && found != 4, err != nil && !strings.Contains(err.Error(), errStore.Error()):
			t.Errorf("call %d fails: the job ends with %v, and step %d is found", failAt, err, found)
		}
	}
	if calls < 20 {
		t.Errorf("%d calls", calls)
	}
}

func clone(m *memory) *memory { return &memory{files: maps.Clone(m.files)} }

// TestDamagedCut: the cut before a damaged one is taken, and if both are, an error says so on every PE.
func TestDamagedCut(t *testing.T) {
	path := t.TempDir()
	must(t, run(t, 2, ckpt.Dir(path), true, 0, 0, 2))
	damage := func(pattern string) {
		names, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		b, err := os.ReadFile(names[0])
		must(t, err)
		b[len(b)/2] ^= 1
		must(t, os.WriteFile(names[0], b, 0o600))
	}
	damage("c000002-t0001/pe00001.img")
	must(t, run(t, 2, ckpt.Dir(path), true, 1, 2, 0))
	damage("c000001-t0001/pe00000.img")
	err := run(t, 2, ckpt.Dir(path), true, 1, 2, 0)
	if err == nil || !strings.Contains(err.Error(), "none of the 2 cuts") {
		t.Errorf("both are damaged: %v", err)
	}
}

// TestImageOfAnotherJob: a cut with an image of the same cut of another job is damaged. Two jobs that begin at the same
// moment may leave one.
func TestImageOfAnotherJob(t *testing.T) {
	one, other := &memory{}, &memory{}
	for _, store := range []*memory{one, other} {
		must(t, run(t, 2, store, true, 0, 0, 2))
	}
	const image = "c000002-t0001/pe00001.img"
	if len(one.files[image]) != len(other.files[image]) {
		t.Fatal("the images differ in size")
	}
	one.files[image] = other.files[image]
	must(t, run(t, 2, one, true, 1, 2, 0))
}

// TestOwnerIsLost: a start has a term of its own, also if the file is damaged that says which job has begun last.
func TestOwnerIsLost(t *testing.T) {
	store := &memory{}
	must(t, run(t, 2, store, true, 0, 0, 1))
	store.files["job.json"] = []byte("{")
	must(t, run(t, 2, store, true, 1, 2, 1))
	if names, err := store.List(t.Context(), "c000002-t0002.json"); len(names) != 1 {
		t.Errorf("the cut of the second start: %v, %v", names, err)
	}
}

// TestStarts: a cut from which two jobs have begun that saved nothing is passed over, until that is so of all cuts.
// Jobs that end well do not count, nor those that are refused.
func TestStarts(t *testing.T) {
	store := &memory{}
	must(t, run(t, 2, store, true, 0, 0, 2))
	for range 5 {
		must(t, run(t, 2, store, true, 2, 2, 0)) // this ends well
	}
	for range 3 {
		if err := run(t, 3, store, true, 2, 2, 0); err == nil || !strings.Contains(err.Error(), "start the job with 2 PEs") {
			t.Fatal(err)
		}
	}
	for _, step := range []int{2, 2, 1, 1, 2, 2} {
		if err := run(t, 2, store, true, step, 2, -1); err == nil || !strings.Contains(err.Error(), errFails.Error()) {
			t.Fatal(err)
		}
	}
	must(t, run(t, 2, store, true, 1, 2, 1)) // a new step 2
	must(t, run(t, 2, store, true, 2, 2, 0))
}

// TestSharedDiffers: a Save fails on all PEs if they have different values of a Shared item.
func TestSharedDiffers(t *testing.T) {
	store := &memory{}
	err := pgastest.Goroutines(t.Context(), 3, pgastest.Options{Check: true}, func(ctx context.Context, w *pgas.World) error {
		step := 7
		set := ckpt.New(w, ckpt.In(store))
		set.Add("step", ckpt.Shared(&step))
		if _, _, err := set.Restore(ctx); err != nil {
			return err
		}
		if w.PE() == 1 {
			step++
		}
		if _, ok := errors.AsType[*pgas.MismatchError](set.Save(ctx)); !ok {
			return errors.New("the values are not compared")
		}
		step = 8
		return set.Save(ctx)
	})
	must(t, err)
}

// TestDirectoryNotShared: PEs with a directory each, as on hosts that share none, get an error with the remedy.
func TestDirectoryNotShared(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		set, step := ckpt.New(w, ckpt.In(ckpt.Dir(dirs[w.PE()]))), 0
		set.Add("step", ckpt.Shared(&step))
		_, _, err := set.Restore(ctx)
		if err := errors.Join(err, set.Save(ctx)); err != nil {
			return err
		}
		const want = "does not see what PE 1 has saved"
		if _, err := set.Wait(ctx); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "same directory") {
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	})
	must(t, err)
	for _, dir := range dirs {
		if left, _ := filepath.Glob(dir + "/c*"); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	}
}

// TestOtherItems: a cut of other items is refused, and what differs is named.
func TestOtherItems(t *testing.T) {
	store := &memory{}
	must(t, run(t, 2, store, true, 0, 0, 1))
	err := run(t, 2, store, false, 1, 2, 0)
	if err == nil || !strings.Contains(err.Error(), `it has an item "own", which this program does not add`) {
		t.Errorf("fewer items: %v", err)
	}
}

// TestTermGrows: the numbers of the starts of a job grow, also of those that save nothing.
func TestTermGrows(t *testing.T) {
	for _, name := range []string{"Store", "memory"} {
		t.Run(name, func(t *testing.T) {
			c, store := newCluster(t, 2), &memory{}
			var terms []uint64
			for start := range 4 {
				must(t, pgastest.Goroutines(t.Context(), 2, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
					opts := []ckpt.Option{ckpt.In(store)}
					if name == "memory" {
						opts = []ckpt.Option{ckpt.In(nil), ckpt.InTerm(1, 1+start, c.files[0], c.hosts)}
					}
					set, step := ckpt.New(w, opts...), start
					set.Add("step", ckpt.Shared(&step))
					_, _, err := set.Restore(ctx)
					if w.PE() == 0 {
						terms = append(terms, set.Term())
					}
					if err == nil && start == 1 {
						err = set.Save(ctx)
					}
					return err
				}))
			}
			if !slices.Equal(terms, []uint64{1, 2, 3, 4}) {
				t.Errorf("the terms are %v", terms)
			}
		})
	}
}
