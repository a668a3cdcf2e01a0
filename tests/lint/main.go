// Lint has the analyzers of go vet, pgasvet and staticcheck in one program, which loads each package once.
// Under go vet, what it finds in a package is kept:
//
//	GOWORK=off go build -C tests/lint -o bin/lint . && go vet -vettool=tests/lint/bin/lint work
//
// The files:
//
//	main.go         the list
//	vet.go          the analyzers of go vet
//	staticcheck.go  the analyzers of staticcheck, and what its own command does around them
package main

import (
	"slices"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/gopgas/gopgas/cmd/pgasvet/rules"
)

func main() { unitchecker.Main(slices.Concat(ofVet, rules.All(), ofStaticcheck())...) }
