package containers

// How large a filter must be for a rate of false positives.
//
// A key has some bits in each of two words of a block of 8. A word so has bits of a quarter of the block's keys, whose
// number is Poisson distributed. If it has bits of j keys, with each bits of each, a bit is set with probability 1 -
// (1-1/64)^(each·j), and a look-up finds all its bits of the word with that to the power of each. The rate is the mean
// over j, squared, as there are two words.

import "math"

const (
	bloomLeastRate = 1e-9
	bloomMostRate  = 0.5
	bloomMostEach  = 10 // bits of 6 bits each fit into one hash
)

// bloomRate returns the rate of false positives of a filter with so many blocks for each key.
func bloomRate(perKey float64, each int) float64 {
	load := 1 / (4 * perKey) // keys that have bits in a word, on average
	sum, p := 0.0, math.Exp(-load)
	for j := 0; float64(j) < load+20*math.Sqrt(load)+40; j++ {
		set := 1 - math.Pow(63.0/64, float64(each*j))
		sum += p * math.Pow(set, float64(each))
		p *= load / float64(j+1)
	}
	return sum * sum
}

// bloomSize returns the least blocks for each key that have a rate, and how many bits of a key are then in each word.
func bloomSize(rate float64) (perKey float64, each int) {
	perKey = math.Inf(1)
	for n := 1; n <= bloomMostEach; n++ {
		lo, hi := 1.0/512, 1.0
		for bloomRate(hi, n) > rate && hi < 1<<20 {
			hi *= 2
		}
		for hi-lo > hi/1000 {
			if mid := (lo + hi) / 2; bloomRate(mid, n) > rate {
				lo = mid
			} else {
				hi = mid
			}
		}
		if hi < perKey {
			perKey, each = hi, n
		}
	}
	return perKey, each
}
