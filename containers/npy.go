package containers

// Arrays in files of NumPy.
//
// The elements of a file are shared out as Team.Share does, whatever the distribution of the array: each member writes
// or reads a piece of the file in one go. Of an array in blocks these are its own elements. Of another it gets or puts
// those of other members, some at a time, because runs of a few elements would be as many system calls.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/internal/jointfile"
)

// npyPiece is how many bytes of elements of other members are held at a time.
const npyPiece = 1 << 20

// SaveNPY writes the elements of a, in the order of their indexes, to the file at path, which numpy.load reads as an
// array of one dimension. T is a bool, an integer, a float, a complex number, or a type of one of these kinds. It may
// be a fixed-size array, too: a [3]float64 makes an array of two dimensions, each row an element.
//
// SaveNPY is collective over the members, and contains a barrier before. Each member writes a part of the file, so the
// hosts must have its folder in common. The file is there whole or not at all: it is written under another name, which
// ends in ".part", and flushed to the disk, and then it gets its name and replaces an older one.
//
// SaveNPY returns an error on every member, which names the PE and the host, if a member cannot write its part. Then
// an older file is as it was, and nothing else is left. It returns the errors of a collective (see pgas.Team); then
// the file is the older one or whole. It panics with *pgas.UsageError if NumPy has no elements like T.
func SaveNPY[T any](ctx context.Context, a *Array[T], path string) error {
	const op = "SaveNPY"
	a.enter(ctx, op)
	defer a.turn.leave()
	head := a.npyHead(op)
	if err := a.barrier(ctx, op); err != nil {
		return err
	}
	m := a.members
	lo, hi := m.Team.Share(a.layout.n)
	size := int64(hi-lo) * int64(carry.SizeOf[T]())
	var start []byte
	if m.Me == 0 {
		start = head.encode()
	}
	return jointfile.Write(ctx, m.Team, "containers.SaveNPY of "+head.String(), path, size+int64(len(start)),
		func(out io.Writer) error {
			if _, err := out.Write(start); err != nil {
				return err
			}
			return a.eachPiece(lo, hi, func(at int, piece []T) error {
				if a.layout.block > 0 {
					if err := a.GetRange(ctx, at, piece); err != nil {
						return err
					}
				}
				_, err := out.Write(bytesOf(piece))
				return err
			})
		})
}

// LoadNPY sets the elements of a to those of the file at path, which SaveNPY or numpy.save has written, in order. The
// file must have as many elements as a, and the dtype and shape that SaveNPY would write. A file does not fit if the
// most significant byte of an element is the first, or if it has several dimensions in Fortran order.
//
// LoadNPY is collective over the members, and contains a barrier before and after. Each member reads a part of the file
// from the file system of its host, and gives the path there.
//
// LoadNPY returns an error on every member, which names the PE and the host, if a member cannot open or read the file,
// if the file is damaged, or if members see files of different sizes. It returns an error that names both shapes and
// dtypes if the file does not fit. It returns the errors of a collective (see pgas.Team). Before a file is known to fit
// nothing is changed; if then it cannot be read, elements have old or new values. LoadNPY panics with *pgas.UsageError
// if NumPy has no elements like T.
func LoadNPY[T any](ctx context.Context, a *Array[T], path string) error {
	const op = "LoadNPY"
	a.enter(ctx, op)
	defer a.turn.leave()
	head := a.npyHead(op)
	if err := a.barrier(ctx, op); err != nil {
		return err
	}
	if err := a.loadNPY(ctx, &head, path); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return a.settle(ctx, op)
}

// npyHead returns the head of a's file. It panics with *pgas.UsageError if there is none.
func (a *Array[T]) npyHead(op string) npyHead {
	h, ok := npyHeadOf(reflect.TypeFor[T](), a.layout.n)
	if !ok {
		carry.Misuse(op, "elements of type %v: files of NumPy have bools, numbers and fixed-size arrays of these; "+
			"give each field of a struct an array of its own", reflect.TypeFor[T]())
	}
	return h
}

// eachPiece calls f for the elements from lo to hi, hi excluded. Of an array in blocks, f gets its memory in one piece.
// Of another it gets pieces of memory that is used again.
func (a *Array[T]) eachPiece(lo, hi int, f func(at int, piece []T) error) error {
	if a.layout.block == 0 {
		return f(lo, a.Local())
	}
	buf := make([]T, min(hi-lo, max(1, npyPiece/max(1, carry.SizeOf[T]()))))
	for at := lo; at < hi; at += len(buf) {
		buf = buf[:min(len(buf), hi-at)]
		if err := f(at, buf); err != nil {
			return err
		}
	}
	return nil
}

// loadNPY reads the elements of a file. It returns an error unless the file has the head that is given.
func (a *Array[T]) loadNPY(ctx context.Context, head *npyHead, path string) error {
	t, request := a.members.Team, "containers.LoadNPY of "+head.String()
	f, size, err := jointfile.Open(ctx, t, request, path)
	if err != nil {
		return err
	}
	defer f.Close()
	agree := func(err error) error {
		_, err = jointfile.Exchange(ctx, t, request, jointfile.Finding{}, err)
		return err
	}
	found, start, err := readNPYHead(f)
	if err == nil {
		err = head.mustFit(&found)
	}
	elements := int64(a.layout.n) * int64(carry.SizeOf[T]())
	if err == nil && elements > size-start {
		err = fmt.Errorf("a file of NumPy that ends before its elements: of %d bytes it has %d", elements, size-start)
	}
	if err := agree(err); err != nil {
		return err
	}
	return agree(a.readNPY(ctx, f, start, head.dtype == npyDtypes[reflect.Bool]))
}

// readNPY reads this member's share of the elements of a file, which begin at start.
func (a *Array[T]) readNPY(ctx context.Context, f *os.File, start int64, isBool bool) error {
	lo, hi := a.members.Team.Share(a.layout.n)
	return a.eachPiece(lo, hi, func(at int, piece []T) error {
		b := bytesOf(piece)
		if _, err := f.ReadAt(b, start+int64(at)*int64(carry.SizeOf[T]())); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("it has become shorter since it was opened: nothing may change it meanwhile")
			}
			return err
		}
		if isBool {
			for i := range b { // a bool of Go is 0 or 1; one of NumPy is true if it is not 0
				b[i] = min(b[i], 1)
			}
		}
		if a.layout.block > 0 {
			a.PutRange(at, piece)
		}
		return context.Cause(ctx)
	})
}

// mustFit returns an error unless found, the head of a file, is of the elements that h describes.
func (h *npyHead) mustFit(found *npyHead) error {
	fortran := found.fortran && len(found.shape) > 1
	if h.dtype == found.dtype && slices.Equal(h.shape, found.shape) && !fortran {
		return nil
	}
	order, x := "", "x"
	if fortran {
		order, x = " in Fortran order", "np.ascontiguousarray(x)"
	}
	if h.dtype != found.dtype {
		x += fmt.Sprintf(".astype(%q)", h.dtype)
	}
	remedy := ""
	if slices.Equal(h.shape, found.shape) {
		remedy = ": in NumPy, save " + x
	}
	return fmt.Errorf("it has %v%s, and the array has %v%s", found, order, h, remedy)
}
