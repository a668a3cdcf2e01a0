package main

// The command line.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

const help = `hashtable counts the Go identifiers of a source tree, on all PEs of a job at once.

usage: pgasrun [pgasrun's flags] ./samples/hashtable [flags]

  pgasrun -n 4 ./samples/hashtable                 the standard library, four PEs on this host
  pgasrun -n 4 ./samples/hashtable -verify         and hold it against a sequential count
  pgasrun -hosts a:2,b:2 -launch 'ssh {host}' /opt/hashtable -input /src
                                                   two PEs on each of two hosts, which both have
                                                   the program and the tree
  pgasrun -n 4 ./samples/hashtable -json | jq .top

PE 0 prints the 20 most frequent identifiers and the totals. The exit status is 0 if everything was
counted, and with -verify if it agrees with a sequential count.

flags:
`

// The table's size if the flags do not say. It holds the standard library three times over, costs nothing
// until used, and grows.
const (
	slotsInAll = 1 << 19 // of all PEs
	slotsLeast = 1 << 12 // of each
	heapShare  = 4       // slots per overflow entry
	textShare  = 8       // bytes of spelling per slot
	tableMost  = 1 << 31
)

type options struct {
	input  string
	table  int // slots of each PE; 0: see slots
	heap   int // overflow entries of each PE; 0: see slots
	batch  int
	direct bool
	verify bool
	json   bool
}

// parse reads the command line. If it asks for help, text is the help.
func parse(args []string) (o options, text string, err error) {
	fs := flag.NewFlagSet("hashtable", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.input, "input", "", "count the .go files below `dir` (default: the source of the Go tree, GOROOT/src)")
	fs.IntVar(&o.table, "table", 0, "`slots` of the table on each PE to start with (default: half a million, spread over the PEs)")
	fs.IntVar(&o.heap, "heap", 0, "overflow `entries` on each PE to start with (default: a quarter of the slots)")
	fs.IntVar(&o.batch, "batch", 1<<20, "`bytes` of source that a PE counts by itself before it inserts into the table")
	fs.BoolVar(&o.direct, "direct", false, "update homes on other hosts by remote atomics too, instead of sending them batches")
	fs.BoolVar(&o.verify, "verify", false, "compare with a sequential count on PE 0; fail if they differ")
	fs.BoolVar(&o.json, "json", false, "print one JSON object")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		var b strings.Builder
		fs.SetOutput(&b)
		fs.PrintDefaults()
		return o, help + b.String(), nil
	case err != nil:
		return o, "", fmt.Errorf("%w; -h lists the flags", err)
	case fs.NArg() > 0:
		return o, "", fmt.Errorf("unexpected argument %q: name the tree with -input", fs.Arg(0))
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return o, "", o.check(given)
}

// check returns an error for flags that do not go together.
func (o *options) check(given map[string]bool) error {
	for _, f := range []struct {
		name        string
		value, most int
	}{{"table", o.table, tableMost}, {"heap", o.heap, tableMost}, {"batch", o.batch, 1 << 40}} {
		if given[f.name] && (f.value < 1 || f.value > f.most) {
			return fmt.Errorf("-%s %d: give a number from 1 to %d", f.name, f.value, f.most)
		}
	}
	return nil
}

// slots returns the size of each PE's volume, in a job of npes.
func (o *options) slots(npes int) (table, heap int) {
	table = o.table
	if table == 0 {
		table = max(slotsLeast, slotsInAll/npes)
	}
	heap = o.heap
	if heap == 0 {
		heap = max(1, table/heapShare)
	}
	return table, heap
}
