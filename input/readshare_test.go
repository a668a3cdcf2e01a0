package input_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/input"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
)

// contents are files, by what is special about them.
func contents() map[string]string {
	long := strings.Repeat("0123456789abcdef", 40_000) // longer than the buffer of an iteration
	return map[string]string{
		"empty":                "",
		"one newline":          "\n",
		"empty lines":          "\n\n\n\n\n\n\n",
		"no newline":           "abc",
		"no final newline":     "a\nbc\ndef",
		"as usual":             "a\nbc\ndef\nghij\n",
		"CRLF":                 "a\r\nbc\r\n\r\ndef\r\n",
		"CR alone":             "a\rb\nc\r",
		"fewer lines than PEs": "x\n",
		"one long line":        long,
		"a long line":          "a\n" + long + "\nb\n",
		"a long line first":    long + "\nb",
		"many lines":           strings.Repeat("line of some text\n", 50_000),
	}
}

// write writes content to a file that every PE finds.
func write(t *testing.T, name, content string) (path string) {
	t.Helper()
	path = filepath.Join(os.TempDir(), "pgas-readshare-"+strings.ReplaceAll(strings.ReplaceAll(t.Name(), "/", "-"), " ", "-")+name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(path) })
	return path
}

// A unit is a line or record as it was read.
type unit struct {
	at   int64
	text string
}

// unitsOf are the units of a file, read in one go.
func unitsOf(content string, units input.Units) (all []unit) {
	if units != input.Lines {
		for at := 0; at < len(content); at += int(units) {
			all = append(all, unit{int64(at), content[at : at+int(units)]})
		}
		return all
	}
	at := int64(0)
	scan := bufio.NewScanner(strings.NewReader(content))
	scan.Buffer(nil, 1<<20)
	scan.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, token, err := bufio.ScanLines(data, atEOF)
		if token != nil {
			all = append(all, unit{at, string(token)})
		}
		at += int64(n)
		return n, token, err
	})
	for scan.Scan() {
	}
	return all
}

// compareShares reads a file by shares, and compares all that the PEs read with the file.
func compareShares(ctx context.Context, t *pgas.Team, path, content string, units input.Units) error {
	s, err := input.ReadShare(ctx, t, path, units)
	if err != nil {
		return err
	}
	defer s.Close()
	start, end := s.Range()
	raw, err := io.ReadAll(s.Reader())
	if err != nil || string(raw) != content[start:end] {
		return fmt.Errorf("bytes %d to %d of %d: read %d, %w", start, end, len(content), len(raw), err)
	}
	var mine []byte
	n := 0
	for range 2 { // All begins anew
		mine, n = nil, 0
		for at, text := range s.All() {
			mine = fmt.Appendf(mine, "%d %s\x00", at, text)
			n++
		}
	}
	if err := s.Err(); err != nil {
		return err
	}
	parts, err1 := pgas.AllGather(ctx, t, mine)
	bytesRead, err2 := pgas.SumValue(ctx, t, end-start)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var want []byte
	for _, u := range unitsOf(content, units) {
		want = fmt.Appendf(want, "%d %s\x00", u.at, u.text)
	}
	if got := bytes.Join(parts, nil); !bytes.Equal(got, want) || bytesRead != int64(len(content)) {
		return fmt.Errorf("%d PEs read %d bytes of %d: %.100q, want %.100q", t.NPEs(), bytesRead, len(content), got, want)
	}
	return nil
}

// TestReadShare: together the shares are the file, on every kind of PE.
func TestReadShare(t *testing.T) {
	for name, content := range contents() {
		t.Run(name, func(t *testing.T) {
			path := write(t, "", content)
			body := func(ctx context.Context, w *pgas.World) error {
				return compareShares(ctx, w.Team(), path, content, input.Lines)
			}
			pgastest.RunGoroutines(t, 1, body)
			if name == "a long line" || name == "no final newline" {
				pgastest.RunAll(t, 4, body)
			} else {
				pgastest.RunGoroutines(t, 4, body)
			}
		})
	}
}

// TestReadRecords: records of a size that divides the file, and of one that does not.
func TestReadRecords(t *testing.T) {
	content := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 10)
	path := write(t, "", content)
	pgastest.RunAll(t, 3, func(ctx context.Context, w *pgas.World) error {
		for _, size := range []int{1, 4, 36, 120, 360} {
			if err := compareShares(ctx, w.Team(), path, content, input.Records(size)); err != nil {
				return fmt.Errorf("records of %d bytes: %w", size, err)
			}
		}
		_, err := input.ReadShare(ctx, w.Team(), path, input.Records(7))
		if err == nil || !strings.Contains(err.Error(), "360 bytes, which are no whole records of 7 bytes") {
			return fmt.Errorf("records of 7 bytes: %w", err)
		}
		return nil
	})
}

// FuzzReadShare: any content, in lines and in bytes.
func FuzzReadShare(f *testing.F) {
	for _, content := range contents() {
		if len(content) < 1000 {
			f.Add(content, byte(3))
		}
	}
	f.Fuzz(func(t *testing.T, content string, npes byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := pgastest.Goroutines(t.Context(), 1+int(npes%5), pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
			return errors.Join(compareShares(ctx, w.Team(), path, content, input.Lines), compareShares(ctx, w.Team(), path, content, input.Records(1)))
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// fifo returns a pipe with a name to which nobody writes.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReadShareFails: what one PE finds is told on all, with its number and host.
func TestReadShareFails(t *testing.T) {
	good, other := write(t, "good", "one\ntwo\nthree\n"), write(t, "other", "one\ntwo\nthree four\n")
	moved := write(t, "moved", "o\nnetwo\nthree\n") // the same size
	for _, test := range []struct {
		name, path, want string
		is               error
	}{
		{"absent", good + "-absent", "PE 1 (host localhost): open ", fs.ErrNotExist},
		{"a directory", os.TempDir(), " is a directory: name a regular file", nil},
		{"a pipe", fifo(t), " is a pipe: name a regular file", nil},
		{"a device", "/dev/zero", "PE 1 (host localhost): /dev/zero is a device: name a regular file", nil},
		{"another size", other, "it has 14 bytes on PE 0 (host localhost) and 19 bytes on PE 1 (host localhost)", nil},
		{"other lines", moved, "its lines end at other places on PE ", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := hang.Context(t.Context())
			defer cancel()
			err := pgastest.Goroutines(ctx, 3, pgastest.Options{}, func(ctx context.Context, w *pgas.World) error {
				path := good
				if w.PE() == 1 {
					path = test.path
				}
				_, err := input.ReadShare(ctx, w.Team(), path, input.Lines)
				if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
					return fmt.Errorf("PE %d: %w, want %q", w.PE(), err, test.want)
				}
				return w.Barrier(ctx) // the team can be used still
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestReadShareNamesHost: a file that is not on one of two hosts.
func TestReadShareNamesHost(t *testing.T) {
	path := write(t, "", "one\ntwo\n")
	pgastest.RunHosts(t, 2, 2, func(ctx context.Context, w *pgas.World) error {
		mine := path
		if w.PE() == 1 {
			mine += "-absent"
		}
		_, err := input.ReadShare(ctx, w.Team(), mine, input.Lines)
		if want := "PE 1 (host " + w.HostOf(1) + "): open "; err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("%w, want %q", err, want)
		}
		return nil
	})
}

// TestReadShareTwice: iterations that overlap yield all lines each, and an error of one is neither another's end nor
// forgotten when another one begins or ends well.
func TestReadShareTwice(t *testing.T) {
	const lines = 1000
	path := write(t, "", strings.Repeat("some text\n", lines))
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		s, err := input.ReadShare(ctx, w.Team(), path, input.Records(10))
		if err != nil {
			return err
		}
		defer s.Close()
		group := w.Go(ctx)
		for range 4 {
			group.Go(func(context.Context) error {
				n := 0
				for range s.All() {
					n++
				}
				if n != lines || s.Err() != nil {
					return fmt.Errorf("%d lines, %w", n, s.Err())
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		outer := 0
		for range s.All() { // has read what it yields, for it is less than a buffer
			if outer++; outer > 1 {
				continue
			}
			if err := os.Truncate(path, 95); err != nil {
				return err
			}
			for range s.All() {
			}
			for range 2 {
				if s.Err() == nil {
					return errors.New("the error of an iteration is forgotten")
				}
				for range s.All() {
					break
				}
			}
		}
		if outer != lines || s.Err() == nil {
			return fmt.Errorf("%d lines, %w", outer, s.Err())
		}
		return nil
	})
}

// TestReadShareShrinks: a file that becomes shorter while it is read.
func TestReadShareShrinks(t *testing.T) {
	path := write(t, "", strings.Repeat("some text\n", 1000))
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		s, err := input.ReadShare(ctx, w.Team(), path, input.Lines)
		if err != nil {
			return err
		}
		defer s.Close()
		if err := os.Truncate(path, 95); err != nil {
			return err
		}
		n := 0
		for range s.All() {
			n++
		}
		if err := s.Err(); err == nil || n != 9 || !strings.Contains(err.Error(), "it has become shorter since it was opened, with 10000 bytes") {
			return fmt.Errorf("%d lines, %w", n, err)
		}
		return s.Close()
	})
}

// TestReadShareDiffers: a member that gives other units than the others is told on all of them.
func TestReadShareDiffers(t *testing.T) {
	path := write(t, "", "one\ntwo\n")
	for _, npes := range []int{2, 3} {
		pgastest.RunAll(t, npes, func(ctx context.Context, w *pgas.World) error {
			units := input.Lines
			if w.PE() == npes-1 {
				units = input.Records(1)
			}
			_, err := input.ReadShare(ctx, w.Team(), path, units)
			var differ *pgas.MismatchError
			if !errors.As(err, &differ) || len(differ.Calls) != 2 {
				return fmt.Errorf("PE %d got %w", w.PE(), err)
			}
			for _, want := range []string{"input.ReadShare in lines", "input.ReadShare in records of 1 bytes"} {
				if !strings.Contains(err.Error(), want) {
					return fmt.Errorf("%q is missing in: %w", want, err)
				}
			}
			return nil
		})
	}
}

// TestMisuse: arguments that cannot be, teams that are none, and shares that were never made or are closed.
func TestMisuse(t *testing.T) {
	path := write(t, "", "one\ntwo\n")
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		var none context.Context
		destroyed, err := w.Team().SplitStrided(ctx, 0, 1, 1)
		if err != nil {
			return err
		}
		if err := destroyed.Destroy(ctx); err != nil {
			return err
		}
		closed, err := input.ReadShare(ctx, w.Team(), path, input.Lines)
		if err != nil {
			return err
		}
		if err := errors.Join(closed.Close(), closed.Close(), (*input.FileShare)(nil).Close()); err != nil {
			return err
		}
		read := func(ctx context.Context, t *pgas.Team, units input.Units) func() {
			return func() { input.ReadShare(ctx, t, path, units) }
		}
		const unmade = "a nil, zero or closed FileShare"
		for _, test := range []struct {
			want string
			call func()
		}{
			{"input.Records: a record of 0 bytes", func() { input.Records(0) }},
			{"input.ReadShare: units of -1 bytes", read(ctx, w.Team(), -1)},
			{"input.ReadShare: the context.Context is nil", read(none, w.Team(), input.Lines)},
			{"input.ReadShare: this PE is no member of the team", read(ctx, nil, input.Lines)},
			{"input.ReadShare: a zero Team", read(ctx, new(pgas.Team), input.Lines)},
			{" was destroyed", read(ctx, destroyed, input.Lines)},
			{"input.WriteShare: the context.Context is nil", func() { input.WriteShare(none, w.Team(), path, nil) }},
			{"input.WriteShare: this PE is no member of the team", func() { input.WriteShare(ctx, nil, path, nil) }},
			{"FileShare.All: " + unmade, func() { new(input.FileShare).All() }},
			{"FileShare.All: " + unmade, func() { closed.All() }},
			{"FileShare.Reader: " + unmade, func() { (*input.FileShare)(nil).Reader() }},
			{"FileShare.Range: " + unmade, func() { (*input.FileShare)(nil).Range() }},
			{"FileShare.Err: " + unmade, func() { (*input.FileShare)(nil).Err() }},
		} {
			if got := misuseOf(test.call); !strings.Contains(got, test.want) {
				return fmt.Errorf("got %q, want %q", got, test.want)
			}
		}
		return nil
	})
}

// misuseOf returns what the *pgas.UsageError says that call panics with, or "".
func misuseOf(call func()) (misuse string) {
	defer func() {
		if err, ok := recover().(*pgas.UsageError); ok {
			misuse = err.Op + ": " + err.Msg
		}
	}()
	call()
	return ""
}
