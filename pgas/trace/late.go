package trace

// Wait states, after Scalasca: a PE waits for a message, a signal, a lock or a collective because its sender is late;
// or it has something to send, and waits because the receiver is late. Here nothing is received, so the second is a
// wait for room for a notification, for an answer, or for the completion of what was sent.
//
// A wait counts against its sender up to the moment at which that acted. What comes after is the way of the message.

import (
	"cmp"
	"slices"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/record"
)

// lateKey is what late waits are added up for.
type lateKey struct {
	late, waiter int
	in           string
}

func (t *Trace) late() (senders, receivers []Late) {
	send, receive := map[lateKey]*Late{}, map[lateKey]*Late{}
	add := func(to map[lateKey]*Late, k lateKey, d int64) {
		if d <= 0 {
			return
		}
		l := to[k]
		if l == nil {
			l = &Late{PE: k.late, For: k.waiter, In: k.in}
			to[k] = l
		}
		l.Count++
		l.Time += time.Duration(d)
	}
	causes := t.causes()
	for i := range t.PEs {
		p := &t.PEs[i]
		for k := range p.Slices {
			s := &p.Slices[k]
			if s.Kind != record.Wait {
				continue
			}
			if f, ok := causes[waitKey{p.Number, s.End()}]; ok {
				add(send, lateKey{f.From, p.Number, s.Name}, f.FromAt-s.Start)
			} else if s.Peer >= 0 && s.Peer != p.Number && receives(s.Name) {
				add(receive, lateKey{s.Peer, p.Number, s.Name}, s.Dur)
			}
		}
	}
	return sorted(send), sorted(receive)
}

// receives reports whether a wait for this cause is for the other side to take something.
func receives(cause string) bool {
	return cause == "notified access" || cause == "quiet" || cause == "get" || cause == "atomic"
}

func sorted(all map[lateKey]*Late) []Late {
	var list []Late
	for _, l := range all {
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Late) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.PE, b.PE), cmp.Compare(a.For, b.For), cmp.Compare(a.In, b.In))
	})
	return list
}

// lateSum is how late a PE was in one kind of wait: For is the PE that has waited most of pes.
type lateSum struct {
	Late
	pes int
}

// byLatePE adds up a list, which has the longest first, for all PEs that have waited; the longest first.
func byLatePE(list []Late) []lateSum {
	var all []lateSum
	at := map[lateKey]int{}
	for _, l := range list {
		k := lateKey{late: l.PE, in: l.In}
		i, known := at[k]
		if !known {
			at[k] = len(all)
			all = append(all, lateSum{l, 1})
			continue
		}
		all[i].Time += l.Time
		all[i].Count += l.Count
		all[i].pes++
	}
	slices.SortStableFunc(all, func(a, b lateSum) int { return cmp.Compare(b.Time, a.Time) })
	return all
}

// waitKey names a wait by its end.
type waitKey struct {
	pe  int
	end int64
}

// causes returns the arrow to each wait.
func (t *Trace) causes() map[waitKey]Flow {
	all := map[waitKey]Flow{}
	for _, f := range t.Flows {
		all[waitKey{f.To, f.ToAt}] = f
	}
	return all
}
