// Package badfields has fields whose accessors could not have sensible names, or that only other
// packages could reach.
package badfields

import (
	"github.com/gopgas/gopgas/cmd/pgasgen/testdata/cases/badfields/other"
	"github.com/gopgas/gopgas/pgas"
)

// Header is embedded below.
type Header struct{ Kind int64 }

// Flagged is not marked, so nothing could refer to its signal.
type Flagged struct {
	Kind  int64
	Ready [2]pgas.Signal
}

//pgas:symmetric
type Bad struct {
	Header
	hidden int64
	été    int64
	_x     int64
	世      int64
	Flag   Flagged
	_      pgas.Signal
	Self   BadRef
}

// Copied has the fields of a struct of another package.
//
//pgas:symmetric
type Copied other.Struct
