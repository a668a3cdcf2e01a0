package tests

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopgas/gopgas/containers"
)

// TestMapCalls: the table of docs/packages/containers.md that says which map has which call is that of the types'
// methods.
func TestMapCalls(t *testing.T) {
	content, err := os.ReadFile("../docs/packages/containers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(content), "| | `Map` | `StringMap` | `TextMap` |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for i, of := range []reflect.Type{
		reflect.TypeFor[*containers.Map[int, int]](), reflect.TypeFor[*containers.StringMap[int]](), reflect.TypeFor[*containers.TextMap](),
	} {
		var methods, listed []string
		for m := range of.NumMethod() {
			methods = append(methods, of.Method(m).Name)
		}
		for row := range strings.Lines(table) {
			columns := strings.Split(row, "|")
			if len(columns) < 5 || strings.TrimSpace(columns[2+i]) != "yes" {
				continue
			}
			for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(columns[1], -1) {
				listed = append(listed, name[1])
			}
		}
		slices.Sort(listed)
		if slices.Sort(methods); !slices.Equal(methods, listed) {
			t.Errorf("%v has the calls %v, and the page says %v", of, methods, listed)
		}
	}
}
