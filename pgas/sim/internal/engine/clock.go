package engine

import "time"

// Times of a run are picoseconds: on many networks a byte takes less than a nanosecond.

// Picos returns d in picoseconds.
func Picos(d time.Duration) int64 { return int64(d) * 1000 }

// Duration returns a time of picoseconds in full nanoseconds.
func Duration(picos int64) time.Duration { return time.Duration(picos / 1000) }

// Random is a small generator of random numbers.
type Random uint64

// Next returns the next number.
func (r *Random) Next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return Mix(uint64(*r))
}

// Mix returns a number whose bits all depend on all bits of z.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
