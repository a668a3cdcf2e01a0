package main

// The work of one goroutine. It has a part of the keys, and a range of the values that keys may have. It counts its
// keys by value. Over its range it then adds the counts of all goroutines, and knows how many keys are at most each
// value. The rank of a key is the number of keys that are less.

import "github.com/gopgas/gopgas/samples/npb/random"

const seed = 314159265

// generate sets part to the keys from lo on. A key is the scaled sum of four random numbers.
func (c class) generate(part []int32, lo int) {
	g := random.New(seed)
	g.Skip(4 * uint64(lo))
	scale := float64(c.max / 4)
	for i := range part {
		sum := g.Next()
		sum += g.Next()
		sum += g.Next()
		sum += g.Next()
		part[i] = int32(scale * sum)
	}
}

// change makes the two changes before a ranking, as far as they concern the keys from lo on, which part has.
func (c class) change(part []int32, lo, ranking int) {
	for at, key := range map[int]int{ranking: ranking, ranking + rankings: c.max - ranking} {
		if i := at - lo; 0 <= i && i < len(part) {
			part[i] = int32(key)
		}
	}
}

// count sets counts to how many keys of part have each value.
func count(counts, part []int32) {
	clear(counts)
	for _, key := range part {
		counts[key]++
	}
}

// sumOf returns the sum of counts.
func sumOf(counts []int32) (sum int32) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// add adds counts to total.
func add(total, counts []int32) {
	total = total[:len(counts)]
	for i, n := range counts {
		total[i] += n
	}
}

// accumulate replaces each of counts by the sum of those up to it and of below.
func accumulate(counts []int32, below int32) {
	for i, n := range counts {
		below += n
		counts[i] = below
	}
}

// place puts those of keys that are in a range of values where they belong, and returns how many places were filled.
// The range begins at lo. atMost has for each of its values how many keys are at most that. sorted is the part of the
// result that the range fills, and begins at place first.
func place(sorted []int32, first int, keys, atMost []int32, lo int) (filled int) {
	for i := range sorted {
		sorted[i] = -1
	}
	next := append([]int32(nil), atMost...)
	for _, key := range keys {
		i := int(key) - lo
		if i < 0 || i >= len(next) {
			continue
		}
		next[i]--
		if at := int(next[i]) - first; 0 <= at && at < len(sorted) && sorted[at] < 0 {
			sorted[at] = key
			filled++
		}
	}
	return filled
}

// descents returns how many elements are less than the one before.
func descents(sorted []int32) (n int) {
	for i := 1; i < len(sorted); i++ {
		if sorted[i] < sorted[i-1] {
			n++
		}
	}
	return n
}

// right returns how many of the published ranks came out in a ranking. key returns a key, and atMost how many keys are
// at most a value.
func (c class) right(ranking int, key func(at int) int32, atMost func(value int) int32) (n int) {
	for _, p := range c.keys {
		if k := int(key(p.at)); k > 0 && k < c.max && int(atMost(k-1)) == p.rank+p.step*ranking {
			n++
		}
	}
	return n
}
