package ckpt

import (
	"context"
	"fmt"
	"hash/crc64"
	"runtime/debug"

	"github.com/gopgas/gopgas/internal/cuts"
	"github.com/gopgas/gopgas/internal/cuts/image"
	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas"
)

var ecma = crc64.MakeTable(crc64.ECMA)

// ErrStop is what Save and SaveIfDue return, on all PEs, when the job was asked to stop, by a SIGTERM, and the cut is
// saved. The body returns the error to pgas.Main, which closes the World and exits with status 75. By this status a
// scheduler or a script knows that the job is to be started again. Errors that wrap ErrStop are no failures either.
var ErrStop = hook.ErrStop

// Save saves all items, as they are when all PEs have called it. It is collective over all PEs. What the program has
// put and updated before, on all contexts, is in the cut. Nothing may change the items until Save returns, and no
// goroutine may use a context.
//
// When Save returns nil or ErrStop the cut is in the Store, whole, and older cuts than the two newest are gone. After
// another error the cut before is still there. Save returns, on all PEs, the error of the first PE that could not save,
// and *pgas.MismatchError if PEs have different values of a Shared item, or the errors of a collective (see pgas.Team).
// It panics with *pgas.UsageError unless Restore has succeeded, if this PE holds a lock, and if it has a notification
// that no notify.Request has waited for: neither would be in the cut.
func (s *Set) Save(ctx context.Context) error {
	words, err := s.settle(ctx, "Set.Save")
	if err != nil {
		return err
	}
	return s.save(ctx, words)
}

// SaveIfDue is Save if the time of Every has passed by the clock of PE 0, or if the job was asked to stop. Otherwise it
// is a barrier of all PEs over all contexts. All PEs get the same answer.
func (s *Set) SaveIfDue(ctx context.Context) (saved bool, err error) {
	words, err := s.settle(ctx, "Set.SaveIfDue")
	if err != nil || words == 0 {
		return false, err
	}
	err = s.save(ctx, words)
	return err == nil || err == ErrStop, err
}

// What the words of settle say.
const (
	isDue = 1 << iota
	mustStop
)

// settle completes the operations of all PEs. It returns what the PEs want of this Save.
func (s *Set) settle(ctx context.Context, op string) (words uint64, err error) {
	hook.MustBegin(op, ctx, s.w)
	switch {
	case !s.began:
		hook.Misuse(op, "Restore comes before the first Save, also in a program that starts anew")
	case !s.restored:
		hook.Misuse(op, "Restore has returned an error: return it, since what this job would save would take the place of older cuts")
	}
	if s.w.PE() == 0 && s.w.Now()-s.savedAt >= s.every {
		words |= isDue
	}
	if s.asked() {
		words |= mustStop
	}
	return hook.Settle(ctx, s.w, op, words)
}

// save is Save after settle.
func (s *Set) save(ctx context.Context, words uint64) error {
	cut := Cut{Term: s.term, Version: s.last.Version + 1}
	sections, data, err := s.sections(ctx)
	if err := s.agreed(ctx, err); err != nil {
		return fmt.Errorf("Set.Save: %w", err)
	}
	if err := pgas.Agree(ctx, s.w, "Set.Save", cut, sumOfSame(sections, data)); err != nil {
		return err
	}
	if s.store != nil {
		if err := s.write(ctx, cut, sections, data); err != nil {
			return fmt.Errorf("Set.Save: cut %v: %w", cut, err)
		}
		if s.w.PE() == 0 {
			if err := cuts.RemoveOld(ctx, s.store, s.keep, cut); err != nil {
				s.say("cut %v is there, and older ones are not removed: %v", cut, err)
			}
		}
	}
	s.last, s.savedAt = cut, s.w.Now()
	if words&mustStop == 0 {
		return nil
	}
	s.say("cut %v is saved, and the job stops as it was asked to: start it again to go on", cut)
	return ErrStop
}

// section is a Section of an image, with what the Set knows of it.
type section struct {
	image.Section
	same bool
}

// sections returns what this PE saves. After an error of an item it goes on: other PEs may wait for this one in the
// Save of an item that follows.
func (s *Set) sections(ctx context.Context) (all []section, data [][][]byte, err error) {
	for _, x := range s.items {
		own, e := x.Save(ctx)
		if e != nil && err == nil {
			err = fmt.Errorf("item %q: %w", x.name, e)
		}
		for _, y := range own {
			all = append(all, section{image.Section{
				Name: joinName(x.name, y.Name), Kind: x.Kind, Layout: y.Layout,
				Width: uint64(y.Width), Count: uint64(y.Count), Shape: y.Shape,
			}, y.Same})
			data = append(data, y.Data)
		}
	}
	return all, data, err
}

// sumOfSame returns a number of the sections that all PEs must have alike.
func sumOfSame(sections []section, data [][][]byte) (sum uint64) {
	for i := range sections {
		if !sections[i].same {
			continue
		}
		sum = crc64.Update(sum, ecma, []byte(sections[i].Name))
		for _, piece := range data[i] {
			sum = crc64.Update(sum, ecma, piece)
		}
	}
	return sum
}

// write writes a cut: the image of each PE, then the manifest.
func (s *Set) write(ctx context.Context, cut Cut, sections []section, data [][][]byte) error {
	n, err := s.writeImage(ctx, cut, sections, data)
	if err := s.agreed(ctx, err); err != nil {
		_ = s.store.Remove(ctx, cuts.ImageName(cut, s.w.PE())) // otherwise a later Save removes it
		return err
	}
	files, err := pgas.Gather(ctx, s.w.Team(), []uint64{n}, 0)
	if err != nil {
		return err
	}
	if s.w.PE() == 0 {
		err = s.finish(ctx, cut, files)
	}
	return s.agreed(ctx, err)
}

// writeImage writes the image of this PE, and returns its size.
func (s *Set) writeImage(ctx context.Context, cut Cut, sections []section, data [][][]byte) (bytes uint64, err error) {
	if s.w.PE() == 0 {
		if err := s.mustOwn(ctx); err != nil {
			return 0, err
		}
	}
	f, err := s.store.Create(ctx, cuts.ImageName(cut, s.w.PE()))
	if err != nil {
		return 0, err
	}
	plain := make([]image.Section, len(sections))
	for i := range sections {
		plain[i] = sections[i].Section
	}
	h := image.Head{Cut: cut, Job: s.job, PE: s.w.PE(), PEs: s.w.NPEs()}
	bytes, err = image.Write(f, h, plain, func(i int) [][]byte { return data[i] })
	if err != nil {
		f.Abort()
		return 0, err
	}
	return bytes, f.Close()
}

// finish writes the manifest of a cut, when all PEs have written their images. PE 0 calls it.
func (s *Set) finish(ctx context.Context, cut Cut, files [][]uint64) error {
	m := &cuts.Manifest{Format: cuts.Format, Cut: cut, Parent: s.last, Job: s.job, PEs: s.w.NPEs(), Program: programName()}
	for _, x := range s.items {
		m.Items = append(m.Items, cuts.Item{Name: x.name, Kind: x.Kind})
	}
	for pe, f := range files {
		m.Images = append(m.Images, cuts.File{Bytes: f[0]})
		if s.last.Version == 0 || pe != s.w.PE() {
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
