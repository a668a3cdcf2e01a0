// Pgasvet finds mistakes in programs over symmetric and coherent memory that compile, and that a run on one host, or on
// a lucky day, does not show. docs/pgasvet.md describes each rule, and pgasvet help lists them.
//
// It runs alone, pgasvet ./..., and under go vet: go vet -vettool=$(which pgasvet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/gopgas/gopgas/cmd/pgasvet/rules"
)

func main() { multichecker.Main(rules.All()...) }
