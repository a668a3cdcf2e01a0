package main

// What is counted: the tokens that package go/scanner calls identifiers, predeclared ones and _ included,
// keywords not. A file that is not Go all through is counted as far as the scanner makes sense of it,
// which is to its end.

import (
	"fmt"
	"go/scanner"
	"go/token"
)

// eachIdentifier calls f for each identifier of src, in order, but for those that are too long for a
// key, and reports whether src is well-formed and how many were too long.
func eachIdentifier(src []byte, f func(name string)) (wellFormed bool, tooLong int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return s.ErrorCount == 0, tooLong
		case tok != token.IDENT:
		case len(lit) > longMax:
			tooLong++
		default:
			f(lit)
		}
	}
}

// errTooLong is for the one thing that cannot be counted.
func errTooLong(path string, n int) error {
	return fmt.Errorf("%s: not counted: %d identifiers of more than %d bytes", path, n, longMax)
}
