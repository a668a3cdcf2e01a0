package main

// -output: what each PE prints, in a file of its own, beside what pgasrun prints. The files are on the launcher's host,
// whatever the PE's host.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
)

// outputs are the files of one job.
type outputs struct {
	dir  string
	host int // the one host whose PEs this pgasrun starts, or everyHost
	pes  []outputFile
}

// everyHost as outputs.host says that the files are those of all PEs.
const everyHost = -1

type outputFile struct {
	mu     sync.Mutex    // a PE of a static start has a goroutine for each stream
	f      *os.File      // nil: the PE is another host's, or the file is closed
	open   launch.Stream // the stream on which the PE has left a line open; 0: none
	failed error
}

// outputName matches the names of the files.
var outputName = regexp.MustCompile(`^pe\.[0-9]+\.out$`)

// open makes the files of the PEs that this pgasrun starts. Files of another job, which would be taken for these, are
// removed. The error says what cannot be done, and what to do.
func (o *outputs) open(job *launch.Spec) error {
	started := job.Hosts
	if o.host != everyHost {
		started = started[o.host : o.host+1]
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return fmt.Errorf("-output %s: cannot make it (%w): name another directory", o.dir, withoutPath(err))
	}
	if err := boot.NeedFiles("-output, which has a file for each PE,", npes(started)); err != nil {
		return err
	}
	o.pes = make([]outputFile, npes(job.Hosts))
	if err := o.removeOld(); err != nil {
		return fmt.Errorf("-output %s: cannot remove what another job has left (%w): name another directory", o.dir, withoutPath(err))
	}
	for _, h := range started {
		for pe := h.First; pe < h.First+h.PEs; pe++ {
			f, err := boot.CreateAnew(o.path(pe))
			if err != nil {
				o.close()
				return fmt.Errorf("-output %s: cannot write there (%w): name another directory", o.dir, withoutPath(err))
			}
			o.pes[pe].f = f
		}
	}
	return nil
}

// attach has the launcher tell what PEs print.
func (o *outputs) attach(job *launch.Spec) { job.Output = bothOutputs(job.Output, o.piece) }

// finish closes the files. A job whose output is not whole has not succeeded.
func (o *outputs) finish(end *ending) {
	if lacks := o.close(); lacks != nil {
		end.status = complain(lacks, max(end.status, statusFailed))
	}
}

// removeOld removes the files of another job. A name that is something else than a file stays, and is an error then.
func (o *outputs) removeOld() error {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !outputName.MatchString(e.Name()) || e.IsDir() {
			continue
		}
		if err := os.Remove(filepath.Join(o.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// path returns the name of the file of a PE. The numbers of all PEs have as many digits as the last one's.
func (o *outputs) path(pe int) string {
	digits := len(strconv.Itoa(len(o.pes) - 1))
	return filepath.Join(o.dir, fmt.Sprintf("pe.%0*d.out", digits, pe))
}

// piece is launch.Spec.Output. A line that the PE has left open on one stream ends when the other one goes on.
func (o *outputs) piece(pe int, s launch.Stream, piece []byte) {
	p := &o.pes[pe]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.f == nil || p.failed != nil || len(piece) == 0 {
		return
	}
	if p.open != 0 && p.open != s {
		piece = append([]byte{'\n'}, piece...)
	}
	p.open = 0
	if piece[len(piece)-1] != '\n' {
		p.open = s
	}
	_, p.failed = p.f.Write(piece)
}

// close closes the files. The error names the first that lacks something.
func (o *outputs) close() error {
	var failed error
	lacking := 0
	for pe := range o.pes {
		p := &o.pes[pe]
		p.mu.Lock()
		if p.f != nil {
			err := errors.Join(p.failed, p.f.Close())
			if p.f = nil; err != nil {
				if lacking++; failed == nil {
					failed = fmt.Errorf("-output: %s lacks what PE %d has printed: %w", o.path(pe), pe, withoutPath(err))
				}
			}
		}
		p.mu.Unlock()
	}
	if lacking > 1 {
		failed = fmt.Errorf("%w; so do those of %s", failed, plural.Count(lacking-1, "other"))
	}
	return failed
}

// bothOutputs returns a launch.Spec.Output that has two readers; a may be nil.
func bothOutputs(a, b func(int, launch.Stream, []byte)) func(int, launch.Stream, []byte) {
	if a == nil {
		return b
	}
	return func(pe int, s launch.Stream, piece []byte) {
		a(pe, s, piece)
		b(pe, s, piece)
	}
}
