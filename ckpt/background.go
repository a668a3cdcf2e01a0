package ckpt

// What goes on after Save: a goroutine of each PE writes the copy of what the PE has saved.

import (
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

// fill makes the image that is being made one of the data of sections.
func (s *Set) fill(cut Cut, sections []section, data [][][]byte) (err error) {
	own := make([]image.Section, len(sections))
	for i := range sections {
		own[i] = sections[i].Section
	}
	if s.memory != nil {
		s.frame, err = s.memory.Frame(s.head(cut), own)
	} else {
		s.frame, err = &s.shadow, s.shadow.Lay(s.head(cut), own, s.grow)
	}
	for i := 0; i < len(own) && err == nil; i++ {
		err = s.frame.Update(i, data[i])
	}
	return err
}

// head returns the head of this PE's image of a cut.
func (s *Set) head(cut Cut) image.Head {
	return image.Head{Cut: cut, Job: s.job, PE: s.w.PE(), PEs: s.w.NPEs()}
}

// grow returns memory for the shadow.
func (s *Set) grow(bytes uint64) ([]byte, error) {
	b := s.shadow.Bytes()
	if b = b[:cap(b)]; uint64(len(b)) >= bytes {
		return b, nil
	}
	more := make([]byte, bytes)
	copy(more, b)
	return more, nil
}

// begin keeps and writes a cut, after Save has returned, and then removes older ones.
func (s *Set) begin(ctx context.Context, cut Cut) {
	f := s.frame
	s.beginWriting(ctx, &writing{cut: cut, job: s.job, image: func() []byte {
		f.Seal(s.head(cut))
		return f.Bytes()
	}})
}

// beginWriting writes x, and then removes older cuts.
func (s *Set) beginWriting(ctx context.Context, x *writing) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // which may end when Save has returned
	x.cancel, x.err = cancel, errPanic
	parent, before := s.safe, s.group
	s.group = s.w.Go(ctx, func(ctx context.Context) error {
		defer cancel()
		s.writeAndTell(ctx, x, parent)
		if before != nil {
			_ = before.Wait() // PE 0 may still be removing cuts
		}
		if x.err != nil || s.w.PE() != 0 || s.store == nil {
			return nil
		}
		if err := cuts.RemoveOld(ctx, s.store, s.keep, x.cut); err != nil {
			s.say("cut %v is there, and older ones are not removed: %v", x.cut, err)
		}
		return nil
	})
	s.writing = x
}

// errPanic is the error of a cut until it is written or has another one.
var errPanic = errors.New("the goroutine that wrote it has panicked")

// writeAndTell writes a cut, and tells the goroutine that waits for that.
func (s *Set) writeAndTell(ctx context.Context, x *writing, parent Cut) {
	defer func() { s.done.Set(s.w.PE(), writtenOf(x.cut)) }()
	x.err = s.write(ctx, x, parent)
}

// Wait waits until the cut of the last Save is in the Store, whole, and returns the newest cut that is there.
// Without a Store, in a job of pgasrun -survive, that is in the memory of hosts. Wait is collective over all PEs. If
// that cut could not be written it returns why, the same on all PEs, and the next Save does not return this error
// again.
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
	if _, err := s.done.WaitUntil(ctx, pgas.GE, writtenOf(x.cut)); err != nil {
		return s.safe, err
	}
	return s.end(x)
}

// waitKept waits until the cut of the last Save is in the memory of hosts. If that failed it returns why.
func (s *Set) waitKept(ctx context.Context) error {
	x := s.writing
	if x == nil {
		return nil
	}
	if _, err := s.done.WaitUntil(ctx, pgas.GE, keptOf(x.cut)); err != nil || x.kept {
		return err
	}
	_, err := s.wait(ctx)
	return err
}

// keptOf returns what a PE's done is when a cut is in the memory of hosts.
func keptOf(c Cut) uint64 { return 2 * c.Version }

// writtenOf returns what a PE's done is when nothing more happens to a cut: it is where it belongs, or has failed.
func writtenOf(c Cut) uint64 { return keptOf(c) + 1 }

// end ends the writing of a cut.
func (s *Set) end(x *writing) (Cut, error) {
	s.writing = nil
	if x.err != nil {
		_ = s.group.Wait() // it panics as the goroutine has
		if s.memory != nil && x.job == s.job && !x.kept {
			s.unsafe = true
			s.last.Version++ // the next Save makes its images in the place of these, and those of the cut before stay
		}
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
	if s.journal != nil {
		s.journal.Pause(true)
	}
	if s.memory != nil {
		defer s.memory.Close()
	}
	if x == nil {
		return nil
	}
	_, err := s.end(x)
	return err
}

// write keeps a cut in the memory of hosts, and writes it: the image of each PE, then the manifest. It is collective
// over the Set's own team.
func (s *Set) write(ctx context.Context, x *writing, parent Cut) error {
	if x.image == nil {
		return nil
	}
	b := x.image()
	if s.memory != nil && x.job == s.job {
		if err := s.remember(ctx, x.cut); err != nil {
			return err
		}
		x.kept = true
		s.done.Set(s.w.PE(), keptOf(x.cut))
	}
	if s.store == nil {
		return nil
	}
	err := agreed(ctx, s.team, s.writeImage(ctx, x.cut, b))
	if err == nil {
		err = s.finish(ctx, x, parent, uint64(len(b)))
	}
	// After the loss of a PE the cut may be there, whole. Otherwise the PE that has failed has no file.
	if _, told := errors.AsType[*peError](err); told {
		_ = s.store.Remove(ctx, cuts.ImageName(x.cut, s.w.PE())) // otherwise a later Save removes it
	}
	return err
}

// remember keeps a cut in the memory of hosts, each image on two if there are several.
func (s *Set) remember(ctx context.Context, cut Cut) error {
	if err := agreed(ctx, s.team, s.memory.Keep(s.head(cut))); err != nil {
		return err
	}
	err := s.memory.Serving(ctx, s.team, func() error { return s.memory.CopyWards(ctx, cut, s.job) })
	if err := agreed(ctx, s.team, err); err != nil {
		return err
	}
	s.memory.Safe(cut)
	return nil
}

// writeImage writes the image of this PE.
func (s *Set) writeImage(ctx context.Context, cut Cut, b []byte) error {
	if s.w.PE() == 0 {
		if err := s.mustOwn(ctx); err != nil {
			return err
		}
	}
	f, err := s.store.Create(ctx, cuts.ImageName(cut, s.w.PE()))
	if err != nil {
		return err
	}
	const most = 1 << 20 // so that a Writer whose context has ended sees that soon
	for len(b) > 0 && err == nil {
		n := min(most, len(b))
		_, err = f.Write(b[:n])
		b = b[n:]
	}
	if err != nil {
		f.Abort()
		return err
	}
	return f.Close()
}

// finish has PE 0 write the manifest of a cut, when all PEs have written their images, this one so many bytes. It is
// collective over the Set's own team.
func (s *Set) finish(ctx context.Context, of *writing, parent Cut, bytes uint64) error {
	files, err := pgas.Gather(ctx, s.team, []uint64{bytes}, 0)
	if err != nil {
		return err
	}
	if s.w.PE() == 0 {
		if err = s.writeManifest(ctx, of, parent, files); err != nil {
			_ = cuts.Remove(ctx, s.store, of.cut) // the manifest may be there, and not be flushed
		}
	}
	return agreed(ctx, s.team, err)
}

// writeManifest writes the manifest of a cut.
func (s *Set) writeManifest(ctx context.Context, of *writing, parent Cut, files [][]uint64) error {
	m := &cuts.Manifest{Format: cuts.Format, Cut: of.cut, Parent: parent, Job: of.job, PEs: s.w.NPEs(), Program: programName()}
	for _, x := range s.items {
		m.Items = append(m.Items, cuts.Item{Name: x.name, Kind: x.Kind})
	}
	for pe, f := range files {
		m.Images = append(m.Images, cuts.File{Bytes: f[0]})
		if parent.Version == 0 || pe != s.w.PE() {
			if err := s.mustSee(ctx, of.cut, pe, f[0]); err != nil {
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
