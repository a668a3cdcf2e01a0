package input

import (
	"context"
	"io"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/jointfile"
	"github.com/gopgas/gopgas/pgas"
)

// WriteShare makes the file at path of the shares of all members of t, in the order of the team. Shares have any
// length. Each member writes its own, and nothing of the content moves between PEs; so the hosts must have the folder
// of the file in common. WriteShare is collective over t; each member gives the path of the file in the file system of
// its host. The share is not used any more when WriteShare returns.
//
// The file is there whole or not at all. It is written under another name, which ends in ".part", in the same folder,
// and flushed to the disk. When all members have done so it gets its name, and replaces an older file. When WriteShare
// returns nil the file is there.
//
// WriteShare returns an error on every member, which names the PE and the host, if a member cannot write its share:
// because its host does not have the folder that the first member has, because the disk is full, and so on. Then an
// older file is as it was, and nothing else is left. It returns the errors of a collective (see pgas.Team); then the
// file is the older one or whole. It panics with *pgas.UsageError if ctx is nil, or if t is no team of this PE.
func WriteShare(ctx context.Context, t *pgas.Team, path string, share []byte) error {
	hook.MustBegin("input.WriteShare", ctx, t)
	return jointfile.Write(ctx, t, "input.WriteShare", path, int64(len(share)), func(w io.Writer) error {
		_, err := w.Write(share)
		return err
	})
}
