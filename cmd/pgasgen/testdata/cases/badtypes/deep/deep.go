// Package deep hides pointers from the package that imports it.
package deep

type bottom struct {
	count int64
	name  string
}

// Outer holds a string two levels down.
type Outer struct {
	Mid struct{ parts [2]bottom }
}

var _ = bottom{count: 1, name: ""}
