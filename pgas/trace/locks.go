package trace

// Locks: how often each was taken, how long PEs held it and waited for it.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// LockUse is how a lock was used.
type LockUse struct {
	Lock    string        `json:"lock"` // its name in the program, or its place in the heap
	Held    int           `json:"acquisitions"`
	Waits   int           `json:"waits"`
	PEs     int           `json:"pes"` // the PEs that have taken it or waited for it
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

// LockWait is a part of a deadlock: a PE that holds one lock and waited in vain for another, which the next PE holds.
type LockWait struct {
	PE    int    `json:"pe"`
	Holds string `json:"holds"`
	Waits string `json:"waits_for"`
	Line  string `json:"line,omitempty"` // the line of the program's call that waits, if it is known
}

// vain is a wait for a lock that has not ended in its acquisition.
type vain struct {
	pe     int
	wait   *Slice
	holder int
}

// deadlock returns a cycle of PEs each of which holds a lock and waited in vain for that of the next one, from its
// first PE on; nil if there is none. A job that is ended in a deadlock ends its waits, so they need not be open.
func (t *Trace) deadlock() []LockWait {
	waits := map[int][]vain{}
	for i := range t.PEs {
		for _, v := range t.vainWaits(&t.PEs[i]) {
			waits[v.pe] = append(waits[v.pe], v)
		}
	}
	done := map[int]bool{}
	for _, first := range slices.Sorted(maps.Keys(waits)) {
		if cycle := followWaits(waits, done, nil, first); cycle != nil {
			return t.named(cycle)
		}
	}
	return nil
}

// vainWaits returns the waits of p for locks that p never got, and that another PE held when they ended.
func (t *Trace) vainWaits(p *PE) (all []vain) {
	for k := range p.Slices {
		s := &p.Slices[k]
		if s.Kind != record.Wait || s.Name != "lock" || slices.ContainsFunc(p.Slices[k:], func(h Slice) bool { return h.Kind == record.Hold && h.Seq == s.Seq }) {
			continue
		}
		for i := range t.PEs {
			holds := func(h Slice) bool { return h.Kind == record.Hold && h.Seq == s.Seq && h.Open && h.Start <= s.End() }
			if q := &t.PEs[i]; q != p && slices.ContainsFunc(q.Slices, holds) {
				all = append(all, vain{p.Number, s, q.Number})
				break
			}
		}
	}
	return all
}

// followWaits goes from PE to PE along waits, and returns those of the first cycle.
func followWaits(waits map[int][]vain, done map[int]bool, path []vain, pe int) []vain {
	if at := slices.IndexFunc(path, func(v vain) bool { return v.pe == pe }); at >= 0 {
		return path[at:]
	}
	if done[pe] {
		return nil
	}
	for _, v := range waits[pe] {
		if cycle := followWaits(waits, done, append(path, v), v.holder); cycle != nil {
			return cycle
		}
	}
	done[pe] = true
	return nil
}

// named returns a cycle in words: each PE holds what the one before it waits for.
func (t *Trace) named(cycle []vain) (all []LockWait) {
	names := t.wordNames()
	name := func(s *Slice) string {
		if n := names[s.Seq]; n != "" {
			return n
		}
		return fmt.Sprintf("the lock at offset %d", s.Seq)
	}
	for i, v := range cycle {
		before := cycle[(i+len(cycle)-1)%len(cycle)]
		all = append(all, LockWait{PE: v.pe, Holds: name(before.wait), Waits: name(v.wait), Line: v.wait.Line})
	}
	return all
}
