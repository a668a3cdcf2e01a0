package locks

// NamesInUse is the names that this PE's directory has locks for.
func NamesInUse(s *Service) (n int) {
	me := s.w.PE()
	for i := range s.dir.entries.Len() {
		if s.dir.entries.At(i).FetchClaim(me)&users != 0 {
			n++
		}
	}
	return n
}
