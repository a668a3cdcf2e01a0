package containers_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
)

// npyCount is how many elements the arrays of testdata/numpy have.
const npyCount = 7

// npyFiles are the files that NumPy has written, by name.
func npyFiles(t testing.TB) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "numpy", "files.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for line := range strings.Lines(string(text)) {
		name, data, _ := strings.Cut(strings.TrimSpace(line), " ")
		if files[name], err = base64.StdEncoding.DecodeString(data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return files
}

// npyPut writes files to a folder.
func npyPut(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name+".npy"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A npyType has what tests do with arrays of one element type, and the name of the file in testdata.
type npyType struct {
	name string
	// save writes the array of testdata/numpy, and load compares the file with it.
	save, load func(ctx context.Context, w *pgas.World, dir string) error
}

func npyTypeOf[T comparable](name string, value func(v int) T) npyType {
	made := func(ctx context.Context, w *pgas.World) (*containers.Array[T], error) {
		return containers.NewArray[T](ctx, w, npyCount, containers.BlockCyclic(2))
	}
	return npyType{
		name: name,
		save: func(ctx context.Context, w *pgas.World, dir string) error {
			a, err := made(ctx, w)
			if err != nil {
				return err
			}
			for i, p := range a.LocalAll() {
				*p = value(37*i - 3)
			}
			return containers.SaveNPY(ctx, a, filepath.Join(dir, name+".npy"))
		},
		load: func(ctx context.Context, w *pgas.World, dir string) error {
			a, err := made(ctx, w)
			if err != nil {
				return err
			}
			if err := containers.LoadNPY(ctx, a, filepath.Join(dir, name+".npy")); err != nil {
				return err
			}
			for i, p := range a.LocalAll() {
				if want := value(37*i - 3); *p != want {
					return fmt.Errorf("%s: element %d is %v, want %v", name, i, *p, want)
				}
			}
			return nil
		},
	}
}

type (
	meters float64
	truth  bool
)

// npyTypes are elements of every kind.
var npyTypes = []npyType{
	npyTypeOf("bool", func(v int) bool { return v%2 != 0 }),
	npyTypeOf("bool", func(v int) truth { return v%2 != 0 }),
	npyTypeOf("int8", func(v int) int8 { return int8(v) }),
	npyTypeOf("int16", func(v int) int16 { return int16(v) }),
	npyTypeOf("int32", func(v int) int32 { return int32(v) }),
	npyTypeOf("int64", func(v int) int64 { return int64(v) }),
	npyTypeOf("int64", func(v int) int { return v }),
	npyTypeOf("uint8", func(v int) uint8 { return uint8(v) }),
	npyTypeOf("uint16", func(v int) uint16 { return uint16(v) }),
	npyTypeOf("uint32", func(v int) uint32 { return uint32(v) }),
	npyTypeOf("uint64", func(v int) uint64 { return uint64(v) }),
	npyTypeOf("uint64", func(v int) uint { return uint(v) }),
	npyTypeOf("float32", func(v int) float32 { return float32(v) + 0.25 }),
	npyTypeOf("float64", func(v int) float64 { return float64(v) + 0.25 }),
	npyTypeOf("float64", func(v int) meters { return meters(v) + 0.25 }),
	npyTypeOf("complex64", func(v int) complex64 { return complex(float32(v), float32(-2*v)) }),
	npyTypeOf("complex128", func(v int) complex128 { return complex(float64(v), float64(-2*v)) }),
	npyTypeOf("rows", func(v int) [3]float64 { return [3]float64{float64(v), float64(v) + 0.5, float64(v) - 0.5} }),
	npyTypeOf("boxes", func(v int) [2][3]int16 {
		x := int16(v)
		return [2][3]int16{{x, x + 1, x + 2}, {x + 3, x + 4, x + 5}}
	}),
}

// npyEach runs f for every type on some PEs.
func npyEach(t *testing.T, f func(ctx context.Context, w *pgas.World, typ npyType) error) {
	t.Helper()
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		for _, typ := range npyTypes {
			if err := f(ctx, w, typ); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestNPYGolden: files that NumPy has written are loaded, and saved they are the same to the byte.
func TestNPYGolden(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	files := npyFiles(t)
	npyPut(t, from, files)
	npyEach(t, func(ctx context.Context, w *pgas.World, typ npyType) error {
		if err := errors.Join(typ.load(ctx, w, from), typ.save(ctx, w, to)); err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(to, typ.name+".npy"))
		if err != nil || !bytes.Equal(got, files[typ.name]) {
			return fmt.Errorf("%s is %q, want %q (%w)", typ.name, got, files[typ.name], err)
		}
		return w.Barrier(ctx) // a second type has the same name
	})
}

// TestNPYVersions: heads of versions 2 and 3 of the format.
func TestNPYVersions(t *testing.T) {
	dir := t.TempDir()
	npyPut(t, dir, npyFiles(t))
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		a, err := containers.NewArray[int64](ctx, w, npyCount)
		if err != nil {
			return err
		}
		for _, name := range []string{"version2", "version3"} {
			if err := containers.LoadNPY(ctx, a, filepath.Join(dir, name+".npy")); err != nil {
				return err
			}
			for i, p := range a.LocalAll() {
				if *p != int64(37*i-3) {
					return fmt.Errorf("%s: element %d is %d", name, i, *p)
				}
				*p = 0
			}
		}
		return nil
	})
}

// python returns a command that runs Python with NumPy.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	t.Skip("there is no Python with NumPy, which the files are read and written with (Debian: apt-get install python3-numpy)")
	return ""
}

// TestNPYWithNumPy: NumPy itself reads what arrays are saved to, and arrays load what it writes.
func TestNPYWithNumPy(t *testing.T) {
	name := python(t)
	run := func(verb, dir string) {
		out, err := exec.Command(name, filepath.Join("testdata", "numpy", "files.py"), verb, dir).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	saved, written := t.TempDir(), t.TempDir()
	run("write", written)
	npyEach(t, func(ctx context.Context, w *pgas.World, typ npyType) error {
		return errors.Join(typ.save(ctx, w, saved), typ.load(ctx, w, written))
	})
	run("read", saved)
}

// npyDir makes a folder that all PEs use, until remove.
func npyDir(ctx context.Context, w *pgas.World) (dir string, remove func(), err error) {
	if w.PE() == 0 {
		if dir, err = os.MkdirTemp("", "pgas-npy-"); err != nil {
			return "", nil, err
		}
	}
	name, err := pgas.BroadcastSlice(ctx, w.Team(), []byte(dir), 0)
	return string(name), func() {
		if w.PE() == 0 {
			os.RemoveAll(dir)
		}
	}, err
}

// npyRoundTrip saves arrays and loads them in every other distribution.
func npyRoundTrip(ctx context.Context, w *pgas.World, lengths ...int) error {
	dir, remove, err := npyDir(ctx, w)
	if err != nil {
		return err
	}
	defer remove()
	path := filepath.Join(dir, "array.npy")
	for _, n := range lengths {
		for _, from := range slices.Sorted(maps.Keys(distributions)) {
			a, err := containers.NewArray[int64](ctx, w, n, distributions[from]...)
			if err != nil {
				return err
			}
			for i, p := range a.LocalAll() {
				*p = int64(i*i + len(from))
			}
			if err := containers.SaveNPY(ctx, a, path); err != nil {
				return err
			}
			if err := a.Free(ctx); err != nil {
				return err
			}
			if err := npyLoaded(ctx, w, path, n, func(i int) int64 { return int64(i*i + len(from)) }); err != nil {
				return fmt.Errorf("saved from %s: %w", from, err)
			}
		}
	}
	return nil
}

// npyLoaded loads an array of n elements in every distribution and checks it.
func npyLoaded(ctx context.Context, w *pgas.World, path string, n int, want func(i int) int64) error {
	for _, to := range slices.Sorted(maps.Keys(distributions)) {
		a, err := containers.NewArray[int64](ctx, w, n, distributions[to]...)
		if err != nil {
			return err
		}
		if err := containers.LoadNPY(ctx, a, path); err != nil {
			return err
		}
		for i, p := range a.LocalAll() {
			if *p != want(i) {
				return fmt.Errorf("%s: element %d of %d is %d, want %d", to, i, n, *p, want(i))
			}
		}
		if err := a.Free(ctx); err != nil {
			return err
		}
	}
	return nil
}

// TestNPY: arrays are saved and loaded in every distribution, on every kind of PE.
func TestNPY(t *testing.T) {
	pgastest.RunAll(t, 4, func(ctx context.Context, w *pgas.World) error { return npyRoundTrip(ctx, w, 0, 3, 700) })
}

// TestNPYLong: parts that have whole blocks of the file, and more than one piece.
func TestNPYLong(t *testing.T) {
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		return npyRoundTrip(ctx, w, 30_000, 500_001)
	})
}

// TestNPYOtherPEs: what any number of PEs saves, any other loads.
func TestNPYOtherPEs(t *testing.T) {
	const n = 1001
	for _, from := range []int{1, 3} {
		path := filepath.Join(t.TempDir(), "array.npy")
		pgastest.RunGoroutines(t, from, func(ctx context.Context, w *pgas.World) error {
			a, err := containers.NewArray[int64](ctx, w, n, containers.BlockCyclic(10))
			if err != nil {
				return err
			}
			for i, p := range a.LocalAll() {
				*p = int64(5 * i)
			}
			return containers.SaveNPY(ctx, a, path)
		})
		for _, to := range []int{1, 2, 5} {
			pgastest.RunGoroutines(t, to, func(ctx context.Context, w *pgas.World) error {
				return npyLoaded(ctx, w, path, n, func(i int) int64 { return int64(5 * i) })
			})
		}
	}
}

// TestNPYOverTeam: the members are a team, in another order than the PEs.
func TestNPYOverTeam(t *testing.T) {
	path := filepath.Join(t.TempDir(), "array.npy")
	pgastest.RunGoroutines(t, 4, func(ctx context.Context, w *pgas.World) error {
		team, err := w.Team().SplitList(ctx, []int{3, 0, 1})
		if err != nil {
			return err
		}
		a, err := containers.NewArray[int64](ctx, w, 100, containers.Over(team), containers.Cyclic())
		if err != nil || team == nil {
			return err
		}
		for i, p := range a.LocalAll() {
			*p = int64(i)
		}
		if err := containers.SaveNPY(ctx, a, path); err != nil {
			return err
		}
		clear(a.Local())
		if err := containers.LoadNPY(ctx, a, path); err != nil {
			return err
		}
		for i, p := range a.LocalAll() {
			if *p != int64(i) {
				return fmt.Errorf("element %d is %d", i, *p)
			}
		}
		return nil
	})
}

// TestNPYUnfit: a file that does not fit is one error that names both sides, and changes nothing.
func TestNPYUnfit(t *testing.T) {
	dir := t.TempDir()
	files := npyFiles(t)
	files["short"] = files["int64"][:len(files["int64"])-1]
	files["cut"] = files["int64"][:100]
	files["text"] = []byte("1,2,3,4,5,6,7\n")
	npyPut(t, dir, files)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.npy"), 0o600); err != nil {
		t.Fatal(err)
	}
	const array = "and the array has shape (7,) and dtype <i8"
	for _, test := range []struct{ name, want string }{
		{"big", "it has shape (7,) and dtype >i8, " + array + `: in NumPy, save x.astype("<i8")`},
		{"float64", "it has shape (7,) and dtype <f8, " + array + `: in NumPy, save x.astype("<i8")`},
		{"fortran", "it has shape (7, 3) and dtype <f8 in Fortran order, " + array},
		{"scalar", "it has shape () and dtype <i8, " + array},
		{"struct", "a structured dtype"},
		{"short", "ends before its elements: of 56 bytes it has 55"},
		{"cut", "ends within its head"},
		{"text", "no file of NumPy"},
		{"absent", "no such file or directory"},
		{"pipe", "is a pipe: name a regular file"},
	} {
		pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
			a, err := containers.NewArray[int64](ctx, w, npyCount)
			if err != nil {
				return err
			}
			for i, p := range a.LocalAll() {
				*p = int64(i)
			}
			path := filepath.Join(dir, test.name+".npy")
			err = containers.LoadNPY(ctx, a, path)
			want := "reading " + path + ": PE 0 (host "
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), want) {
				return fmt.Errorf("%s: %w, want %q", test.name, err, test.want)
			}
			for i, p := range a.LocalAll() {
				if *p != int64(i) {
					return fmt.Errorf("%s: element %d is %d now", test.name, i, *p)
				}
			}
			return w.Barrier(ctx)
		})
	}
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		a, err := containers.NewArray[[3]float64](ctx, w, npyCount)
		if err != nil {
			return err
		}
		err = containers.LoadNPY(ctx, a, filepath.Join(dir, "fortran.npy"))
		if err == nil || !strings.HasSuffix(err.Error(), ": in NumPy, save np.ascontiguousarray(x)") {
			return fmt.Errorf("Fortran order: %w", err)
		}
		return nil
	})
}

// TestNPYTruths: what NumPy takes for true is true.
func TestNPYTruths(t *testing.T) {
	dir := t.TempDir()
	file := npyFiles(t)["bool"]
	copy(file[len(file)-npyCount:], []byte{0, 2, 255, 0, 1, 0, 128})
	npyPut(t, dir, map[string][]byte{"bool": file})
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		a, err := containers.NewArray[bool](ctx, w, npyCount)
		if err != nil {
			return err
		}
		if err := containers.LoadNPY(ctx, a, filepath.Join(dir, "bool.npy")); err != nil {
			return err
		}
		if got := fmt.Sprint(a.Local()); got != "[false true true false true false true]" {
			return errors.New(got)
		}
		return nil
	})
}

// TestNPYMisuse: elements that NumPy has not.
func TestNPYMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		a, err := containers.NewArray[struct{ X, Y float64 }](ctx, w, 3)
		if err != nil {
			return err
		}
		return errors.Join(
			misuse(func() { containers.SaveNPY(ctx, a, "x.npy") }),
			misuse(func() { containers.LoadNPY(ctx, a, "x.npy") }),
		)
	})
}

// TestNPYFails: a member that cannot write is told on all, the older file stays, and nothing else is left.
func TestNPYFails(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "array.npy")
	if err := os.WriteFile(path, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	pgastest.RunGoroutines(t, 3, func(ctx context.Context, w *pgas.World) error {
		a, err := containers.NewArray[int64](ctx, w, 100)
		if err != nil {
			return err
		}
		mine := path
		if w.PE() == 1 {
			mine = filepath.Join(other, "array.npy") // as on a host that has not the same folder
		}
		err = containers.SaveNPY(ctx, a, mine)
		want := "PE 1 (host " + w.HostOf(1) + "): open "
		if err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "the hosts must have the folder in common") {
			return fmt.Errorf("%w, want %q", err, want)
		}
		if err := containers.SaveNPY(ctx, a, dir); err == nil || !strings.Contains(err.Error(), "is no regular file") {
			return fmt.Errorf("to a folder: %w", err)
		}
		return nil
	})
	left, err := filepath.Glob(filepath.Join(dir, "..", "*", "*"))
	if text, _ := os.ReadFile(path); err != nil || len(left) != 1 || string(text) != "older" {
		t.Errorf("left are %q, and the older file has %q (%v)", left, text, err)
	}
}

// npyText is a file with a head of that text.
func npyText(text string) []byte {
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return append(b, text...)
}

// TestNPYHeads: heads as any version of NumPy writes them, and those that are wrong.
func TestNPYHeads(t *testing.T) {
	for text, want := range map[string]string{
		"{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }   \n": "shape (10,) and dtype <f8, Fortran order false",
		"{'shape': (2L, 3L), 'fortran_order': True, 'descr': '>i4'}":      "shape (2, 3) and dtype >i4, Fortran order true",
		`{"descr":"<u1","fortran_order":False,"shape":()}`:                "shape () and dtype |u1, Fortran order false",
		"{'descr': '|S20', 'fortran_order': False, 'shape': (0, 1,)}":     "shape (0, 1) and dtype |S20, Fortran order false",
		"": "no dictionary", "{": "no new key", "{'descr'": "no new key", "{'descr': ": `no valid "descr"`, "{}": "not the three keys",
		"{'descr': '<f8', 'descr': '<f8'}":                                                      "no new key",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}":                    `no valid "more"`,
		"{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}":                                   `no valid "fortran_order"`,
		"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}":                              `no valid "shape"`,
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1 2)}":                              `no valid "shape"`,
		"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}":            `no valid "shape"`,
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,":                                 `no valid "shape"`,
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)":                                "no comma",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x":                             "not the three keys and nothing else",
		"{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}":                                "no comma",
		"{'descr': '\\'<f8', 'fortran_order': False, 'shape': (1,)}":                            `no valid "descr"`,
		"{'descr': '<f', 'fortran_order': False, 'shape': (1,)}":                                `no valid "descr"`,
		"{'descr': ('<f8', (3,)), 'fortran_order': False, 'shape': (1,)}":                       `no valid "descr"`,
		"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}":                      "a structured dtype",
		"{'descr': '<f8', 'fortran_order': False, 'shape': (" + strings.Repeat("1,", 65) + ")}": `no valid "shape"`,
	} {
		got, _, _, err := containers.NPYHead(npyText(text))
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for file, want := range map[string]string{
		"\x93NUMPY\x04\x00\x00\x00\x00\x00":         "in version 4 of the format",
		"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'": "its head has 4294967295 bytes, and 65536 is the most",
		"\x93NUMPY\x02\x00\xff\xff":                 "ends within its head",
		"\x93NUMPY\x01\x00\xff\xff{}":               "ends within its head",
		"\x93NUMPX\x01\x00\x00\x00":                 "no file of NumPy",
		"\x93NUM":                                   "no file of NumPy",
	} {
		if _, _, _, err := containers.NPYHead([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
	}
}

// TestNPYHeadIsShort: a head that says it is long is refused before it is read.
func TestNPYHeadIsShort(t *testing.T) {
	long := strings.NewReader("\x93NUMPY\x03\x00\x00\x00\x00\x80" + strings.Repeat(" ", 100))
	if err := containers.ReadNPYHead(long); err == nil || long.Len() != 100 {
		t.Errorf("%d bytes of the text are left (%v)", long.Len(), err)
	}
}

// FuzzNPYHead: a head is read or refused; what is read is written and read again as the same.
func FuzzNPYHead(f *testing.F) {
	for _, file := range npyFiles(f) {
		f.Add(file)
	}
	f.Add(npyText("{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L)}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		text, n, again, err := containers.NPYHead(file)
		if err != nil {
			return
		}
		if n > int64(len(file)) {
			t.Errorf("a head of %d bytes in a file of %d", n, len(file))
		}
		if same, _, _, err := containers.NPYHead(again); err != nil || same != text {
			t.Errorf("%q is again %q (%v)", text, same, err)
		}
		if len(again)%64 != 0 {
			t.Errorf("%d bytes", len(again))
		}
	})
}
