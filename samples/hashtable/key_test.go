package main

import (
	"strings"
	"testing"

	"github.com/gopgas/gopgas/samples/source"
)

func TestShortKeys(t *testing.T) {
	for _, name := range []string{"a", "_", "i", "ab", "世界", "abcdefg", "\x00", "\x00\x00", "\xff\xff\xff\xff\xff\xff\xff"} {
		key := shortKey(name)
		if key == 0 || isLong(key) || shortName(key) != name {
			t.Errorf("%q: key %x gives back %q", name, key, shortName(key))
		}
	}
}

func TestLongKeys(t *testing.T) {
	for _, n := range []int{shortMax + 1, 1000, longMax} {
		for _, at := range []uint64{0, 1, textMax - 1} {
			key := longKey(strings.Repeat("x", n), ^uint64(0), at)
			if gotAt, gotN := spelling(key); !isLong(key) || gotAt != at || gotN != n {
				t.Errorf("%d bytes at %d: key %x says %d at %d", n, at, key, gotN, gotAt)
			}
		}
	}
}

// FuzzKeys: the twin of a key is the name itself.
func FuzzKeys(f *testing.F) {
	f.Add("a", "b")
	f.Add("a", "a\x00")
	f.Add("longIdentifier1", "longIdentifier2")
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" || len(a) > longMax || len(b) > longMax {
			t.Skip()
		}
		ka, kb := keyOf(a), keyOf(b)
		if a == b && ka != kb {
			t.Errorf("%q has keys %x and %x", a, ka, kb)
		}
		if a != b && ka == kb && (!isLong(ka) || len(a) != len(b)) {
			t.Errorf("%q and %q have one key %x", a, b, ka)
		}
	})
}

// keyOf returns the key of name, up to what a comparison of spellings decides.
func keyOf(name string) uint64 {
	if len(name) <= shortMax {
		return shortKey(name)
	}
	return longKey(name, hashName(name), 0)
}

func FuzzFrequencies(f *testing.F) {
	f.Add("name", int64(1), "other", int64(1<<40))
	f.Fuzz(func(t *testing.T, a string, n int64, b string, m int64) {
		want := []source.Frequency{{Name: a, Count: n}, {Name: b, Count: m}}
		var got []source.Frequency
		source.EachFrequency([]byte(source.Encode(want)), func(name []byte, n int64) { got = append(got, source.Frequency{Name: string(name), Count: n}) })
		if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
