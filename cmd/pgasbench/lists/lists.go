// Package lists reads the lists of values that flags of benches take: words and numbers, divided by commas.
package lists

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Reader reads lists and keeps the first mistake in Err. The first argument of its methods is the flag, for the
// mistake.
type Reader struct{ Err error }

// Fail keeps a mistake if it is the first.
func (r *Reader) Fail(format string, args ...any) {
	if r.Err == nil {
		r.Err = fmt.Errorf(format, args...)
	}
}

// Names reads words of any kind.
func (r *Reader) Names(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Words reads words of those in have, however they are capitalised.
func (r *Reader) Words(flag, text string, have []string) (words []string) {
	for _, name := range r.Names(text) {
		i := slices.IndexFunc(have, func(h string) bool { return strings.EqualFold(h, name) })
		if i < 0 {
			r.Fail("-%s %s: there are %s", flag, name, strings.Join(have, ", "))
			return nil
		}
		words = append(words, have[i])
	}
	return words
}

// Word reads one word of those in have, or "" if there is none.
func (r *Reader) Word(flag, text string, have []string) string {
	words := r.Words(flag, text, have)
	if len(words) == 0 {
		return ""
	}
	if len(words) > 1 {
		r.Fail("-%s %s: one of %s", flag, text, strings.Join(have, ", "))
	}
	return words[0]
}

// Ints reads numbers from least to most.
func (r *Reader) Ints(flag, text string, least, most int) (all []int) {
	for _, name := range r.Names(text) {
		n, err := strconv.Atoi(name)
		if err != nil || n < least || n > most {
			r.Fail("-%s %s: %q is not a number from %d to %d", flag, text, name, least, most)
		}
		all = append(all, n)
	}
	return all
}

// Parts reads percentages, as parts of 1.
func (r *Reader) Parts(flag, text string) (all []float64) {
	for _, name := range r.Names(text) {
		v, err := strconv.ParseFloat(strings.TrimSuffix(name, "%"), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			r.Fail("-%s %s: %q is not a percentage from 0 to 100", flag, text, name)
		}
		all = append(all, v/100)
	}
	return all
}

// Lists reads lists of positive numbers: 20:50,40:25.
func (r *Reader) Lists(flag, text string, longest int) (all [][]int) {
	for _, name := range r.Names(text) {
		list := r.Ints(flag, strings.ReplaceAll(name, ":", ","), 1, 1<<20-1)
		if len(list) > longest {
			r.Fail("-%s %s: a lock has at most %d levels", flag, name, longest)
		}
		all = append(all, list)
	}
	return all
}

// Sizes reads numbers of bytes from least to most, such as 8, 64k or 1m, and returns each once, sorted.
func (r *Reader) Sizes(flag, text string, least, most int) (all []int) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := parseSize(strings.ToLower(strings.TrimSpace(part)))
		if err != nil || n < least || n > most {
			r.Fail("-%s %s: %q is not a number of bytes from %s to %s, such as 8, 64k or 1m", flag, text, part, SizeLabel(least), SizeLabel(most))
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func parseSize(text string) (int, error) {
	shift := 0
	if digits, ok := strings.CutSuffix(text, "k"); ok {
		text, shift = digits, 10
	} else if digits, ok := strings.CutSuffix(text, "m"); ok {
		text, shift = digits, 20
	}
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n) << shift, err
}

// SizeLabel writes a number of bytes as Sizes reads it.
func SizeLabel(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dm", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dk", n>>10)
	}
	return fmt.Sprint(n)
}
