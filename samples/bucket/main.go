// Bucket saves its state in a bucket of an object store. When it is started again, on any number of PEs, it goes on
// from what was saved last:
//
//	pgasrun -n 4 bucket -bucket 'file:///shared/cuts?metadata=skip&no_tmp_dir=1' -save 10 -verify
//
// The package of a provider adds its buckets: with a blank import of gocloud.dev/blob/s3blob, gcsblob or azureblob, and
// go mod tidy, -bucket takes s3://NAME, gs://NAME or azblob://NAME. They are not imported here, since each adds some
// tens of modules.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file:///DIR
	_ "gocloud.dev/blob/memblob"  // mem://, which one process has for itself

	"github.com/gopgas/gopgas/ckpt"
	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
)

// options are the flags.
type options struct {
	bucket             string
	cells, steps, save int
	verify             bool
}

func main() {
	var o options
	flag.StringVar(&o.bucket, "bucket", "", "the URL of the bucket, such as file:///DIR")
	flag.IntVar(&o.cells, "cells", 1_000_000, "how many generators of random numbers there are")
	flag.IntVar(&o.steps, "steps", 100, "how many numbers each draws")
	flag.IntVar(&o.save, "save", 10, "save after each so many steps")
	flag.BoolVar(&o.verify, "verify", false, "compare the numbers with those of one PE")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: pgasrun -n PES bucket -bucket URL [flags]\n\nBucket saves its state in a bucket of an object store.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "bucket:", err)
		os.Exit(2)
	}
	pgas.Main(o.run)
}

func (o options) check() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("%q: bucket takes flags only", flag.Arg(0))
	case o.bucket == "":
		return fmt.Errorf("give the URL of a bucket, such as -bucket file:///DIR")
	case o.cells < 1 || o.steps < 0 || o.save < 1:
		return fmt.Errorf("-cells and -save must be at least 1, -steps not negative")
	}
	return nil
}

// run opens the bucket on this PE.
func (o options) run(ctx context.Context, w *pgas.World) error {
	b, err := blob.OpenBucket(ctx, o.bucket)
	if err != nil {
		return err
	}
	defer b.Close()
	sum, err := o.draw(ctx, w, store{b, o.bucket})
	if err == nil && w.PE() == 0 {
		fmt.Printf("%d numbers on %d PEs: their sum is %d\n", o.cells, w.NPEs(), sum)
	}
	return err
}

// draw takes the steps that are left, and returns the sum of the last numbers.
func (o options) draw(ctx context.Context, w *pgas.World, in ckpt.Store) (sum uint64, err error) {
	cells, err := containers.NewArray[uint64](ctx, w, o.cells)
	if err != nil {
		return 0, err
	}
	for i, c := range cells.LocalAll() {
		*c = uint64(i)
	}
	step := 0
	set := ckpt.New(w, ckpt.In(in))
	set.Add("cells", cells)
	set.Add("step", ckpt.Shared(&step))
	cut, ok, err := set.Restore(ctx)
	if err != nil {
		return 0, err
	}
	if ok && w.PE() == 0 {
		fmt.Printf("goes on from cut %v, after step %d\n", cut, step)
	}
	for step < o.steps {
		for _, c := range cells.LocalAll() {
			*c = next(*c)
		}
		if step++; step%o.save == 0 {
			if err := set.Save(ctx); err != nil {
				return 0, err
			}
		}
	}
	if _, err := set.Wait(ctx); err != nil { // the bucket is open until the last cut is in it
		return 0, err
	}
	for i, c := range cells.LocalAll() {
		if o.verify && *c != alone(i, step) {
			return 0, fmt.Errorf("after %d steps number %d is %d, and not %d", step, i, *c, alone(i, step))
		}
		sum += *c
	}
	return pgas.SumValue(ctx, w.Team(), sum)
}

// next returns the number that a generator draws after x.
func next(x uint64) uint64 { return x*6364136223846793005 + 1442695040888963407 }

// alone returns what a generator has drawn after some steps.
func alone(i, steps int) uint64 {
	x := uint64(i)
	for range steps {
		x = next(x)
	}
	return x
}
