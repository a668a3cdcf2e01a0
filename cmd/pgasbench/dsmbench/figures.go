package dsmbench

import "github.com/gopgas/gopgas/cmd/pgasbench/sweep"

// The points of the paper's figures, by name.

// paperNodes are the hosts of the paper, of which it has 32, with two processes each.
var paperNodes = []int{1, 2, 4, 8, 16, 32}

// against returns the protocols that the paper compares for a program.
func against(protocol string) []string { return []string{"floating", protocol} }

var figures = []sweep.Figure[grid]{
	{
		Name: "cg-notices", Doc: "V-C: CG class D on two hosts by the length of the list of write notices", X: "notices", Y: "program",
		Grid: grid{benches: []string{"cg-menps", "cg"}, notices: []int{4096, 128, 64, 48, 44, 0}},
	},
	{
		Name: "cg-protocols", Doc: "V-B: CG on two hosts, notices and leases against a directory", X: "nodes", Y: "program",
		Grid: grid{benches: []string{"cg"}, protocols: against("directory")},
	},
	{
		Name: "bt-protocols", Doc: "V-B: BT on two hosts, homes that float against fixed ones", X: "nodes", Y: "program",
		Grid: grid{benches: []string{"bt"}, protocols: []string{"floating", "fixed-home", wholeBlocks}},
	},
	{
		Name: "ep-scale", Doc: "figures 7 and 10: EP classes D and C by hosts", X: "nodes", Y: "speedup",
		Grid: grid{benches: []string{"ep", "ep-c"}, nodes: paperNodes},
	},
	{
		Name: "cg-scale", Doc: "figures 7 and 9: CG class D by hosts", X: "nodes", Y: "speedup",
		Grid: grid{benches: []string{"cg"}, nodes: paperNodes},
	},
	{
		Name: "ft-scale", Doc: "table IV: FT class C by hosts", X: "nodes", Y: "speedup",
		Grid: grid{benches: []string{"ft"}, nodes: []int{1, 2, 4}},
	},
	{
		Name: "is-scale", Doc: "table IV: IS class C by hosts", X: "nodes", Y: "speedup",
		Grid: grid{benches: []string{"is"}, nodes: paperNodes},
	},
	{
		Name: "bt-scale", Doc: "table IV: BT class A by hosts", X: "nodes", Y: "speedup",
		Grid: grid{benches: []string{"bt"}, nodes: []int{1, 2, 4, 8}},
	},
}
