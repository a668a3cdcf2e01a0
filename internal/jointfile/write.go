package jointfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gopgas/gopgas/internal/wholefile"
	"github.com/gopgas/gopgas/pgas"
)

// Write makes the file at path of parts, one of each member of t, in the order of the team. This member's part has size
// bytes, and write writes them. Every member writes its part itself, so the hosts must have the folder in common. An
// older file stays until the new one is whole and on the disk, and then the new one has its name.
//
// Each member gives the path in the file system of its host. The errors are those of Exchange, after all members have
// tried. After an error there is no new file and nothing else that Write has made, unless a PE was lost or a context
// ended: then the new file is there whole or not at all. Write is collective over t.
func Write(ctx context.Context, t *pgas.Team, request, path string, size int64, write func(io.Writer) error) error {
	w := writing{team: t, request: request, path: path}
	defer w.end()
	steps := [...]func() error{
		func() error { return w.create(ctx, size) },
		func() error { return w.agree(ctx, w.open()) },
		func() error { return w.agree(ctx, w.write(ctx, write)) },
		func() error { return w.agree(ctx, w.publish()) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	w.done = true
	return nil
}

// writing is a call of Write.
type writing struct {
	team          *pgas.Team
	request, path string

	whole *wholefile.File // on member 0: the file
	other string          // the name that the file has until it is whole
	part  part
	done  bool // the file has its name
}

// agree returns the error of the first member that has one. err is this member's.
func (w *writing) agree(ctx context.Context, err error) error {
	_, err = Exchange(ctx, w.team, w.request, Finding{}, err)
	return err
}

// create makes the file on member 0, and finds out which part of it this member writes.
func (w *writing) create(ctx context.Context, size int64) (err error) {
	mine := Finding{A: size}
	if w.team.PE() == 0 {
		if w.whole, err = wholefile.Create(w.path, 0o666); err == nil {
			mine.Name = filepath.Base(w.whole.Name())
		}
	}
	all, err := Exchange(ctx, w.team, w.request, mine, err)
	if err != nil {
		return err
	}
	w.other = filepath.Join(filepath.Dir(w.path), all[0].Name)
	for pe, found := range all {
		if pe == w.team.PE() {
			w.part.start = w.part.total
		}
		w.part.total += found.A
	}
	w.part.at, w.part.end = w.part.start, w.part.start+size
	return nil
}

// open opens the file that member 0 has made.
func (w *writing) open() (err error) {
	w.part.file, err = os.OpenFile(w.other, os.O_WRONLY, 0)
	if err == nil {
		w.part.careful, err = os.OpenFile(w.other, os.O_WRONLY|dataSync, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w, but %s has made it: the hosts must have the folder in common", err, PlaceOf(w.team, 0))
	}
	return err
}

// write writes this member's part, and flushes it to the disk.
func (w *writing) write(ctx context.Context, write func(io.Writer) error) error {
	w.part.ctx = ctx
	if err := write(&w.part); err != nil {
		return err
	}
	if w.part.at != w.part.end {
		return fmt.Errorf("%d bytes of a part are missing", w.part.end-w.part.at)
	}
	return w.part.file.Sync()
}

// publish gives the file its name, when all members have written their parts.
func (w *writing) publish() error {
	if w.whole == nil {
		return nil
	}
	return w.whole.Close()
}

// end closes the file, and removes it if it has not got its name. Every member removes it: member 0 may be lost.
func (w *writing) end() {
	w.part.file.Close() // a nil one has no effect
	w.part.careful.Close()
	switch {
	case w.done:
	case w.whole != nil:
		w.whole.Abort()
	case w.other != "":
		os.Remove(w.other)
	}
}
