package locks

// NamesInUse returns the names that this PE's directory has locks for.
func NamesInUse(s *Service) (n int) {
	me := s.w.PE()
	for i := range s.dir.entries.Sym().Len() {
		if s.dir.entries.At(i).Claim().Fetch(me)&users != 0 {
			n++
		}
	}
	return n
}
