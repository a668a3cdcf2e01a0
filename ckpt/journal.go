package ckpt

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/gopgas/gopgas/ckpt/internal/memory"
	"github.com/gopgas/gopgas/internal/hook"
)

// A Journal has what a PE has done since the last cut, as records that Restore replays. With it a service may
// acknowledge an update before the next Save: when Sync has returned, the update outlives its PE and its host.
//
// Journals are kept in jobs of pgasrun -survive, in the memory of hosts. In other jobs Append and Sync do nothing.
// Several goroutines of a PE may use a Journal at once, but not during a Save.
type Journal[T any] struct {
	s     *Set
	name  string
	index byte
	plain bool
}

// NewJournal returns a Journal of a Set, before Restore. All PEs make the same journals in the same order. bytes is how
// much room the records of a PE have between two cuts. Each record takes up to 31 bytes more than its value. The
// journal takes as much memory four times: twice on the host of the PE, and twice in the symmetric heap of another.
//
// In a term that goes on from a cut, Restore calls replay for each record since that cut, when all items are restored:
// for the records of a PE in the order of Append, and for those of one PE after those of another. It does so on the PE
// itself, or if the job has fewer PEs now, on one of them. replay may use any operation that is not collective. Restore
// returns the first error of replay.
//
// A journal goes on from the newest cut alone. So Restore passes over no cut of the job's earlier terms then.
//
// A T holds no pointers, or it is an encoding.BinaryMarshaler, or one that encoding/gob takes.
func NewJournal[T any](s *Set, name string, bytes int, replay func(T) error) *Journal[T] {
	const most = 1 << 38 // what has room in a slot of the memory of a host, by far
	switch {
	case s.began:
		hook.Misuse("ckpt.NewJournal", "Restore has been called: make all journals before it")
	case name == "" || bytes <= 0 || bytes > most || replay == nil:
		hook.Misuse("ckpt.NewJournal", "journal %q of %d bytes: give a name, 1 to %d bytes and a function", name, bytes, most)
	case len(s.journals) == 256:
		hook.Misuse("ckpt.NewJournal", "a Set has 256 journals at most")
	case s.journalBytes()+bytes > most:
		hook.Misuse("ckpt.NewJournal", "all journals have %d bytes: give them %d at most together", s.journalBytes()+bytes, most)
	}
	j := &Journal[T]{s, name, byte(len(s.journals)), isPlain(reflect.TypeFor[T]())}
	s.journals = append(s.journals, journal{name, bytes, func(record []byte) error {
		var v T
		if err := j.decode(record, &v); err != nil {
			return fmt.Errorf("journal %q: %w", name, err)
		}
		return replay(v)
	}})
	return j
}

// Append appends a record of v. It outlives its PE, but not the PE's host: Sync sees to that. Append returns an error
// if the journal has no room until the next Save, or if the last Save has failed.
//
// It panics with *pgas.UsageError before the first Save of a program that begins anew, from which a later term would
// begin anew, too.
func (j *Journal[T]) Append(v T) error {
	s := j.s
	if j.mustHaveRestored("Journal.Append"); s.journal == nil {
		return nil
	}
	var err error
	if j.plain {
		err = s.journal.Append([]byte{j.index}, bytesOfOne(&v))
	} else {
		err = j.appendEncoded(v)
	}
	switch {
	case err == memory.ErrNotBegun:
		hook.Misuse("Journal.Append", "journal %q: nothing is saved yet: call Save once, when the items are what the program begins with", j.name)
	case err != nil:
		return fmt.Errorf("Journal.Append: journal %q: %w", j.name, err)
	}
	return nil
}

// Sync returns when all records that were appended before are on two hosts, those of all journals of the Set. In a job
// of one host it returns at once. It completes all operations of the default context, as World.Quiet does, and returns
// its errors. After an error the program cannot know which of its last records are there.
func (j *Journal[T]) Sync(ctx context.Context) error {
	hook.MustBegin("Journal.Sync", ctx, j.s.w)
	if j.mustHaveRestored("Journal.Sync"); j.s.journal == nil {
		return nil
	}
	if err := j.s.journal.Sync(ctx); err != nil {
		return fmt.Errorf("Journal.Sync: %w", err)
	}
	return nil
}

func (j *Journal[T]) mustHaveRestored(op string) {
	if !j.s.restored {
		hook.Misuse(op, "journal %q: Restore comes first, and has to return: it has what replay does in the next cut", j.name)
	}
}

// appendEncoded is Append of a T with pointers.
func (j *Journal[T]) appendEncoded(v T) error {
	b, err := encode(&v)
	if err != nil {
		return err
	}
	return j.s.journal.Append([]byte{j.index}, b)
}

func (j *Journal[T]) decode(b []byte, p *T) error {
	if !j.plain {
		return decode(b, p)
	}
	if n := copy(bytesOfOne(p), b); n != len(b) || n != widthOf[T]() {
		return fmt.Errorf("a record has %d bytes, and a value %d", len(b), widthOf[T]())
	}
	return nil
}

// journalBytes returns how much room all journals of the Set have.
func (s *Set) journalBytes() (n int) {
	for _, j := range s.journals {
		n += j.bytes
	}
	return n
}

// openJournal makes the journal of the Set, if it has any and keeps cuts in memory.
func (s *Set) openJournal(ctx context.Context, images *hook.ImageFile) (err error) {
	if len(s.journals) == 0 {
		return nil
	}
	s.journal, err = s.memory.NewJournal(ctx, s.journalBytes(), images.ShareJournals)
	return err
}

// turn begins the journal since a cut that has just been made. If no other cut is safe, or journals of an earlier start
// are needed until this one is, turn waits until it is safe.
func (s *Set) turn(ctx context.Context, cut Cut) error {
	if s.journal == nil {
		return nil
	}
	if !s.restored || s.unsafe || s.safe == (Cut{}) {
		// All hosts have to know that the cut is safe. One that does not may go on from an older cut, and need the
		// journal that was in this place.
		if err := agreed(ctx, s.w.Team(), s.waitKept(ctx)); err != nil {
			return err
		}
		s.unsafe = false
	}
	err := agreed(ctx, s.w.Team(), s.journal.Turn(ctx, cut, s.job))
	if err != nil {
		s.journal.Pause(true)
	}
	return err
}

// replay replays the records of pes PEs of a job since a cut that is restored.
func (s *Set) replay(ctx context.Context, cut Cut, job uint64, pes int) error {
	var records [][]byte
	err := s.memory.Serving(ctx, s.team, func() (err error) {
		records, err = s.memory.Records(ctx, cut, job, pes)
		return agreed(ctx, s.team, err)
	})
	for _, r := range records {
		if err != nil {
			break
		}
		if len(r) == 0 || int(r[0]) >= len(s.journals) {
			err = errors.New("a journal has a record of a journal that this program does not make")
			break
		}
		err = s.journals[r[0]].replay(r[1:])
	}
	return agreed(ctx, s.w.Team(), err)
}

// replays reports whether earlier terms of this job may have journals, which are of their newest cut.
func (s *Set) replays() bool { return s.journal != nil && s.first != 0 }

// mustHaveJournals returns an error if journals since a cut of the Store are lost: it was saved since pgasrun has
// started, and the hosts that had its images and journals in memory are lost.
func (s *Set) mustHaveJournals(cut Cut, job uint64) error {
	if s.first == 0 || cut.Term < s.first {
		return nil
	}
	for _, k := range s.found {
		if k.Cut == cut && k.Job == job && len(k.Lost) == 0 {
			return nil
		}
	}
	return errors.New("the hosts are lost that had in memory what journals say since then: start the job again, and it goes on without that")
}
