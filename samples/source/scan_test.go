package source

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// checkScan compares EachName with go/scanner.
func checkScan(t *testing.T, what string, src []byte) {
	t.Helper()
	var got, want []string
	wellFormed := EachName(src, func(name []byte) { got = append(got, string(name)) })
	right, _ := EachIdentifier(src, longest*longest, func(name string) { want = append(want, name) })
	if wellFormed != right || !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s: well-formed %v, %d identifiers, want %v, %d; from identifier %d on %.60q, want %.60q",
			what, wellFormed, len(got), right, len(want), i, got[i:], want[i:])
	}
}

// tokens are what sources are made of, and what is not quite that.
var tokens = []string{
	"", "x", "_", "é世", "x٣", "٣", "“", "func", "defer", "deferred", "g", "go", "type", "0", "7", "42", "007", "08", "1.5", "1.", ".5", "1e9", "1e+", "1E-3i",
	"0x1F", "0x", "0x1p-2", "0b101", "0o17", "0b12", "0o8", "0b1.", "017", "017.5", "0_1", "0i", "1_000", "1_", "2i", "1abc", `"a b"`, `"\n\"\\"`, `"\x41\101\u00e9"`, `"\q"`, `"\ud800"`, `"\U0001F600"`, `"\U0001F60"`, `"\U00110000"`, `"\400"`, `"\x4`, "\"a\nb\"",
	`"世"`, `"`, "`raw \\ \" x`", "`", "'a'", "'世'", `'\n'`, `'\''`, `'\x4'`, "''", "'ab'", "'", "// x y\n", "//", "// no end", "/* x\n y */", "/* x", "/**/", "/", "//line a:1\n",
	"//line a:x\n", " //line a:x\n", "/*line a:0*/", "#", "@", "$", "\\", "\x00", "\xff", "\ufeff", "\r\n", "a.b", "...", "x:=y", "<-", "&^=", "~", "\n",
}

// TestScanTokens: all pairs and some threes, side by side and apart.
func TestScanTokens(t *testing.T) {
	for i, a := range tokens {
		for j, b := range tokens {
			c := tokens[(i*31+j*17)%len(tokens)]
			for _, src := range []string{a + b, a + " " + b, a + b + c, a + "\n" + b + " x " + c} {
				checkScan(t, strings.ToValidUTF8(src, "?"), []byte(src))
			}
		}
	}
}

// TestScanSources: of all sources of Go itself that are at hand, and of these samples.
func TestScanSources(t *testing.T) {
	for _, root := range []string{"..", filepath.Join(runtime.GOROOT(), "src", "go"), filepath.Join(runtime.GOROOT(), "src", "strconv"), filepath.Join(runtime.GOROOT(), "src", "unicode")} {
		files, _, err := List(root)
		if err != nil {
			t.Logf("%s: %v", root, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			checkScan(t, file, src)
		}
	}
}

// TestScanKnows: go/scanner has nothing to do for what is usual.
func TestScanKnows(t *testing.T) {
	src := []byte("package p // é\n\nfunc f(x []int) string { return `a` + \"\\t\\x00\\u00e9\" + string('\\'') /* 1 */ + g(0x1F, 1.5e-3, 0, 10., 0644, 0b1, 0o7, 2i)...; 世 %= x[1:]&^2 }\n")
	if at := eachSimple(src, func([]byte) {}); at != len(src) {
		t.Errorf("%q is left to go/scanner", src[at:])
	}
}

// FuzzScan looks for sources that the two take for something else.
func FuzzScan(f *testing.F) {
	f.Add([]byte(strings.Join(tokens, " ")))
	f.Add(bytes.Join([][]byte{[]byte("package p; var x = "), []byte(`'\x41'`)}, nil))
	f.Fuzz(func(t *testing.T, src []byte) { checkScan(t, "this", src) })
}
