package main

// The files that are written, and how avo prints one.

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// A file is one that is written, in two parts: name_amd64.s has the instructions, name_stubs_amd64.go declares the
// functions.
type file struct {
	dir, name, pkg string // dir from the top directory
	write          func(c *build.Context)
}

var files = []file{
	{"samples/transpose", "vectors", "main", transposeKernels},
	{"samples/stencil", "vectors", "main", stencilKernels},
	{"pgas/internal/vector", "kernels", "vector", reductionKernels},
}

// top is the top directory of the repository: a test and "go run -C" are two below it.
const top = "../.."

func main() {
	for _, f := range files {
		for name, text := range f.texts() {
			if err := os.WriteFile(name, text, 0o666); err != nil {
				fmt.Fprintln(os.Stderr, "assembly:", err)
				os.Exit(1)
			}
		}
	}
}

// texts returns the contents of both parts, by their names.
func (f file) texts() map[string][]byte {
	c := build.NewContext()
	f.write(c)
	parsed, err := c.Result()
	if err == nil {
		err = pass.Compile.Execute(parsed)
	}
	if err != nil {
		panic(fmt.Sprintf("%s of %s: %v", f.name, f.dir, err)) // a mistake in a kernel
	}
	how := printer.Config{Name: "tests/assembly", Pkg: f.pkg}
	path := filepath.Join(top, f.dir, f.name)
	texts := map[string][]byte{}
	for suffix, print := range map[string]printer.Printer{"_amd64.s": printer.NewGoAsm(how), "_stubs_amd64.go": printer.NewStubs(how)} {
		text, err := print.Print(parsed)
		if err != nil {
			panic(fmt.Sprintf("%s%s: %v", path, suffix, err))
		}
		texts[path+suffix] = text
	}
	return texts
}
