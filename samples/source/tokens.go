package source

// What is counted: the tokens that package go/scanner calls identifiers, predeclared ones and _ included,
// keywords not. A file that is not Go all through is counted as far as the scanner makes sense of it,
// which is to its end.

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
)

// EachIdentifier calls f for each identifier of src, in order, but for those of more than longest bytes, and reports
// whether src is well-formed and how many were too long.
func EachIdentifier(src []byte, longest int, f func(name string)) (wellFormed bool, tooLong int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return s.ErrorCount == 0, tooLong
		case tok != token.IDENT:
		case len(lit) > longest:
			tooLong++
		default:
			f(lit)
		}
	}
}

// ReadFile does what os.ReadFile does, into buf's memory.
func ReadFile(path string, buf []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return buf, err
	}
	defer f.Close()
	into := bytes.NewBuffer(buf[:0])
	if info, err := f.Stat(); err == nil {
		into.Grow(int(info.Size()) + bytes.MinRead)
	}
	_, err = into.ReadFrom(f)
	return into.Bytes(), err
}
