package source

// Identifiers with their counts, and how PEs send them to each other.

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// TopMost is how many of the most frequent identifiers are printed.
const TopMost = 20

// A Frequency is an identifier and how often it stands in the tree.
type Frequency struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// MoreFrequent orders by count, the largest first, and then by name.
func MoreFrequent(a, b Frequency) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
}

// MostFrequent returns the TopMost most frequent of all, the most frequent first.
func MostFrequent(all []Frequency) []Frequency {
	slices.SortFunc(all, MoreFrequent)
	return all[:min(len(all), TopMost)]
}

// Encode writes frequencies as bytes that other PEs can read.
func Encode(list []Frequency) []byte {
	var b []byte
	for _, f := range list {
		b = AppendFrequency(b, f)
	}
	return b
}

// AppendFrequency appends f as Encode writes it.
func AppendFrequency(b []byte, f Frequency) []byte {
	b = binary.AppendUvarint(b, uint64(f.Count))
	b = binary.AppendUvarint(b, uint64(len(f.Name)))
	return append(b, f.Name...)
}

// EachFrequency calls f for each Frequency that Encode wrote. f must not keep name.
func EachFrequency(b []byte, f func(name []byte, count int64)) {
	for len(b) > 0 {
		count, n := binary.Uvarint(b)
		size, m := binary.Uvarint(b[n:])
		name := b[n+m:][:size]
		f(name, int64(count))
		b = b[n+m+len(name):]
	}
}

// AllFrequencies returns what all PEs have encoded.
func AllFrequencies(lists [][]byte) (all []Frequency) {
	for _, list := range lists {
		EachFrequency(list, func(name []byte, count int64) { all = append(all, Frequency{string(name), count}) })
	}
	return all
}
