// Package profiles makes the profiles of a PE, if the launcher collects them (pgasrun -pprof) or the user names a
// directory (PGAS_PPROF): the CPU profile and the execution trace from the opening of the World to its end, and the
// heap and mutex profiles at the end. A process that is killed, or that ends without leaving its job, has made none.
package profiles

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"sync/atomic"

	"github.com/gopgas/gopgas/pgas/boot"
)

// longestTrace bounds an execution trace, which grows by some megabytes a second: what comes later is not traced.
const longestTrace = 64 << 20

// Profiles are those of one World. A nil *Profiles makes none.
type Profiles struct {
	create func(k boot.ProfileKind) (io.WriteCloser, error)
	pe     int
	once   sync.Once // makes Stop end the profiles once
	cpu    *sink
	trace  *boundedTrace

	mutexRate int // the program's own rate, before the profiles began
}

// Start begins the profiles of job's PE. It prints one line about a profile that cannot be made, and the job goes on.
func Start(job *boot.Job) *Profiles {
	p := &Profiles{pe: job.PE}
	switch {
	case job.Profiles != nil:
		p.create = func(k boot.ProfileKind) (io.WriteCloser, error) { return job.Profiles.Writer(k), nil }
	case job.Settings.Profiles != "":
		p.create = func(k boot.ProfileKind) (io.WriteCloser, error) {
			return boot.CreateAnew(filepath.Join(job.Settings.Profiles, k.FileName(job.PE)))
		}
		if err := os.MkdirAll(job.Settings.Profiles, 0o777); err != nil {
			p.complain(fmt.Errorf("%s: %w; no profiles are made", boot.EnvProfiles, err))
			return nil
		}
	default:
		return nil
	}
	p.mutexRate = runtime.SetMutexProfileFraction(1)
	p.startCPU()
	p.startTrace()
	return p
}

// A sink remembers the first failure to write, which package pprof does not tell.
type sink struct {
	w   io.WriteCloser
	err error
}

func (p *Profiles) open(k boot.ProfileKind) (*sink, error) {
	w, err := p.create(k)
	return &sink{w: w}, err
}

// discard leaves no empty file of a profile that could not be begun. Through a pipe nothing has gone yet.
func (s *sink) discard() {
	if f, ok := s.w.(*os.File); ok && f != nil {
		f.Close()
		os.Remove(f.Name())
	}
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

func (p *Profiles) startCPU() {
	to, err := p.open(boot.CPUProfile)
	if err == nil {
		err = pprof.StartCPUProfile(to)
	}
	if err != nil {
		to.discard()
		p.complain(err)
		return
	}
	p.cpu = to
}

func (p *Profiles) startTrace() {
	to, err := p.open(boot.ExecutionTrace)
	if err != nil {
		p.complain(err)
		return
	}
	t := &boundedTrace{w: to, full: func() {
		p.complain(fmt.Errorf("the execution trace has reached %d MiB and ends there", longestTrace>>20))
	}}
	if err := trace.Start(t); err != nil {
		to.discard()
		p.complain(err)
		return
	}
	p.trace = t
}

// boundedTrace stops the trace that it gets when it has become long.
type boundedTrace struct {
	w     *sink
	bytes atomic.Int64
	stop  sync.Once
	full  func()
}

func (t *boundedTrace) Write(b []byte) (int, error) {
	if t.bytes.Add(int64(len(b))) > longestTrace {
		go t.end(t.full) // Stop waits for this write
	}
	return t.w.Write(b)
}

// end stops the trace, the first time that it is called, and calls why before.
func (t *boundedTrace) end(why func()) {
	t.stop.Do(func() {
		why()
		trace.Stop()
	})
}

// Stop ends the profiles and writes what is left of them.
func (p *Profiles) Stop() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		if p.cpu != nil {
			pprof.StopCPUProfile()
			p.complete(p.cpu)
		}
		if p.trace != nil {
			p.trace.end(func() {})
			p.complete(p.trace.w)
		}
		runtime.GC() // the profile of the heap is that of the last collection
		p.writeNow(boot.HeapProfile)
		p.writeNow(boot.MutexProfile)
		runtime.SetMutexProfileFraction(p.mutexRate)
	})
}

// writeNow writes a profile as it is now.
func (p *Profiles) writeNow(k boot.ProfileKind) {
	to, err := p.open(k)
	if err != nil {
		p.complain(err)
		return
	}
	pprof.Lookup(k.String()).WriteTo(to, 0)
	p.complete(to)
}

// complete ends a profile, unless a part of it could not be written.
func (p *Profiles) complete(s *sink) {
	err := s.err
	if err == nil {
		err = s.w.Close()
	}
	if err != nil {
		p.complain(fmt.Errorf("it is not complete: %w", err))
	}
}

func (p *Profiles) complain(err error) {
	fmt.Fprintf(os.Stderr, "pgas: profiles of PE %d: %v\n", p.pe, err)
}
