package record

// Places: at which line of the program a wait or a call was made. A place is a name of the PE, as causes are: "barrier
// at solver/main.go:40". Waits that have a place are counted under that name, and readers add them to their cause, too.

import (
	"regexp"
	"strings"
	"time"
)

// mostPlaces bounds the names that are places: causes, regions and words have the rest.
const mostPlaces = 128

// worthPlace is how long a wait takes, or how long the PE has done something else before it, so that finding its place,
// which takes about a microsecond, changes little.
const worthPlace = int64(20 * time.Microsecond)

// BeginsLate reports whether the event of m, which has just begun, is worth a place because the PE computed for long
// before it.
func (p *PE) BeginsLate(m Mark) bool { return m.start-p.last.Load() >= worthPlace }

// Lasts reports whether the event of m, which has not ended, is worth a place because it has lasted for long.
func (p *PE) Lasts(m Mark) bool { return m.place == 0 && p.Now()-m.start >= worthPlace }

// Cause returns the cause of a wait that has begun.
func (p *PE) Cause(m Mark) string { return p.names[m.name].String() }

// Place returns m with a place: what is "cause at file:line". A place that no name is left for, or that a name has no
// room for, is left out.
func (p *PE) Place(m Mark, what string) Mark {
	p.last.Store(m.start) // what m contains need not be placed as well
	number, known := p.known.Load(what)
	switch {
	case known:
	case len(what) >= nameBytes || p.places.Add(1) > mostPlaces:
		return m
	default:
		number = p.Name(what)
	}
	if n := number.(uint16); n < MaxNames-1 {
		m.place = n + 1
		if m.event != 0 {
			publishPlace(&p.events[m.event-1], uint8(m.place))
		}
	}
	return m
}

// placed is the form of a name that is a place.
var placed = regexp.MustCompile(`^(.+?) at (.+\.go:\d+)$`)

// CutPlace returns the cause and the file and line of a name, or the name and "" if it is no place.
func CutPlace(name string) (cause, site string) {
	if !strings.Contains(name, ".go:") {
		return name, ""
	}
	if m := placed.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}

// PlaceOf returns the file and line at which e was called, or "" if they are not known.
func (t *Trace) PlaceOf(e Event) string {
	if e.Place == 0 || int(e.Place) > len(t.Names) {
		return ""
	}
	_, site := CutPlace(t.Names[e.Place-1])
	return site
}
