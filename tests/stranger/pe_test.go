//go:build cgo

package stranger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/gopgas/gopgas/pgas"
)

// global is a word outside every heap.
var global = [2]uint64{0x1122334455667788, 0x1122334455667788}

const words = 4096

// roundsFile has the number of rounds that PE 0 has computed.
const roundsFile = "rounds"

// bePE is what a process of the job does, and in TestOldTerm one of a term that is over.
func bePE() {
	switch os.Getenv(termsEnv) {
	case "job":
		keepKeys()
	case "lanes":
		putFromOldTerm()
		return
	}
	pgas.Main(work)
}

// work computes until the test tells it to stop, and checks all results.
func work(ctx context.Context, w *pgas.World) error {
	data, err := pgas.Alloc[[words]uint64](ctx, w, 1)
	if err != nil {
		return err
	}
	counters, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return err
	}
	stop, err := pgas.Alloc[uint64](ctx, w, 1)
	if err != nil {
		return err
	}
	dir := os.Getenv(dirEnv)
	about := fmt.Sprint(os.Getpid(), " ", uint64(uintptr(unsafe.Pointer(&global[0]))), "\n")
	for round := uint64(1); stop.At(0).Get(w.PE()) == 0; round++ {
		if err := compute(ctx, w, data, pgas.AtomicOf(counters, 0), round); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if round == 10 { // every connection is there
			if err := writeWhole(filepath.Join(dir, fmt.Sprint("pe", w.PE())), []byte(about)); err != nil {
				return err
			}
		}
		if w.PE() == 0 && round%10 == 0 {
			if err := os.WriteFile(filepath.Join(dir, roundsFile), fmt.Append(nil, round), 0o644); err != nil {
				return err
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "stop")); err == nil && w.PE() == 0 {
			for pe := range w.NPEs() {
				stop.At(0).Put(pe, 1)
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
	}
	if global != [2]uint64{0x1122334455667788, 0x1122334455667788} {
		return fmt.Errorf("a word outside the heap is %#x", global)
	}
	fmt.Println("all rounds were right")
	return nil
}

// writeWhole writes a file that has all its contents when it is there.
func writeWhole(path string, contents []byte) error {
	part := path + ".part"
	return errors.Join(os.WriteFile(part, contents, 0o644), os.Rename(part, path))
}

// compute puts, gets and adds between hosts, and checks the results.
func compute(ctx context.Context, w *pgas.World, data pgas.Sym[[words]uint64], counter pgas.Atomic[uint64], round uint64) error {
	n := uint64(w.NPEs())
	next, before := (w.PE()+w.NPEs()/2)%w.NPEs(), (w.PE()+w.NPEs()-w.NPEs()/2)%w.NPEs()
	var mine [words]uint64
	for i := range mine {
		mine[i] = round<<32 + uint64(w.PE())<<16 + uint64(i)
	}
	data.At(0).Put(next, mine)
	for pe := range w.NPEs() {
		counter.FetchAdd(pe, 1)
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	for i, v := range data.At(0).Local() {
		if want := round<<32 + uint64(before)<<16 + uint64(i); v != want {
			return fmt.Errorf("word %d is %#x, not %#x", i, v, want)
		}
	}
	if got := data.At(0).Get(next); got != mine {
		return fmt.Errorf("what PE %d holds is not what was put there", next)
	}
	if v := counter.Fetch(next); v != round*n {
		return fmt.Errorf("the counter of PE %d is %d, not %d", next, v, round*n)
	}
	return w.Barrier(ctx)
}
