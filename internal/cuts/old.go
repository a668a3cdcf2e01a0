package cuts

import (
	"context"
	"fmt"
	"slices"
)

// A sweeper is a Store that may have files which were begun and not closed, since a PE has died.
type sweeper interface {
	sweep(old func(name string) bool) error
}

// RemoveOld removes the cuts of a Store that are older than the newest ones, of which it keeps some, if these have a
// manifest that can be read. It also removes what Saves before newest have left that failed.
func RemoveOld(ctx context.Context, s Store, keep int, newest Cut) error {
	all, err := All(ctx, s)
	if err != nil {
		return err
	}
	kept := all[:min(keep, len(all))]
	for _, c := range kept {
		if _, err := ReadManifest(ctx, s, c); err != nil {
			return fmt.Errorf("cut %v cannot be read, so an older one may be needed: %w", c, err)
		}
	}
	for _, c := range all[len(kept):] {
		if err := Remove(ctx, s, c); err != nil {
			return err
		}
	}
	names, err := s.List(ctx, "c")
	if err != nil {
		return err
	}
	old := func(c Cut, ok bool) bool { return ok && c.Compare(newest) < 0 && !slices.Contains(kept, c) }
	for _, name := range names {
		if old(cutOfImage(name)) {
			if err := s.Remove(ctx, name); err != nil {
				return err
			}
		}
	}
	return Sweep(s, func(name string) bool { return old(cutOf(name + manifestEnd)) })
}

// Sweep removes the files of a Store that were begun and not closed, since a PE has died. Of these it removes the files
// of which old reports that nobody writes them any more. old gets the name up to the first slash, or without the
// ".json" behind it.
func Sweep(s Store, old func(name string) bool) error {
	if d, ok := s.(sweeper); ok {
		return d.sweep(old)
	}
	return nil
}
