package containers

// Stealing: whom from, and how.

// poolFarTries is how many members of other hosts a member tries before it rests.
const poolFarTries = 4

// findVictims sorts the other members by host.
func (p *WorkPool[T]) findVictims() {
	host := p.members.World.HostOf(p.members.Team.WorldPE(p.members.Me))
	for pe := range p.members.N {
		switch {
		case pe == p.members.Me:
		case p.members.World.HostOf(p.members.Team.WorldPE(pe)) == host:
			p.near = append(p.near, pe)
		default:
			p.far = append(p.far, pe)
		}
	}
}

// steal tries all members of this host once, from a random one on, and then some of other hosts. It returns one of the
// tasks that it has got; the others are in the deque.
func (p *WorkPool[T]) steal() (task T, ok bool) {
	for i, from := 0, p.random(len(p.near)); i < len(p.near); i++ {
		if task, ok = p.stealFrom(p.near[(from+i)%len(p.near)]); ok {
			return task, true
		}
	}
	for range min(poolFarTries, len(p.far)) {
		if task, ok = p.stealFrom(p.far[p.random(len(p.far))]); ok {
			return task, true
		}
	}
	return task, false
}

// random returns a number below n.
func (p *WorkPool[T]) random(n int) int {
	if n < 2 {
		return 0
	}
	return int(p.members.World.Random() % uint64(n))
}

// stealFrom takes half of what victim shares. It panics with *pgas.PeerError if victim is lost.
func (p *WorkPool[T]) stealFrom(victim int) (task T, ok bool) {
	p.stats.Attempts++
	p.members.MustLive(victim)
	state := p.deque.state.Fetch(victim)
	var head, n uint32
	for {
		head, n = poolShared(state)
		if n == 0 {
			return task, false
		}
		n = min((n+1)/2, uint32(len(p.loot)))
		now := p.deque.state.CompareSwap(victim, state, poolSpan(head+n, uint32(state)))
		if now == state {
			break
		}
		state = now
	}
	loot := p.loot[:n]
	p.getLoot(victim, head, loot)
	p.deque.copied.Add(victim, uint64(n))
	p.stats.Steals++
	p.stats.Stolen += uint64(n)
	for _, task := range loot[1:] {
		p.push(task)
	}
	return loot[0], true
}

// getLoot gets the tasks from head on of victim's ring.
func (p *WorkPool[T]) getLoot(victim int, head uint32, loot []T) {
	ring := p.deque.ring
	at := int(head & p.deque.mask)
	n := min(len(loot), ring.Len()-at)
	ring.Range(at, at+n).Get(victim, loot[:n])
	if n < len(loot) {
		ring.Range(0, len(loot)-n).Get(victim, loot[n:])
	}
}
