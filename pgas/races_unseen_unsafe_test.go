package pgas_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// unseenCases are right programs, of which PGAS_CHECK=race does not see all.
var unseenCases = []struct {
	says string // in the line, of which each host has one
	run  func(p *racer, path string)
}{
	{"more than 32 contexts", func(p *racer, _ string) {
		d, flags := must(pgas.Alloc[uint64](p.ctx, p.World, 40)), must(pgas.Alloc[uint64](p.ctx, p.World, 40))
		var all []*pgas.Context
		for i := range 40 {
			c := must(p.NewContext())
			all = append(all, c)
			d.At(i).On(c).Put(p.next(), 1)
			c.Fence()
			pgas.AtomicOf(flags, i).On(c).Set(p.next(), 1)
		}
		for i, c := range all {
			must(pgas.AtomicOf(flags, i).WaitUntil(p.ctx, pgas.EQ, 1))
			d.At(i).Get(p.PE())
			mustDo(c.Close())
		}
	}},
	{"more than 16384 buffers", func(p *racer, _ string) {
		bufs := make([][1]uint64, 17000)
		for i := range bufs {
			p.data.Range(i%16, i%16+1).GetNB(p.next(), bufs[i][:])
		}
		p.MustQuiet()
		for i := range bufs {
			p.data.Range(i%16, i%16+1).Get(p.PE(), bufs[i][:])
		}
	}},
	{"more than 32 places", func(p *racer, _ string) {
		d := must(pgas.Alloc[uint64](p.ctx, p.World, 100))
		for i := range 100 {
			d.At(i*2%100).Put(p.next(), 1)
		}
		mustDo(p.Barrier(p.ctx))
		for i := 0; i < 100; i += 2 {
			d.At(i).Get(p.PE())
		}
	}},
	{"PE 0 and PE 1 share memory beside the symmetric heaps, by mappings of ", func(p *racer, path string) {
		word := sharedWord(path)
		mustDo(p.Barrier(p.ctx))
		switch p.PE() {
		case 0:
			p.word().Put(1, 1)
			p.MustQuiet()
			word.Store(1)
		case 1:
			for word.Load() == 0 {
				p.Yield()
			}
			if p.word().Get(1) != 1 {
				panic("the put is complete, and is not there")
			}
		}
	}},
}

func (p *racer) next() int { return (p.PE() + 1) % p.NPEs() }

// sharedWord returns a word of a file that is mapped to memory.
func sharedWord(path string) *atomic.Uint32 {
	f := must(os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600))
	mustDo(f.Truncate(4096))
	mem := must(syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))
	mustDo(f.Close())
	return (*atomic.Uint32)(unsafe.Pointer(&mem[0]))
}

// captureStderr makes what this process prints on its standard error go to a file, until end is called, and returns the
// file open to be read. The process is a PE alone, which does not run the cleanups of the test: the file has no name.
func captureStderr() (in *os.File, end func()) {
	out, was := must(os.CreateTemp("", "stderr")), os.Stderr
	in = must(os.Open(out.Name()))
	mustDo(os.Remove(out.Name()))
	os.Stderr = out
	return in, func() { os.Stderr = was }
}

// TestRacesUnseen: a right program of processes that goes over a bound of PGAS_CHECK=race, or shares memory by other
// means, is told what is not seen, once on each host, and goes on. Nothing is reported.
//
//ci:ucx
func TestRacesUnseen(t *testing.T) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("pgas-shared-%d", os.Getppid()))
	body := func(ctx context.Context, w *pgas.World) error {
		in, end := captureStderr()
		defer end()
		var wrong []string
		told, sum := must(pgas.Alloc[uint64](ctx, w, 2)), must(pgas.Alloc[uint64](ctx, w, 2))
		for i, c := range unseenCases {
			p := &racer{World: w, ctx: ctx}
			p.data, p.flags = must(pgas.Alloc[uint64](ctx, w, 64)), must(pgas.Alloc[uint64](ctx, w, 8))
			c.run(p, path)
			mustDo(w.Barrier(ctx)) // everything is at the detectors
			mustDo(w.Barrier(ctx))
			text := string(must(io.ReadAll(in)))
			lines := strings.Count(text, "\n")
			told.Local()[0], told.Local()[1] = uint64(strings.Count(text, c.says)), uint64(lines)
			mustDo(pgas.SumReduce(ctx, w.Team(), sum.All(), told.All()))
			want := uint64(w.NPEs()+1) / 2 // a host has two PEs
			if i == len(unseenCases)-1 {   // then nothing is seen any more
				want = 1
			}
			if n, all := sum.Local()[0], sum.Local()[1]; n != want || all != want || strings.Contains(text, "race on") {
				wrong = append(wrong, fmt.Sprintf("%s: %d of %d lines, want %d: %s", c.says, n, all, want, text))
			}
		}
		_ = os.Remove(path) // a PE that is here has it mapped, and has been told of it
		if wrong != nil {
			return errors.New(strings.Join(wrong, "\n"))
		}
		return nil
	}
	pgastest.RunProcesses(t, 2, body, "PGAS_CHECK=race")
	pgastest.RunHosts(t, 4, 2, body, "PGAS_CHECK=race")
}
