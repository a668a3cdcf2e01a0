package topo

// Slurm tells each task the switches above its node, from the top down, in SLURM_TOPOLOGY_ADDR
// ("core[1-4].leaf8.node177"), and what each part is in SLURM_TOPOLOGY_ADDR_PATTERN
// ("switch.switch.node", or "block.node"). Without a topology plugin there is only the node.
//
// Only equality of names is used. "core[1-4]" says that several switches join the parts below, and is as
// good a name as any. A path that does not have the parts of its pattern (a dot in a name) is ignored:
// cut at the wrong dot, it would make PEs neighbours that are not.

import (
	"hash/fnv"
	"strings"
)

// fromSlurm sets the levels outside of the host.
func (p *Place) fromSlurm(environ []string) {
	names := strings.Split(envValue(environ, "SLURM_TOPOLOGY_ADDR"), ".")
	kinds := strings.Split(envValue(environ, "SLURM_TOPOLOGY_ADDR_PATTERN"), ".")
	above := len(kinds) - 1
	if len(names) != len(kinds) || kinds[above] != "node" {
		return
	}
	for i, kind := range kinds[:above] {
		if kind != Switch && kind != Block || names[i] == "" {
			return
		}
	}
	skip := max(0, above-maxOutside)
	p.depth = uint8(above - skip)
	for i := range int(p.depth) {
		if kinds[skip+i] == Block {
			p.blocks |= 1 << i
		}
		h := fnv.New64a()
		h.Write([]byte(strings.Join(names[:skip+i+1], ".")))
		p.paths[i] = h.Sum64()
	}
}

// envValue returns the value of a variable. The last assignment counts.
func envValue(environ []string, name string) (value string) {
	for _, kv := range environ {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			value = v
		}
	}
	return value
}
