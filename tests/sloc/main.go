// Command sloc counts the lines of code of the NAS Parallel Benchmarks in samples/npb, and those that change between
// the goroutine version and the version over coherent memory. It prints them beside Table V of the paper of MENPS.
//
//	go run ./tests/sloc          prints the table
//	go run ./tests/sloc -write   puts it into docs/figures/dsm.md
//
//	lines.go  lines of code, and their difference
//	count.go  which files are counted
//	table.go  the table
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// page is where the table stands.
const page = "docs/figures/dsm.md"

func main() {
	write := flag.Bool("write", false, "put the table into "+page)
	root := flag.String("root", ".", "the `folder` of the module")
	flag.Parse()
	if err := run(*root, *write); err != nil {
		fmt.Fprintln(os.Stderr, "sloc:", err)
		os.Exit(1)
	}
}

func run(root string, write bool) error {
	ours, err := counts(root)
	if err != nil {
		return err
	}
	if len(ours) == 0 {
		return fmt.Errorf("no benchmark in %s: run it in the folder of the module, or say where that is by -root", filepath.Join(root, "samples", "npb"))
	}
	if !write {
		fmt.Print(table(ours))
		return nil
	}
	file := filepath.Join(root, page)
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := replaced(string(old), table(ours))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
