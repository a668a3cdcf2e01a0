package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const two = header + "\n% a comment\n\n2 2 3\n1 1 4\n2 1 -1\n2 2 4\n"

func TestRead(t *testing.T) {
	want := &sparse{2, []entry{{0, 0, 4}, {1, 0, -1}, {1, 1, 4}}}
	for name, text := range map[string]string{
		"plain":               two,
		"spaces and no end":   "%%MatrixMarket  MATRIX Coordinate Real Symmetric\r\n2\t2 3\r\n  1 1 4e0 \r\n2 1 -1.\r\n%\r\n\r\n2 2 +4",
		"integers":            strings.Replace(two, "real", "integer", 1),
		"comments in between": strings.Replace(two, "2 1", "% here\n2 1", 1),
	} {
		if got, err := read(strings.NewReader(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Each mistake is one line that says where it is.
func TestReadMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", `1: this is no Matrix Market file: it must begin with "` + header + `"`},
		"another file":    {"1 1 1\n", `1: this is no Matrix Market file: it must begin with "` + header + `"`},
		"general":         {strings.Replace(two, "symmetric", "general", 1), `1: "%%matrixmarket matrix coordinate real general" cannot be read: it must be "` + header + `"`},
		"array":           {"%%MatrixMarket matrix array real symmetric\n", `1: "%%matrixmarket matrix array real symmetric" cannot be read: it must be "` + header + `"`},
		"short header":    {"%%MatrixMarket matrix\n", `1: "%%matrixmarket matrix" cannot be read: it must be "` + header + `"`},
		"no size":         {header + "\n", `2: the size must be rows, columns and entries: three numbers, not ""`},
		"short size":      {header + "\n2 2\n", `2: the size must be rows, columns and entries: three numbers, not "2 2"`},
		"size in letters": {header + "\n2 two 3\n", `2: the size must be rows, columns and entries: "two" is no such number`},
		"negative size":   {header + "\n2 2 -3\n", `2: the size must be rows, columns and entries: "-3" is no such number`},
		"not square":      {header + "\n2 3 3\n", "2: 2 rows and 3 columns: a symmetric matrix is square"},
		"empty":           {header + "\n0 0 0\n", "2: an order of 0: 1 to 16384 can be factored here"},
		"large":           {header + "\n16385 16385 1\n", "2: an order of 16385: 1 to 16384 can be factored here"},
		"too many":        {header + "\n2 2 4\n", "2: 4 entries: the lower triangle of order 2 has 3"},
		"too few":         {strings.Replace(two, "2 2 4\n", "", 1), "7: the file ends after 2 entries of 3"},
		"more":            {two + "2 2 4\n", "8: there are more than the 3 entries that the size line tells of"},
		"no value":        {strings.Replace(two, "2 1 -1", "2 1", 1), `6: an entry is row, column and value, not "2 1"`},
		"complex":         {strings.Replace(two, "2 1 -1", "2 1 -1 0", 1), `6: an entry is row, column and value, not "2 1 -1 0"`},
		"row":             {strings.Replace(two, "2 1 -1", "3 1 -1", 1), `6: "3" is no row or column: they are 1 to 2`},
		"column":          {strings.Replace(two, "2 1 -1", "2 0 -1", 1), `6: "0" is no row or column: they are 1 to 2`},
		"above":           {strings.Replace(two, "2 1 -1", "1 2 -1", 1), "6: row 1, column 2 is above the diagonal: a symmetric matrix has its lower triangle in the file"},
		"twice":           {strings.Replace(two, "2 2 4", "1 1 4", 1), "7: row 1, column 1 stands in line 5 already"},
		"not a number":    {strings.Replace(two, "-1", "NaN", 1), `6: "NaN" is no finite number`},
		"infinite":        {strings.Replace(two, "-1", "1e999", 1), `6: "1e999" is no finite number`},
		"long line":       {strings.Replace(two, "a comment", strings.Repeat("long ", 1000), 1), "2: the line is longer than 4096 bytes"},
	} {
		if s, err := read(strings.NewReader(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, %v; want %s", name, s, err, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.mtx")
	want := laplacian(50)
	if err := want.writeFile(name); err != nil {
		t.Fatal(err)
	}
	if got, err := readFile(name); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if err := os.WriteFile(name, []byte(header+"\n3 2 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readFile(name); err == nil || err.Error() != name+":2: 3 rows and 2 columns: a symmetric matrix is square" {
		t.Error(err)
	}
}

// FuzzRead: whatever the file, there is a matrix that can be written and read again, or an error of one line.
func FuzzRead(f *testing.F) {
	f.Add([]byte(two))
	f.Add([]byte(header + "\n3 3 0\n"))
	f.Add([]byte(strings.Replace(two, "-1", "0x1p-1074", 1)))
	wrong := regexp.MustCompile(`^[0-9]+: [^\n]+$`)
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := read(bytes.NewReader(file))
		if err != nil {
			if !wrong.MatchString(err.Error()) {
				t.Errorf("not one line: %q", err)
			}
			return
		}
		var b bytes.Buffer
		if err := s.write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := read(&b)
		if err != nil || again.order != s.order || len(again.entries) != len(s.entries) {
			t.Fatalf("%v, written and read again, is %v, %v", s, again, err)
		}
		for i, e := range s.entries {
			if again.entries[i] != e {
				t.Fatalf("entry %v, written and read again, is %v", e, again.entries[i])
			}
		}
	})
}

// The Laplacian has four on the diagonal, and for each point as many entries as it has neighbours.
func TestLaplacian(t *testing.T) {
	for _, order := range []int{1, 2, 7, 16, 30, 100} {
		width := 1
		for width*width < order {
			width++
		}
		want := 0
		for p := range order {
			if p%width != 0 {
				want++
			}
			if p >= width {
				want++
			}
		}
		seen, diagonal, others := map[[2]int]bool{}, 0, 0
		for _, e := range laplacian(order).entries {
			at := [2]int{e.row, e.column}
			switch {
			case seen[at] || e.row < e.column || e.row >= order || e.column < 0:
				t.Errorf("order %d: entry %v", order, e)
			case e.row == e.column && e.value == 4:
				diagonal++
			case e.row != e.column && e.value == -1:
				others++
			default:
				t.Errorf("order %d: entry %v", order, e)
			}
			seen[at] = true
		}
		if diagonal != order || others != want {
			t.Errorf("order %d: %d on the diagonal, %d others; want %d", order, diagonal, others, want)
		}
	}
}
