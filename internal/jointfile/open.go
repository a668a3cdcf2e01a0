package jointfile

import (
	"context"
	"fmt"
	"os"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
)

// Open opens the regular file at path on every member of t, to be read, and returns its size. Each member gives the
// path in the file system of its host. The errors are those of Exchange; it is one, too, if members see files of
// different sizes. Open is collective over t.
func Open(ctx context.Context, t *pgas.Team, request, path string) (f *os.File, size int64, err error) {
	f, size, err = open(path)
	all, err := Exchange(ctx, t, request, Finding{A: size}, err)
	for pe, found := range all {
		if found.A != all[0].A {
			err = fmt.Errorf("it has %d bytes on %s and %d bytes on %s: every host must have the same file, "+
				"which nothing may change meanwhile", all[0].A, PlaceOf(t, 0), found.A, PlaceOf(t, pe))
			break
		}
	}
	if err != nil {
		f.Close() // a nil one has no effect
		return nil, 0, err
	}
	return f, size, nil
}

func open(path string) (*os.File, int64, error) {
	f, err := boot.OpenRegular(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}
