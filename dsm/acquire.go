package dsm

// An acquire: this PE drops the copies that other PEs' releases have made out of date, by notices and by leases, and
// passes the notices on in its own releases.

func (p *floating) acquire(s notices) {
	if p.o.AllNotices { // MENPS: a home's own copies end with their leases, too
		p.acquireNotices(s)
		return
	}
	p.learn(s)
	p.renewOwn()
	p.cache.expire(p.now)
}

// acquireNotices drops the copies that notices and leases tell to be out of date.
func (r *Region) acquireNotices(s notices) {
	r.learn(s)
	r.cache.expire(r.now)
}

// learn drops the copies that notices tell to be out of date, and sets the logical time.
func (r *Region) learn(s notices) {
	for _, n := range s.list {
		if int(n.pe) != r.me && n.wts > r.cache.known(n.b).rts {
			r.cache.drop(n.b, r.homeToAsk(n), n.wts+r.o.Lease)
			r.stats.count(&r.stats.Invalidated, 1)
		}
		r.notices.add(n)
	}
	r.now = max(r.now, s.min)
	r.notices.min = max(r.notices.min, s.min)
}

// renewOwn gives new leases to copies whose home is this PE, as a fetch from another PE would get them. Such a copy is the
// newest version, with own bytes over it, as long as the version word is neither closed nor moved: a fetch would bring
// what is there. In mode Paged the end of the acquire does it.
func (p *floating) renewOwn() {
	r := p.Region
	list := r.cache.ending(r.now, int32(r.me))
	if len(list) == 0 {
		return
	}
	lease, old := r.now+r.o.Lease, make([]uint64, len(list))
	for i, b := range list {
		r.words.version.At(int(b)).FetchMaxNB(r.me, lease, &old[i])
	}
	r.mustQuiet()
	for i, b := range list {
		if old[i]&(closed|moved) == 0 {
			r.cache.renew(b, max(old[i], lease))
		}
	}
}

// homeToAsk returns the PE that has the version of a notice.
func (r *Region) homeToAsk(n notice) int32 {
	if r.o.Protocol == Floating {
		return n.pe
	}
	return int32(int(n.b) % r.n)
}
