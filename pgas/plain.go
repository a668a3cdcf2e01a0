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

// pointerIn returns the path of the first pointer in a type, or "".
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return ""
	case reflect.Array:
		return pointerIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if path := pointerIn(t.Field(i).Type); path != "" {
				return t.Field(i).Name + " " + path
			}
		}
		return ""
	}
	return t.String()
}
