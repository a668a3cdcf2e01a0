package dsm

// An acquire: this PE drops the copies that other PEs' releases have made out of date, by notices and by leases, and
// passes the notices on in its own releases.

func (p *floating) acquire(s notices) { p.acquireNotices(s) }

// acquireNotices drops the copies that notices and leases tell to be out of date.
func (r *Region) acquireNotices(s notices) {
	for _, n := range s.list {
		if int(n.pe) != r.me && n.wts > r.cache.known(n.b).rts {
			r.cache.drop(n.b, r.homeToAsk(n), n.wts+r.o.Lease)
			r.stats.count(&r.stats.Invalidated, 1)
		}
		r.notices.add(n)
	}
	r.now = max(r.now, s.min)
	r.notices.min = max(r.notices.min, s.min)
	r.cache.expire(r.now)
}

// homeToAsk returns the PE that has the version of a notice.
func (r *Region) homeToAsk(n notice) int32 {
	if r.o.Protocol == Floating {
		return n.pe
	}
	return int32(int(n.b) % r.n)
}
