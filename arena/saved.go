package arena

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gopgas/gopgas/ckpt"
)

// Checkpoint makes an arena an item of a ckpt.Set: all records, under the handles that they have. It is restored on the
// same number of PEs, since handles hold the numbers of PEs, in an arena with room for what each PE had in use.
func (a *Arena) Checkpoint() ckpt.Parts {
	a.mustBeOpen("Checkpoint")
	return ckpt.Parts{Kind: "Arena", Save: a.save, Restore: a.restore}
}

// The sections of an arena, in this order.
const (
	savedWords   = iota // the words of this PE
	savedRecords        // the granules that were ever allocated
	savedSections
)

// save returns the records of this PE's part.
func (a *Arena) save(context.Context) ([]ckpt.Section, error) {
	a.mustBeOpen("Checkpoint")
	words := a.words.Local()
	all := []ckpt.Section{ckpt.Elements(words), ckpt.Elements(a.mem.Local()[1:words[freshWord]])}
	all[savedWords].Name, all[savedRecords].Name = "words", "records"
	all[savedWords].Shape = binary.AppendUvarint(nil, a.generation.Load())
	return all, nil
}

// restore reads this PE's part.
func (a *Arena) restore(ctx context.Context, from *ckpt.Saved) error {
	a.mustBeOpen("Checkpoint")
	pe, err := from.Own()
	if err != nil {
		return err
	}
	all, err := from.Sections(ctx, pe)
	if err != nil {
		return err
	}
	generation, err := a.mustFit(all)
	if err != nil {
		return err
	}
	words := make([]uint64, numWords)
	if err := ckpt.Read(ctx, from, pe, savedWords, 0, words); err != nil {
		return err
	}
	used := a.mem.Local()[:all[savedRecords].Count+1]
	if err := ckpt.Read(ctx, from, pe, savedRecords, 0, used[1:]); err != nil {
		return err
	}
	if err := mustBeWhole(words, used); err != nil {
		return err
	}
	a.take(words, generation)
	return a.w.Quiet(ctx)
}

// mustFit returns an error unless the sections are of an arena that fits into a. It returns the generation.
func (a *Arena) mustFit(all []ckpt.Section) (generation uint64, err error) {
	if len(all) != savedSections || all[savedWords].Count != numWords {
		return 0, errors.New("it was saved by another version of the package")
	}
	generation, read := binary.Uvarint(all[savedWords].Shape)
	if read <= 0 {
		return 0, errors.New("its generation is damaged")
	}
	if used := all[savedRecords].Count; used >= int(a.granules) {
		return 0, fmt.Errorf("it has %d bytes for each PE, and was saved with %d in use: give arena.New as many at "+
			"least", int(a.granules-1)*granuleBytes, used*granuleBytes)
	}
	if err := ckpt.MustBe[uint64](&all[savedWords]); err != nil {
		return 0, err
	}
	return generation, ckpt.MustBe[granule](&all[savedRecords])
}

// mustBeWhole returns an error if the words of a part name a record that is not among the granules that were used, or
// the stacks of freed records do.
func mustBeWhole(words []uint64, used []granule) error {
	left := len(used) // granules that stacks may still have
	sound := words[freshWord] == uint64(len(used))
	for class := 0; class < numClasses && sound; class++ {
		for at := words[class] & (1<<granuleBits - 1); at != 0 && sound; left-- {
			if sound = at < uint64(len(used)) && left > 0; sound {
				header := used[at][0]
				sound = header&allocated == 0 && int(header>>classShift&classMask) == class
				at = header & (1<<granuleBits - 1)
			}
		}
	}
	if !sound {
		return errors.New("its lists of freed records are damaged")
	}
	return nil
}

// take makes this PE's part what its words say, and forgets what this PE knows of other parts.
func (a *Arena) take(words []uint64, generation uint64) {
	a.generation.Store(generation)
	for i, word := range words {
		a.word(i).Set(a.w.PE(), word)
	}
	for pe := range a.fresh {
		a.fresh[pe].Store(1)
	}
}
