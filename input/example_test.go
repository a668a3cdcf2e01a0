package input_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gopgas/gopgas/input"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// The lines of one file, each read by one PE.
func ExampleReadShare() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "lines")
	if err := os.WriteFile(path, []byte("a\nfew\nlines\nof\ntext\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	err = pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		file, err := input.ReadShare(ctx, w.Team(), path, input.Lines)
		if err != nil {
			return err
		}
		defer file.Close()
		letters := 0
		for _, line := range file.All() {
			letters += len(line)
		}
		if err := file.Err(); err != nil {
			return err
		}
		letters, err = pgas.SumValue(ctx, w.Team(), letters)
		if err == nil && w.PE() == 0 {
			fmt.Println(letters, "letters")
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 15 letters
}

// One file of what all PEs have found, in the order of the PEs.
func ExampleWriteShare() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "squares")
	err = pgastest.Goroutines(context.Background(), 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
		var found []byte
		lo, hi := w.Team().Share(7)
		for i := lo; i < hi; i++ {
			found = fmt.Appendln(found, i*i)
		}
		return input.WriteShare(ctx, w.Team(), path, found)
	})
	text, readErr := os.ReadFile(path)
	if err := errors.Join(err, readErr); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(text))
	// Output:
	// 0
	// 1
	// 4
	// 9
	// 16
	// 25
	// 36
}
