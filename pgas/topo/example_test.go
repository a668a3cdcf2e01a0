package topo_test

import (
	"fmt"

	"github.com/gopgas/gopgas/pgas/topo"
)

// A machine of two racks that need not exist: 32 PEs, hosts with two NUMA nodes of 4 PEs each.
func ExampleBuild() {
	spec, err := topo.Parse("numa:4,host:2,rack:2")
	if err != nil {
		panic(err)
	}
	tree, err := topo.Build(spec, []int{32}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Print(tree)
	for _, pe := range []int{3, 4, 8, 16} {
		fmt.Println("PEs 0 and", pe, "have in common: one", tree.LevelAt(tree.Common(0, pe)).Name())
	}
	// Output:
	// level    elements  PEs of each
	// machine         1  0-31
	// rack            2  0-15 | 16-31
	// host            4  0-7 | 8-15 | 16-23 | 24-31
	// numa            8  0-3 | 4-7 | 8-11 | 12-15 | 16-19 | 20-23 | 24-27 | 28-31
	// PEs 0 and 3 have in common: one numa
	// PEs 0 and 4 have in common: one host
	// PEs 0 and 8 have in common: one rack
	// PEs 0 and 16 have in common: one machine
}
