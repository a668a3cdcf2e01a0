// Package circle has a circle of three files, and one that two of them use.
package circle

import "strings"

type list[T any] struct{ items []T }

func (l list[T]) first() T { return l.items[0] }

// upper uses c.go twice, and another package's name, which does not count.
func upper() string { return strings.ToUpper(ground + ground) }

// lastName makes the circle: a.go uses b.go and d.go, which use a.go.
func lastName() string { return names.last() }
