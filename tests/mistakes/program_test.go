package mistakes

// The programs. All mistakes of running programs are functions of one, which is built once.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const programHead = `package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/gopgas/gopgas/notify"
	"github.com/gopgas/gopgas/pgas"
)

// What the mistakes may use.
var (
	_ = errors.New
	_ = fmt.Sprint
	_ = log.Print
	_ = os.Exit
	_ = slices.Sort[[]int]
	_ = time.Now
	_ = notify.Any
	_ pgas.Signal
	_ context.Context
)
`

// function returns a file with mistake number i of the program.
func (m *mistake) function(i int) string {
	if m.is("main") {
		return fmt.Sprintf("%s\nfunc init() { mains[%d] = main%[2]d }\n\nfunc main%[2]d() {\n//line mistake.go:1\n%[3]s}\n", programHead, i, m.source)
	}
	return fmt.Sprintf("%s\nfunc init() { bodies[%d] = body%[2]d }\n\nfunc body%[2]d(ctx context.Context, w *pgas.World, cells CellSym, words pgas.Sym[int64]) error {\n"+
		"me, next := w.PE(), (w.PE()+1)%%w.NPEs()\n_, _ = me, next\n//line mistake.go:1\n%[3]s\treturn nil\n}\n", programHead, i, m.source)
}

const programMain = `package main

import (
	"context"
	"os"
	"strconv"

	"github.com/gopgas/gopgas/pgas"
)

var (
	mains  = map[int]func(){}
	bodies = map[int]func(context.Context, *pgas.World, CellSym, pgas.Sym[int64]) error{}
)

func main() {
	i, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	if f := mains[i]; f != nil {
		f()
		return
	}
	pgas.Main(func(ctx context.Context, w *pgas.World) error {
		cells, err := AllocCell(ctx, w, 4)
		if err != nil {
			return err
		}
		words, err := pgas.Alloc[int64](ctx, w, 8)
		if err != nil {
			return err
		}
		return bodies[i](ctx, w, cells, words)
	})
}
`

// writeProgram writes the program of all mistakes that run.
func writeProgram(dir string, p *document) error {
	files := map[string]string{"main.go": programMain, "cell.go": p.cell}
	for i := range p.mistakes {
		if m := &p.mistakes[i]; m.runs() {
			files[fmt.Sprintf("mistake%02d.go", i)] = m.function(i)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// runs reports whether the mistake is made by a program that runs.
func (m *mistake) runs() bool {
	return !m.is("generate") && !m.is("build") && !m.is("vet") && !m.is("race") && !m.is("tags") && !m.is("again")
}

// name is the mistake's for files.
func (m *mistake) name() string { return strings.ReplaceAll(strings.ToLower(m.title), " ", "-") }
