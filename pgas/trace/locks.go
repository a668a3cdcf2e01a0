package trace

// Locks: how often each was taken, how long PEs held it and waited for it.

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// LockUse is how a lock was used.
type LockUse struct {
	Lock    string        `json:"lock"` // its name in the program, or its place in the heap
	Held    int           `json:"acquisitions"`
	Waits   int           `json:"waits"`
	PEs     int           `json:"pes"` // that have taken it or waited for it
	Holding time.Duration `json:"held_ns"`
	Waiting time.Duration `json:"waited_ns"`
	Longest time.Duration `json:"longest_wait_ns"`
}

func (t *Trace) locks() []LockUse {
	type use struct {
		LockUse
		pes map[int]bool
	}
	all := map[string]*use{}
	names := t.wordNames()
	of := func(s *Slice, pe int) *use {
		name := names[s.Seq]
		if name == "" {
			name = fmt.Sprintf("at offset %d", s.Seq)
		}
		u := all[name]
		if u == nil {
			u = &use{LockUse{Lock: name}, map[int]bool{}}
			all[name] = u
		}
		u.pes[pe] = true
		return u
	}
	for i := range t.PEs {
		p := &t.PEs[i]
		for k := range p.Slices {
			switch s := &p.Slices[k]; {
			case s.Kind == record.Hold:
				u := of(s, p.Number)
				u.Held++
				u.Holding += time.Duration(s.Dur)
			case s.Kind == record.Acquire, s.Kind == record.Wait && s.Name == "lock":
				u := of(s, p.Number)
				u.Waits++
				u.Waiting += time.Duration(s.Dur)
				u.Longest = max(u.Longest, time.Duration(s.Dur))
			}
		}
	}
	var list []LockUse
	for _, u := range all {
		u.PEs = len(u.pes)
		list = append(list, u.LockUse)
	}
	slices.SortFunc(list, func(a, b LockUse) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Held, a.Held), cmp.Compare(a.Lock, b.Lock))
	})
	return list
}

// wordNames returns the names of words by their offsets, which are the same on every PE.
func (t *Trace) wordNames() map[uint64]string {
	all := map[uint64]string{}
	for i := range t.PEs {
		for off, name := range t.PEs[i].Words {
			all[off] = name
		}
	}
	return all
}
