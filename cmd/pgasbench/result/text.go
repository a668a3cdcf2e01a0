package result

import (
	"math"
	"strconv"
)

// Duration writes nanoseconds with three digits and the unit that suits them.
func Duration(ns float64) string {
	if ns == 0 {
		return "0 ns"
	}
	for _, u := range []struct {
		least float64
		name  string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.least {
			return Digits(ns/u.least) + " " + u.name
		}
	}
	return Digits(ns) + " ns"
}

// Digits writes v with three significant digits, and never in powers of ten.
func Digits(v float64) string {
	decimals := 2 - int(math.Floor(math.Log10(max(v, 1e-9))))
	return strconv.FormatFloat(v, 'f', min(max(decimals, 0), 6), 64)
}
