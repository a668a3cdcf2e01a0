package main

import "iter"

// words counts identifiers on one PE. A name that is there already costs one lookup, and no memory.
type words struct {
	places map[string]int32
	names  []string
	counts []int64
}

func newWords() *words { return &words{places: map[string]int32{}} }

// add counts a name, which the caller may change afterwards.
func (w *words) add(name []byte) {
	if at, ok := w.places[string(name)]; ok {
		w.counts[at]++
		return
	}
	kept := string(name)
	w.places[kept] = int32(len(w.names))
	w.names, w.counts = append(w.names, kept), append(w.counts, 1)
}

// all returns the names with their counts.
func (w *words) all() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for i, name := range w.names {
			if !yield(name, w.counts[i]) {
				return
			}
		}
	}
}
