// Command kmer counts the k-mers of DNA sequences, the substrings of k bases, in a hash table that is spread over the
// PEs of a job. A k-mer and its reverse complement are the same.
//
// reads.go reads sequences and makes k-mers, count.go counts them on all PEs, local.go on one. tests/peers/kmer.c is
// the same in C, by OpenSHMEM, an atomic at a time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/samples/kernel"
)

const help = `kmer counts the k-mers of a FASTA or FASTQ file, on all PEs of a job at once.

usage: pgasrun [pgasrun's flags] ./samples/kmer [flags]

  pgasrun -n 4 ./samples/kmer -verify               generated reads, held against a sequential count
  pgasrun -n 4 ./samples/kmer -k 21 -input a.fastq  a file, which every host has under that name

flags:
`

// options are the command line.
type options struct {
	input    string
	k        int
	bases    int
	capacity int
	verify   bool
	json     bool
}

// parse reads the command line.
func parse(args []string, out io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("kmer", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.Usage = func() { fmt.Fprint(out, help); fs.PrintDefaults() }
	fs.StringVar(&o.input, "input", "", "count the sequences of `file`, FASTA or FASTQ (default: generated reads)")
	fs.IntVar(&o.k, "k", 21, "`bases` of a k-mer, 1 to 31")
	fs.IntVar(&o.bases, "bases", 200_000, "`bases` to generate if there is no -input")
	fs.IntVar(&o.capacity, "capacity", 1<<22, "different `k-mers` that the table has room for")
	fs.BoolVar(&o.verify, "verify", false, "compare with a sequential count on PE 0; fail if they differ")
	fs.BoolVar(&o.json, "json", false, "print one JSON object, as pgasbench does")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q: name the file with -input", fs.Arg(0))
	case o.k < 1 || o.k > maxK:
		return o, fmt.Errorf("-k %d: give a number from 1 to %d", o.k, maxK)
	case o.bases < 1 || o.capacity < 1:
		return o, errors.New("-bases and -capacity are at least 1")
	}
	return o, nil
}

// open returns the sequences to count.
func (o *options) open() (io.ReadCloser, error) {
	if o.input == "" {
		return io.NopCloser(generate(o.bases)), nil
	}
	return os.Open(o.input)
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kmer:", err)
		os.Exit(2)
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error { return run(ctx, w, o, os.Stdout) })
}

// run counts and has PE 0 print the result.
func run(ctx context.Context, w *pgas.World, o options, out io.Writer) error {
	c, err := newCounted(ctx, w, o)
	if err != nil {
		return err
	}
	in, err := o.open()
	if err != nil {
		return err
	}
	defer in.Close()
	took, err := kernel.Time(ctx, w, 1, func(int) error { return c.count(ctx, in) })
	if err != nil {
		return err
	}
	s, err := c.summarize(ctx)
	if err != nil {
		return err
	}
	if w.PE() == 0 {
		if err := s.report(out, w, o, took); err != nil {
			return err
		}
		if o.verify {
			if err := c.verify(o, out); err != nil {
				return err
			}
		}
	}
	if err := w.Barrier(ctx); err != nil { // PE 0 may be reading the others' parts
		return err
	}
	return c.table.Free(ctx)
}
