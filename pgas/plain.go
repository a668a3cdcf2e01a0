package pgas

// Plain data: what can go to another PE as it is. That is every type without a pointer at any depth, which a Go type
// parameter cannot say.

import "reflect"

// MustBePlain panics with *UsageError if T holds a pointer at any depth, which means nothing on another PE: a pointer, string,
// slice, map, channel, func or interface. op is the operation that is called, as the program spells it. Libraries above pgas
// call it before they move a T.
func MustBePlain[T any](op string) {
	typ := reflect.TypeFor[T]()
	if path := pointerIn(typ); path != "" {
		misuse(op, "%s cannot go to another PE: %s holds a pointer, which means nothing there", typ, path)
	}
}
