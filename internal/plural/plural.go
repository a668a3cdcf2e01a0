// Package plural writes numbers of things for messages: "1 host", "2 hosts".
//
//ci:norace
package plural

import (
	"fmt"
	"strings"
)

// Count returns n and the noun thing, in the plural unless n is 1: with an s, or with es behind an x.
func Count[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "x"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
