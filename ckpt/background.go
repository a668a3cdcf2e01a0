package ckpt

// What goes on after Save: a goroutine of each PE writes the copy of what the PE has saved.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/gopgas/gopgas/internal/cuts"
	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

// section is a Section of an image, with what the Set knows of it.
type section struct {
	image.Section
	same bool
}

// piece is of how many bytes fill compares before it copies.
const piece = 64 << 10

// fill makes c a copy of the data of sections. It writes the pieces alone that have changed.
func (c *shadow) fill(sections []section, data [][][]byte) {
	c.sections = c.sections[:0]
	if len(c.data) != len(sections) {
		c.data = make([][]byte, len(sections))
	}
	for i := range sections {
		c.sections = append(c.sections, sections[i].Section)
		n := 0
		for _, b := range data[i] {
			n += len(b)
		}
		if cap(c.data[i]) < n {
			c.data[i] = make([]byte, n)
		}
		c.data[i] = c.data[i][:n]
		at := 0
		for _, b := range data[i] {
			update(c.data[i][at:], b)
			at += len(b)
		}
	}
}

// update makes the first bytes of into those of b.
func update(into, b []byte) {
	for len(b) > 0 {
		n := min(len(b), piece)
		if !bytes.Equal(into[:n], b[:n]) {
			copy(into, b[:n])
		}
		into, b = into[n:], b[n:]
	}
}

// begin writes a cut, after Save has returned, and then removes older ones.
func (s *Set) begin(ctx context.Context, cut Cut) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // which may end when Save has returned
	x := &writing{cut: cut, cancel: cancel, err: errPanic}
	parent, before := s.safe, s.group
	s.group = s.w.Go(ctx, func(ctx context.Context) error {
		defer cancel()
		s.writeAndTell(ctx, x, parent)
		if before != nil {
			_ = before.Wait() // PE 0 may still be removing cuts
		}
		if x.err != nil || s.w.PE() != 0 {
			return nil
		}
		if err := cuts.RemoveOld(ctx, s.store, s.keep, cut); err != nil {
			s.say("cut %v is there, and older ones are not removed: %v", cut, err)
		}
		return nil
	})
	s.writing = x
}

// errPanic is the error of a cut until it is written or has another one.
var errPanic = errors.New("the goroutine that wrote it has panicked")

// writeAndTell writes a cut, and tells the goroutine that waits for that.
func (s *Set) writeAndTell(ctx context.Context, x *writing, parent Cut) {
	defer func() { s.done.Set(s.w.PE(), x.cut.Version) }()
	x.err = s.write(ctx, x.cut, parent)
}

// Wait waits until the cut of the last Save is in the Store, whole, and returns the newest cut that is there. It is
// collective over all PEs. If that cut could not be written it returns why, the same on all PEs, and the next Save does
// not return this error again.
func (s *Set) Wait(ctx context.Context) (Cut, error) {
	hook.MustBegin("Set.Wait", ctx, s.w)
	cut, err := s.wait(ctx)
	if err != nil {
		err = fmt.Errorf("Set.Wait: %w", err)
	}
	return cut, err
}

func (s *Set) wait(ctx context.Context) (Cut, error) {
	x := s.writing
	if x == nil {
		return s.safe, nil
	}
	if _, err := s.done.WaitUntil(ctx, pgas.GE, x.cut.Version); err != nil {
		return s.safe, err
	}
	return s.end(x)
}

// end ends the writing of a cut.
func (s *Set) end(x *writing) (Cut, error) {
	s.writing = nil
	if x.err != nil {
		_ = s.group.Wait() // it panics as the goroutine has
		return s.safe, fmt.Errorf("cut %v was not saved: %w", x.cut, x.err)
	}
	s.safe = x.cut
	return s.safe, nil
}

// endAtClose waits for the cut that is being written when the World closes. After a failure of this PE it does not wait
// for other PEs.
func (s *Set) endAtClose() error {
	x := s.writing
	if x != nil && !hook.Leaves(s.w) {
		x.cancel()
	}
	if s.group != nil {
		_ = s.group.Wait()
	}
	if x == nil {
		return nil
	}
	_, err := s.end(x)
	return err
}

// write writes a cut: the image of each PE, then the manifest. It is collective over the Set's own team.
func (s *Set) write(ctx context.Context, cut, parent Cut) error {
	n, err := s.writeImage(ctx, cut)
	if err := agreed(ctx, s.team, err); err != nil {
		_ = s.store.Remove(ctx, cuts.ImageName(cut, s.w.PE())) // otherwise a later Save removes it
		return err
	}
	files, err := pgas.Gather(ctx, s.team, []uint64{n}, 0)
	if err != nil {
		return err
	}
	if s.w.PE() == 0 {
		err = s.finish(ctx, cut, parent, files)
	}
	return agreed(ctx, s.team, err)
}

// writeImage writes the image of this PE, and returns its size.
func (s *Set) writeImage(ctx context.Context, cut Cut) (bytes uint64, err error) {
	if s.w.PE() == 0 {
		if err := s.mustOwn(ctx); err != nil {
			return 0, err
		}
	}
	f, err := s.store.Create(ctx, cuts.ImageName(cut, s.w.PE()))
	if err != nil {
		return 0, err
	}
	h := image.Head{Cut: cut, Job: s.job, PE: s.w.PE(), PEs: s.w.NPEs()}
	bytes, err = image.Write(f, h, s.copy.sections, func(i int) [][]byte { return [][]byte{s.copy.data[i]} })
	if err != nil {
		f.Abort()
		return 0, err
	}
	return bytes, f.Close()
}

// finish writes the manifest of a cut, when all PEs have written their images. PE 0 calls it.
func (s *Set) finish(ctx context.Context, cut, parent Cut, files [][]uint64) error {
	m := &cuts.Manifest{Format: cuts.Format, Cut: cut, Parent: parent, Job: s.job, PEs: s.w.NPEs(), Program: programName()}
	for _, x := range s.items {
		m.Items = append(m.Items, cuts.Item{Name: x.name, Kind: x.Kind})
	}
	for pe, f := range files {
		m.Images = append(m.Images, cuts.File{Bytes: f[0]})
		if parent.Version == 0 || pe != s.w.PE() {
			if err := s.mustSee(ctx, cut, pe, f[0]); err != nil {
				return err
			}
		}
	}
	return m.Write(ctx, s.store)
}

// mustSee returns an error if PE 0 does not see the image of another PE.
func (s *Set) mustSee(ctx context.Context, cut Cut, pe int, bytes uint64) error {
	f, err := s.store.Open(ctx, cuts.ImageName(cut, pe))
	switch {
	case cuts.Missing(err):
		return fmt.Errorf("PE 0 on %s does not see what PE %d has saved in %v: all hosts must have the same directory, as one of a "+
			"network file system", s.w.Host(), pe, s.store)
	case err != nil:
		return err
	}
	defer f.Close()
	if f.Size() != int64(bytes) {
		return fmt.Errorf("the image of PE %d has %d bytes, and was written with %d", pe, f.Size(), bytes)
	}
	return nil
}

// programName returns what tells one program from another in manifests: the path of its main package.
func programName() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Path != "" {
		return info.Path
	}
	return "unknown"
}
