package cuts

import (
	"context"
	"io"
)

// A Store keeps files by name, such as those of a directory or the objects of a bucket. All PEs use a Store at the same
// time, each on its host, and all must see the same files. A name has parts of letters, digits and "-._", with a slash
// between two parts. The methods may be called by any number of goroutines. Their errors are those of what keeps the
// files.
type Store interface {
	// Create begins a file. Nobody sees the file before Close, and Close replaces an older one of that name.
	Create(ctx context.Context, name string) (Writer, error)
	// Open opens a file to be read. The error of a file that is not there is fs.ErrNotExist.
	Open(ctx context.Context, name string) (Reader, error)
	// List returns the names of all files that begin with prefix, in order.
	List(ctx context.Context, prefix string) ([]string, error)
	// Remove removes a file. It is no error if there is none.
	Remove(ctx context.Context, name string) error
}

// A Writer writes a file of a Store. One of Close and Abort ends it.
type Writer interface {
	io.Writer
	// Close makes the file visible, whole, and safe from a failure of the machine. After an error there is no file,
	// or the older one.
	Close() error
	// Abort drops what was written. After Close it does nothing.
	Abort()
}

// A Reader reads a file of a Store.
type Reader interface {
	io.ReaderAt
	io.Closer
	Size() int64
}
