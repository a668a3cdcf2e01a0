package sim

// What the machines of costs.go cost by the levels of a topology.

import (
	"github.com/gopgas/gopgas/pgas/sim/internal/network"
	"github.com/gopgas/gopgas/pgas/topo"
)

// socket is the level that gives the costs of a host that is not divided.
const socket = "socket"

// onLevels returns what the parts of a machine with the costs c cost, by the levels of its topology.
func (c *Costs) onLevels(tree *topo.Tree, npes int) network.Costs {
	l := network.Costs{
		Loopback: c.Loopback.inPicos(),
		Overhead: int64(c.Overhead), Answer: int64(c.Answer), Gap: int64(c.Gap), NICAtomic: int64(c.NICAtomic),
		Hit: int64(c.Hit), Poll: int64(c.Poll), Receive: int64(c.Receive), Notify: int64(c.Notify),
	}
	names := tree.Names()
	for i, name := range names {
		if name == topo.Host {
			l.Host = i
		}
	}
	l.Elements = make([][]int32, len(names))
	for i := range names {
		l.Elements[i] = make([]int32, npes)
		for pe := range npes {
			l.Elements[i][pe] = int32(tree.LevelAt(i).Element(pe))
		}
	}
	l.Memory = make([]network.Memory, len(names))
	l.Links = make([]network.Link, l.Host)
	for i := l.Host; i < len(names); i++ {
		name := names[i]
		if name == topo.Host && i == len(names)-1 {
			name = socket // the topology does not divide hosts
		}
		m, known := c.Memory[name]
		if !known && i > l.Host {
			l.Memory[i] = l.Memory[i-1]
			continue
		}
		if !known {
			m = c.Memory[topo.Host]
		}
		l.Memory[i] = network.Memory{Line: int64(m.Line), PerByte: int64(m.PerByte)}
	}
	for i := range l.Host {
		l.Links[i] = c.Network[min(l.Host-1-i, len(c.Network)-1)].inPicos()
	}
	return l
}

// inPicos returns l with plain numbers.
func (l Link) inPicos() network.Link {
	return network.Link{Latency: int64(l.Latency), PerByte: int64(l.PerByte)}
}
