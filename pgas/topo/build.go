package topo

// Building the tree from the places of all PEs, the hosts of the job and the user's Spec. A pure
// function of these: every PE gets the same tree.

import (
	"fmt"
	"slices"

	"github.com/gopgas/gopgas/internal/plural"
)

// input is what a tree is built from.
type input struct {
	machine Level
	hosts   Level // the hosts of the job
	places  []Place
	npes    int
}

// Build returns the tree of a job whose hosts have hosts[0], hosts[1], … PEs, in PE order. places has one
// of each PE, or is nil where nothing is known (a simulated machine): the tree then has only the
// levels that spec describes, beside machine and host. One host with all PEs, and a spec with a count for
// host, make a machine that need not exist.
//
// The error says that the levels do not nest, that spec asks for a level as found that was not found, or that hosts and
// places do not match.
func Build(spec Spec, hosts []int, places []Place) (*Tree, error) {
	f, err := newInput(hosts, places)
	if err != nil {
		return nil, err
	}
	levels, err := spec.levels(f)
	if err != nil {
		return nil, fmt.Errorf("topology %v: %w", spec, err)
	}
	t, err := newTree(f.npes, levels)
	if err != nil {
		return nil, fmt.Errorf("topology %v: %w: write the levels from the PEs outwards, with counts that divide what is found", spec, err)
	}
	return t, nil
}

// levels returns the levels of the tree, the machine first.
func (s Spec) levels(f input) ([]Level, error) {
	levels, host, err := s.levelsInside(f)
	if err != nil {
		return nil, err
	}
	outside, err := s.levelsOutside(f, host)
	if err != nil {
		return nil, err
	}
	levels = append(append(append(levels, host), outside...), f.machine)
	slices.Reverse(levels)
	return levels, nil
}

func newInput(hosts []int, places []Place) (input, error) {
	var of []int
	for h, pes := range hosts {
		if pes < 1 {
			return input{}, fmt.Errorf("host %d has %s", h, plural.Count(pes, "PE"))
		}
		of = append(of, slices.Repeat([]int{h}, pes)...)
	}
	if len(of) == 0 || places != nil && len(places) != len(of) {
		return input{}, fmt.Errorf("a topology of %s on %s, with the places of %d", plural.Count(len(of), "PE"), plural.Count(len(hosts), "host"), len(places))
	}
	return input{
		machine: newLevel(Machine, len(of), func(int) int { return 0 }),
		hosts:   newLevel(Host, len(of), func(pe int) int { return of[pe] }),
		places:  places,
		npes:    len(of),
	}, nil
}

// levelsInside returns the levels up to the host, outwards.
func (s Spec) levelsInside(f input) (levels []Level, host Level, err error) {
	found := f.detectedInside()
	if len(s.inside) == 0 && s.perHost == 0 {
		return found, f.hosts, nil
	}
	before := newLevel("PE", f.npes, func(pe int) int { return pe })
	for _, r := range s.inside {
		if before, err = r.level(before, f.hosts, found); err != nil {
			return nil, Level{}, err
		}
		levels = append(levels, before)
	}
	host, err = rule{Host, s.perHost}.level(before, f.hosts, []Level{f.hosts})
	return levels, host, err
}

// levelsOutside returns the levels between host and machine, outwards.
func (s Spec) levelsOutside(f input, host Level) (levels []Level, err error) {
	found := f.detectedOutside()
	if len(s.outside) == 0 && !s.endsWithMachine {
		return found, nil
	}
	before := host
	for _, r := range s.outside {
		if before, err = r.level(before, f.machine, found); err != nil {
			return nil, err
		}
		levels = append(levels, before)
	}
	return levels, nil
}

// level returns the level of a rule: as found, or of elements of the level before it, counted from the start in each
// element of bound.
func (r rule) level(before, bound Level, found []Level) (Level, error) {
	if r.per == 0 {
		i := slices.IndexFunc(found, func(l Level) bool { return l.name == r.name })
		if i < 0 {
			return Level{}, fmt.Errorf("nothing is known of the level %s: say how many of the level before one holds, as in %s:2", r.name, r.name)
		}
		return found[i], nil
	}
	type group struct{ bound, number int32 }
	return newLevel(r.name, len(before.elementOf), func(pe int) group {
		b := bound.elementOf[pe]
		// elements are numbered by their lowest PEs: none of b has a lower number
		start := before.elementOf[bound.first[b]]
		return group{b, (before.elementOf[pe] - start) / int32(r.per)}
	}), nil
}

// nestingOrders are the orders in which the levels of a host may nest, by index in insideNames, the usual one first. A
// NUMA node is a part of a socket or of a cache, or has several sockets, depending on the machine, its firmware and
// its hypervisor. A core is always innermost.
var nestingOrders = [][insideLevels]int{{0, 1, 2, 3}, {0, 2, 1, 3}, {1, 0, 2, 3}, {1, 2, 0, 3}}

// detectedInside returns the levels that Linux reports, outwards, in the first order that nests on every host.
// If none does, it cuts an element of an inner level at the borders of the outer ones.
func (f input) detectedInside() []Level {
	if f.places == nil {
		return nil
	}
	order := nestingOrders[0]
	if i := slices.IndexFunc(nestingOrders, f.nestIn); i >= 0 {
		order = nestingOrders[i]
	}
	var levels []Level
	outer := f.hosts
	for _, which := range order {
		outer = newLevel(insideNames[which], f.npes, func(pe int) [2]int {
			if id := f.places[pe].inside[which]; id != 0 {
				return [2]int{int(outer.elementOf[pe]), int(id)}
			}
			return [2]int{-1, pe} // a key that no other PE has
		})
		levels = append(levels, outer)
	}
	slices.Reverse(levels)
	return levels
}

// nestIn reports whether the levels of a host nest in that order for every PE.
func (f input) nestIn(order [insideLevels]int) bool {
	for i := 1; i < len(order); i++ {
		type element struct {
			host int32
			id   uint16
		}
		outer := map[element]uint16{}
		for pe, p := range f.places {
			in, out := p.inside[order[i]], p.inside[order[i-1]]
			if in == 0 {
				continue
			}
			e := element{f.hosts.elementOf[pe], in}
			if had, ok := outer[e]; out == 0 || ok && had != out {
				return false
			}
			outer[e] = out
		}
	}
	return true
}

// detectedOutside returns the levels that Slurm reports, outwards. A host that knows of fewer levels than others is
// alone at those nearest to it.
func (f input) detectedOutside() []Level {
	above := f.hostPaths()
	depth := 0
	for _, p := range above {
		depth = max(depth, int(p.depth))
	}
	levels := make([]Level, depth)
	count := map[string]int{}
	for i := depth - 1; i >= 0; i-- {
		kind := outsideKind(above, i)
		name := kind
		if count[kind]++; count[kind] > 1 {
			name = fmt.Sprint(kind, count[kind])
		}
		levels[depth-1-i] = newLevel(name, f.npes, func(pe int) [2]uint64 {
			host := f.hosts.elementOf[pe]
			if p := above[host]; i < int(p.depth) {
				return [2]uint64{0, p.paths[i]}
			}
			return [2]uint64{1, uint64(host)}
		})
	}
	return levels
}

// hostPaths returns for each host the levels outside it that its PEs know, none if they disagree.
func (f input) hostPaths() []Place {
	if f.places == nil {
		return nil
	}
	above := make([]Place, f.hosts.Elements())
	for h, first := range f.hosts.first {
		above[h] = f.places[first].outside()
	}
	for pe, p := range f.places {
		if h := f.hosts.elementOf[pe]; p.outside() != f.places[f.hosts.first[h]].outside() {
			above[h] = Place{}
		}
	}
	return above
}

// outside returns p without the levels inside the host.
func (p Place) outside() Place {
	p.inside = [insideLevels]uint16{}
	return p
}

// outsideKind returns the kind of level i outside the hosts, according to the first host that has it.
func outsideKind(above []Place, i int) string {
	first := slices.IndexFunc(above, func(p Place) bool { return i < int(p.depth) })
	if above[first].blocks>>i&1 != 0 {
		return Block
	}
	return Switch
}
