// Package small has atomic truth values and enumerations of small types, alone, together and in arrays.
package small

// State is an enumeration.
type State uint8

// The states.
const (
	Idle State = iota
	Busy
)

// Phase is another, of 2 bytes.
type Phase int16

// Flag is a truth value with a name.
type Flag bool

//pgas:symmetric
type Task struct {
	Done   bool  `pgas:"atomic"`
	Failed Flag  `pgas:"atomic"`
	Phase  Phase `pgas:"atomic"`
	Cost   int64
	State  State `pgas:"atomic,view"`
	_      [3]byte
	Name   [4]byte
	Votes  [6]bool `pgas:"atomic"`
}
