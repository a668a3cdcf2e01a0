package trace

// Slices of one track must nest, or viewers draw nonsense. Goroutines of a PE wait at once, though, and a PE's events
// do not say whose they are. So a slice is placed on the first track of its PE on which it is inside of what is there
// or behind it: what a goroutine does within what it does stays together, and what others do meanwhile is on further
// tracks.

// track is where slices of a PE are placed, by their start.
type track struct{ ends []int64 } // of the slices that have not ended, the innermost last

// fits reports whether a slice from start to end nests with those of the track, and places it if so.
func (t *track) fits(start, end int64) bool {
	for len(t.ends) > 0 && t.ends[len(t.ends)-1] <= start {
		t.ends = t.ends[:len(t.ends)-1]
	}
	if n := len(t.ends); n > 0 && t.ends[n-1] < end {
		return false
	}
	t.ends = append(t.ends, end)
	return true
}

// mostTracks bounds the tracks of a PE. What fits on none of them is on the last, cut off where it would not nest.
const mostTracks = 30

// place returns the number of the track for each of some slices, which are in the order of PE.Slices, and how long each
// may be drawn there.
func place(list []Slice) (on []int, dur []int64) {
	var tracks []*track
	for i := range list {
		s := &list[i]
		k, d := 0, s.Dur
		for k < len(tracks) && !tracks[k].fits(s.Start, s.End()) {
			k++
		}
		switch {
		case k == len(tracks) && k < mostTracks:
			tracks = append(tracks, &track{ends: []int64{s.End()}})
		case k == len(tracks):
			k--
			ends := tracks[k].ends
			d = min(d, ends[len(ends)-1]-s.Start)
			tracks[k].fits(s.Start, s.Start+d)
		}
		on, dur = append(on, k), append(dur, d)
	}
	return on, dur
}
