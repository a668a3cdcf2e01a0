package ckpt

import (
	"os"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/pgas/boot"
)

// InMemory has the Set keep its cuts in f, the memory of this PE's host, as pgasrun -survive does.
func InMemory(f *os.File, hosts []boot.Host) Option {
	return InTerm(0, 0, f, hosts)
}

// InTerm is InMemory in a term of pgasrun, with memory that was made in the term since.
func InTerm(since, term int, f *os.File, hosts []boot.Host) Option {
	return func(s *Set) {
		s.images = func() (*hook.ImageFile, bool) {
			return &hook.ImageFile{File: f, Hosts: hosts, Since: since, Term: term}, true
		}
	}
}
