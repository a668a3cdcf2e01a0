package dsmbench

// The points of the paper's figures, by name.

import "slices"

// A figure is a setting of flags, each of which may still be given.
type figure struct {
	name, doc string
	x, y      string
	sweep     sweep
}

// paperNodes are the hosts of the paper, of which it has 32, with two processes each.
var paperNodes = []int{1, 2, 4, 8, 16, 32}

// against returns the protocols that the paper compares for a program.
func against(protocol string) []string { return []string{"floating", protocol} }

var figures = []figure{
	{"cg-notices", "V-C: CG class D on two hosts by the length of the list of write notices", "notices", "program", sweep{benches: []string{"cg-menps", "cg"}, notices: []int{4096, 128, 64, 48, 44, 0}}},
	{"cg-protocols", "V-B: CG on two hosts, notices and leases against a directory", "nodes", "program", sweep{benches: []string{"cg"}, protocols: against("directory")}},
	{"bt-protocols", "V-B: BT on two hosts, homes that float against fixed ones", "nodes", "program", sweep{benches: []string{"bt"}, protocols: []string{"floating", "fixed-home", wholeBlocks}}},
	{"ep-scale", "figures 7 and 10: EP classes D and C by hosts", "nodes", "speedup", sweep{benches: []string{"ep", "ep-c"}, nodes: paperNodes}},
	{"cg-scale", "figures 7 and 9: CG class D by hosts", "nodes", "speedup", sweep{benches: []string{"cg"}, nodes: paperNodes}},
	{"ft-scale", "table IV: FT class C by hosts", "nodes", "speedup", sweep{benches: []string{"ft"}, nodes: []int{1, 2, 4}}},
	{"is-scale", "table IV: IS class C by hosts", "nodes", "speedup", sweep{benches: []string{"is"}, nodes: paperNodes}},
	{"bt-scale", "table IV: BT class A by hosts", "nodes", "speedup", sweep{benches: []string{"bt"}, nodes: []int{1, 2, 4, 8}}},
}

func figureOf(name string) (figure, bool) {
	i := slices.IndexFunc(figures, func(f figure) bool { return f.name == name })
	if i < 0 {
		return figure{}, false
	}
	return figures[i], true
}

func figureNames() (names []string) {
	for _, f := range figures {
		names = append(names, f.name)
	}
	return names
}

// A sweep is every combination of some values. A list that is empty stands for the usual value.
type sweep struct {
	benches, protocols []string
	notices, lease     []int
	nodes, threads     []int
	rest               point
}

func or[T any](given, usual []T) []T {
	if len(given) > 0 {
		return given
	}
	return usual
}

// over returns s, with what it leaves open as base has it.
func (s sweep) over(base sweep) sweep {
	s.benches, s.protocols = or(s.benches, base.benches), or(s.protocols, base.protocols)
	s.notices, s.lease = or(s.notices, base.notices), or(s.lease, base.lease)
	s.nodes, s.threads = or(s.nodes, base.nodes), or(s.threads, base.threads)
	return s
}

// points lists the combinations. Programs have as many notices as in the paper, unless s says.
func (s sweep) points() (all []point) {
	for _, bench := range s.benches {
		p, _ := programOf(bench)
		for _, nodes := range s.nodes {
			for _, threads := range s.threads {
				for _, protocol := range s.protocols {
					for _, notices := range or(s.notices, []int{p.notices}) {
						for _, lease := range s.lease {
							c := s.rest
							c.Bench, c.Protocol, c.Notices, c.Lease, c.Nodes, c.Threads = bench, protocol, notices, uint64(lease), nodes, threads
							if p.steps == 1 {
								c.Steps = 1
							}
							all = append(all, c)
						}
					}
				}
			}
		}
	}
	return all
}

// usual is what is simulated where neither the command line nor a figure says: the two hosts of section V.
var usual = sweep{benches: []string{"cg"}, protocols: []string{"floating"}, lease: []int{10}, nodes: []int{2}, threads: []int{2}}
