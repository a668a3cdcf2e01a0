package containers

// What a program may choose when it makes a container.

import (
	"slices"

	"github.com/gopgas/gopgas/internal/carry"
	"github.com/gopgas/gopgas/pgas"
)

// An Option chooses something about a container. Each New… says which it takes, and panics with *pgas.UsageError if it
// is given another.
type Option struct {
	name  string
	apply func(*settings)
}

// settings is what the options of one New… have chosen. Zero fields are defaults.
type settings struct {
	over bool       // a team has been given
	team *pgas.Team // the members' team; nil on PEs that are no members

	home      int  // what Home has chosen
	consumers bool // what ManyConsumers has chosen
	batch     int  // what Batch has chosen
	spill     int  // what Spill has chosen

	ring    int // bytes of a ring
	backlog int // the items that receive may have staged while rings are full

	capacity int // the elements of a map
	texts    int // bytes of long texts of a map
	mapKind  string
	block    int // the number of elements that follow each other on a member; 0: one block for each member
}

// kind returns what the program makes: a Map, unless it is built on one.
func (s *settings) kind() string {
	if s.mapKind == "" {
		return "Map"
	}
	return s.mapKind
}

// Over gives the container the PEs of t as members, in place of all PEs. A PE that is no member of t passes nil.
// All containers take it.
func Over(t *pgas.Team) Option {
	return Option{"Over", func(s *settings) { s.over, s.team = true, t }}
}

// settingsOf applies the options of a call of op, which takes Over and those whose names are given.
func settingsOf(op string, opts []Option, names ...string) (s settings) {
	for _, o := range opts {
		if o.apply == nil {
			carry.Misuse(op, "a zero Option: take one from a function of this package")
		}
		if o.name != "Over" && !slices.Contains(names, o.name) {
			carry.Misuse(op, "%s is no option of it", o.name)
		}
		o.apply(&s)
	}
	return s
}
