package dsmbench

import "github.com/gopgas/gopgas/cmd/pgasbench/sweep"

// What is varied.

// A grid is every combination of some values. A list that is empty stands for the usual value.
type grid struct {
	benches, protocols []string
	notices, lease     []int
	nodes, threads     []int
	rest               point
}

// over returns s, with what it leaves open as base has it.
func (s grid) over(base grid) grid {
	s.benches, s.protocols = sweep.Or(s.benches, base.benches), sweep.Or(s.protocols, base.protocols)
	s.notices, s.lease = sweep.Or(s.notices, base.notices), sweep.Or(s.lease, base.lease)
	s.nodes, s.threads = sweep.Or(s.nodes, base.nodes), sweep.Or(s.threads, base.threads)
	return s
}

// points lists the combinations. Programs have as many notices as in the paper, unless s says.
func (s grid) points() (all []point) {
	for _, bench := range s.benches {
		p, _ := sweep.Find(programs, bench)
		for _, nodes := range s.nodes {
			for _, threads := range s.threads {
				for _, protocol := range s.protocols {
					for _, notices := range sweep.Or(s.notices, []int{p.notices}) {
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
var usual = grid{benches: []string{"cg"}, protocols: []string{"floating"}, lease: []int{10}, nodes: []int{2}, threads: []int{2}}
