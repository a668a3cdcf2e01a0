package ckpt

import (
	"context"
	"errors"
	"fmt"
	"hash/crc64"

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
// When Save returns nil this PE has a copy of what it saves, and the items may change again. Goroutines of the PEs
// write the copies to the Store meanwhile. The cut is in the Store, whole, when Wait returns nil, or the next Save
// does, or when Save returns ErrStop. World.Close waits for it, too. Save first waits for the cut before. If that cut
// could not be written, Save returns why and saves nothing: the cuts that were there stay, and the next Save tries
// anew.
//
// Save returns, on all PEs, the error of the first PE that could not save, and *pgas.MismatchError if PEs have
// different values of a Shared item, or the errors of a collective (see pgas.Team). It panics with *pgas.UsageError
// unless Restore has succeeded, if this PE holds a lock, and if it has a notification that no notify.Request has waited
// for: neither would be in the cut.
func (s *Set) Save(ctx context.Context) error {
	words, err := s.settle(ctx, "Set.Save")
	if err != nil {
		return err
	}
	return s.save(ctx, words)
}

// SaveIfDue is Save if the time of Every has passed by the clock of PE 0, if the job was asked to stop, or if half of
// the room of the journals of a PE is used. Otherwise it is a barrier of all PEs over all contexts. All PEs get the
// same answer.
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
	if s.journal != nil && s.journal.IsHalfFull() {
		words |= isDue
	}
	return hook.Settle(ctx, s.w, op, words)
}

// save is Save after settle. All PEs have the same words.
func (s *Set) save(ctx context.Context, words uint64) error {
	if _, err := s.wait(ctx); err != nil {
		return fmt.Errorf("Set.Save: %w", err)
	}
	if s.journal != nil { // what is appended is in the next cut, and that is not safe for a while
		s.journal.Pause(true)
		if err := s.journal.Sync(ctx); err != nil {
			return fmt.Errorf("Set.Save: %w", err)
		}
	}
	cut := Cut{Term: s.term, Version: s.last.Version + 1}
	sections, data, failed := s.sections(ctx)
	sum := sumOfSame(sections, data)
	if failed == nil && s.keeps() {
		failed = s.fill(cut, sections, data)
	}
	all, err := hook.SyncOr(ctx, s.w, verdict(sum, failed))
	if s.journal != nil && (err != nil || all&hasFailed != 0 || !isEqual(all)) {
		s.journal.Pause(false)
	}
	switch {
	case err != nil:
		return errors.Join(failed, err)
	case all&hasFailed != 0:
		return fmt.Errorf("Set.Save: %w", agreed(ctx, s.w.Team(), failed))
	case !isEqual(all):
		return pgas.Agree(ctx, s.w, "Set.Save", cut, sum)
	}
	s.last, s.savedAt = cut, s.w.Now()
	if s.keeps() {
		s.begin(ctx, cut)
	}
	if err := s.turn(ctx, cut); err != nil {
		return fmt.Errorf("Set.Save: %w", err)
	}
	if words&mustStop == 0 {
		return nil
	}
	if _, err := s.wait(ctx); err != nil {
		return fmt.Errorf("Set.Save: %w", err)
	}
	if s.journal != nil { // nobody would replay what came after
		s.journal.Pause(true)
	}
	s.say("cut %v is saved, and the job stops as it was asked to: start it again to go on", cut)
	return ErrStop
}

// The verdict of a PE is a word of which the or of all PEs says whether one has failed, and whether their sums are
// equal: a bit, 31 bits of the sum, and behind them the complement of these. If two sums differ, a bit and its
// complement are both set.
const (
	hasFailed = 1 << 63
	sumBits   = 1<<31 - 1
)

func verdict(sum uint64, failed error) uint64 {
	half := (sum ^ sum>>31) & sumBits
	word := half | (half^sumBits)<<31
	if failed != nil {
		word |= hasFailed
	}
	return word
}

func isEqual(all uint64) bool { return all&(all>>31)&sumBits == 0 }

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
