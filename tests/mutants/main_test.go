package main

import (
	"strings"
	"testing"
)

// TestRead: a caught bug is listed with its finder, a missed one once, and not again for the enclosing test.
func TestRead(t *testing.T) {
	rows, err := read(strings.NewReader(`# a line of the compiler
{"Action":"run","Package":"p","Test":"TestM"}
{"Action":"output","Package":"p","Test":"TestM/a","Output":"    m_test.go:1: caught by TestX/y\n"}
{"Action":"pass","Package":"p","Test":"TestM/a"}
{"Action":"fail","Package":"p","Test":"TestM/b"}
{"Action":"fail","Package":"p","Test":"TestM"}
{"Action":"fail","Package":"p"}
`))
	want := []row{{"p", "TestM/a", "TestX/y", true}, {"p", "TestM/b", "nothing", false}}
	if err != nil || len(rows) != len(want) || rows[0] != want[0] || rows[1] != want[1] {
		t.Fatalf("%+v, %v; want %+v", rows, err, want)
	}
}

// TestReplaced: a package's section takes the place of its last one, and the others stay.
func TestReplaced(t *testing.T) {
	text := replaced("", "./locks", "## ./locks\n\nfirst\n")
	text = replaced(text, "./pgas/sim", "## ./pgas/sim\n\nof sim\n")
	text = replaced(text, "./locks", "## ./locks\n\nsecond\n")
	if want := title + "\n## ./pgas/sim\n\nof sim\n\n## ./locks\n\nsecond\n"; text != want {
		t.Errorf("the record is\n%s\nwant\n%s", text, want)
	}
}
