package main

import (
	"strings"
	"testing"
)

// TestRead: a bug that was caught is told with what has caught it, one that was missed once, and not again for
// the test around it.
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
