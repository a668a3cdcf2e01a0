package carriage

import (
	"unsafe"

	"github.com/gopgas/gopgas/pgas/internal/racecheck"
)

// addressOf returns the address of a site, for a table that may forget it.
func addressOf(s racecheck.Site) uintptr { return uintptr(unsafe.Pointer(s)) }
