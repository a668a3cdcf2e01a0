// Pgasvet finds mistakes in programs over symmetric and coherent memory that compile, and that a run on one host, or on
// a lucky day, does not show. docs/use/pgasvet.md describes each rule, and pgasvet help lists them.
//
// It runs alone, pgasvet ./..., and under go vet: go vet -vettool=$(which pgasvet) ./...
//
//ci:below computes
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/gopgas/gopgas/cmd/pgasvet/rules"
)

func main() {
	if len(os.Args) == 2 && (os.Args[1] == "-h" || os.Args[1] == "-help" || os.Args[1] == "--help") {
		fmt.Print(help())
		return
	}
	if status, done := described().Do(os.Args[1:], os.Stdout, os.Stderr); done {
		os.Exit(status)
	}
	answerFlags()
	multichecker.Main(rules.All()...)
}
