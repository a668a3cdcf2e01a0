// Package plural writes numbers of things for messages: "1 host", "2 hosts".
package plural

import "fmt"

// Count returns n and the noun thing, which gets an s unless n is 1.
func Count[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
