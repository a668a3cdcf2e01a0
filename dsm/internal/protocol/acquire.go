package protocol

// An acquire: this PE drops the copies that other PEs' releases have made out of date, by notices and by leases, and
// passes the notices on in its own releases.

// Acquire drops the copies that notices and leases declare out of date, and renews the leases of this PE's own
// versions.
func (p *Floating) Acquire(told Notices) {
	p.learn(told)
	p.renewOwn()
	p.Cache.Expire(p.Now)
}

// AcquireNotices drops the copies that notices and leases declare out of date. A home's own copies end with their
// leases.
func (s *State) AcquireNotices(told Notices) {
	s.learn(told)
	s.Cache.Expire(s.Now)
}

// learn drops the copies that notices declare out of date, and sets the logical time.
func (s *State) learn(told Notices) {
	for _, n := range told.List {
		if int(n.PE) != s.Me && n.WTS > s.Cache.Known(n.Block).RTS {
			s.Cache.Drop(n.Block, s.homeToAsk(n), n.WTS+s.Lease)
			s.Counters.Invalidated.Add(1)
		}
		s.Notices.Add(n)
	}
	s.Now = max(s.Now, told.Min)
	s.Notices.Min = max(s.Notices.Min, told.Min)
}

// renewOwn gives new leases to copies whose home is this PE, as a fetch from another PE would get them. Such a copy is
// the newest version, with own bytes over it, as long as the version word is neither closed nor moved: a fetch would
// bring what is there. A cache that is no Renewer does it at the end of the acquire.
func (p *Floating) renewOwn() {
	s := p.State
	if s.renewer == nil {
		return
	}
	list := s.renewer.Ending(s.Now, int32(s.Me))
	if len(list) == 0 {
		return
	}
	lease, old := s.Now+s.Lease, make([]uint64, len(list))
	for i, b := range list {
		s.Words.Version.At(int(b)).FetchMaxNB(s.Me, lease, &old[i])
	}
	s.MustQuiet()
	for i, b := range list {
		if old[i]&(Closed|Moved) == 0 {
			s.renewer.Renew(b, max(old[i], lease))
		}
	}
}

// homeToAsk returns the PE that has the version of a notice.
func (s *State) homeToAsk(n Notice) int32 {
	if s.Traits.FixedHomes {
		return int32(s.HomeOf(n.Block))
	}
	return n.PE
}
