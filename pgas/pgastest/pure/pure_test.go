package pure

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestProblems(t *testing.T) {
	for source, want := range map[string]string{
		"package p\n\nimport \"context\"\n\nfunc f(ctx context.Context) { for range 3 {} }": "",
		"package p\n\nimport (\n\t\"math/rand/v2\"\n\t\"time\"\n)":                          "imports math/rand/v2: ask the World; imports time: ask the World",
		"package p\n\nfunc f() { go f() }":                                                  "starts a goroutine",
		"package p\n\nfunc f(c chan int) { func() { select { case <-c: } }() }":             "selects: a wait is WaitUntil",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(problems(file), "; "); got != want {
			t.Errorf("%q in\n%s\nwant %q", got, source, want)
		}
	}
}
