package ckpt

import (
	"os"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas/boot"
)

// WithShare is an Option that follows InTerm: share is told where a PE has journals of others.
func WithShare(share func(areas []byte, n int)) Option {
	return func(s *Set) {
		images := s.images
		s.images = func() (*hook.ImageFile, bool) {
			f, mine := images()
			f.ShareJournals = share
			return f, mine
		}
	}
}

// InTerm has the Set keep its cuts in f, the memory of this PE's host, as pgasrun -survive does in one of its terms.
// The memory was made in the term since.
func InTerm(since, term int, f *os.File, hosts []boot.Host) Option {
	return func(s *Set) {
		s.images = func() (*hook.ImageFile, bool) {
			return &hook.ImageFile{File: f, Hosts: hosts, Since: since, Term: term}, true
		}
	}
}
