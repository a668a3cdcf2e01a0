package containers_test

// Two members at one segment, in every order of their operations.

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gopgas/gopgas/containers"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest/mutant"
	"github.com/gopgas/gopgas/pgas/sim"
)

// mapPair is a value whose halves must agree.
type mapPair struct{ n, minus int64 }

func pairOf(n int64) mapPair { return mapPair{n, -n} }

func addPairs(old, v mapPair) mapPair { return pairOf(old.n + v.n) }

// mapMeeting is what two members do at the same time.
type mapMeeting struct {
	m    *containers.Map[int, mapPair]
	keys []int // of member 0, there already, with the value pairOf(1)
	more []int // of member 0, not there yet
	yes  pgas.Atomic[int64]
}

// mapScenario is a meeting: the number of keys that are there before, what each member does, and what must be true
// after both.
type mapScenario struct {
	before int
	does   [2]func(ctx context.Context, a mapMeeting) error
	after  func(a mapMeeting) error
}

// count counts an answer.
func (a mapMeeting) count(answer bool) {
	if answer {
		a.yes.Add(0, 1)
	}
}

// mustHave fails unless key has one of the values.
func (a mapMeeting) mustHave(key int, values ...int64) error {
	v, ok := a.m.Find(key)
	for _, want := range values {
		if ok && v == pairOf(want) {
			return nil
		}
	}
	return fmt.Errorf("Find(%d): %v, %t; want one of %d", key, v, ok, values)
}

var mapScenarios = map[string]mapScenario{
	"InsertInsert": {
		does: [2]func(context.Context, mapMeeting) error{insertsFirst(1), insertsFirst(2)},
		after: func(a mapMeeting) error {
			if n := a.yes.Fetch(0); n != 1 || a.m.LocalLen() > 1 {
				return fmt.Errorf("%d members have inserted one key, and there are %d", n, a.m.LocalLen())
			}
			return a.mustHave(a.more[0], 1, 2)
		},
	},
	"UpdateUpdate": {
		before: 1,
		does:   [2]func(context.Context, mapMeeting) error{updates, updates},
		after:  func(a mapMeeting) error { return a.mustHave(a.keys[0], 3) },
	},
	"UpdateFind": {
		before: 1,
		does: [2]func(context.Context, mapMeeting) error{updates,
			func(_ context.Context, a mapMeeting) error { return a.mustHave(a.keys[0], 1, 2) }},
		after: func(a mapMeeting) error { return a.mustHave(a.keys[0], 2) },
	},
	"UpdateDelete": {
		before: 1,
		does:   [2]func(context.Context, mapMeeting) error{updates, deletes},
		after: func(a mapMeeting) error {
			_, ok := a.m.Find(a.keys[0])
			if n := a.yes.Fetch(0); n != 1 {
				return fmt.Errorf("the key was deleted %d times", n)
			}
			if ok {
				return a.mustHave(a.keys[0], 1)
			}
			return nil
		},
	},
	"GrowFind": {
		before: 48,
		does: [2]func(context.Context, mapMeeting) error{insertsFirst(1),
			func(_ context.Context, a mapMeeting) error { return a.mustHave(a.keys[7], 1) }},
		after: mapHasAll,
	},
	"GrowUpdate": {
		before: 48,
		does:   [2]func(context.Context, mapMeeting) error{insertsFirst(1), updates},
		after: func(a mapMeeting) error {
			if err := a.mustHave(a.keys[0], 2); err != nil {
				return err
			}
			a.keys = a.keys[1:]
			return mapHasAll(a)
		},
	},
	"GrowGrow": {
		before: 48,
		does: [2]func(context.Context, mapMeeting) error{insertsFirst(1),
			func(ctx context.Context, a mapMeeting) error { return inserts(ctx, a, a.more[1], 1) }},
		after: mapHasAll,
	},
}

func insertsFirst(n int64) func(context.Context, mapMeeting) error {
	return func(ctx context.Context, a mapMeeting) error { return inserts(ctx, a, a.more[0], n) }
}

func inserts(ctx context.Context, a mapMeeting, key int, n int64) error {
	inserted, err := a.m.Insert(ctx, key, pairOf(n))
	a.count(inserted)
	return err
}

func updates(ctx context.Context, a mapMeeting) error {
	return a.m.Update(ctx, a.keys[0], pairOf(1), addPairs)
}

func deletes(ctx context.Context, a mapMeeting) error {
	deleted, err := a.m.Delete(ctx, a.keys[0])
	a.count(deleted)
	return err
}

// mapHasAll fails unless all keys that were there are there. It looks at each segment once: an exploration takes a
// member that reads the same again and again for one that polls.
func mapHasAll(a mapMeeting) error {
	there := 0
	for key, v := range a.m.All() {
		if slices.Contains(a.keys, key) && v == pairOf(1) {
			there++
		}
	}
	if there != len(a.keys) {
		return fmt.Errorf("%d of %d keys are there", there, len(a.keys))
	}
	return nil
}

//ci:weekly
func TestMapExplored(t *testing.T) {
	for name, s := range mapScenarios {
		t.Run(name, func(t *testing.T) {
			if name == "GrowGrow" && !*long {
				t.Skip("takes minutes: -long explores it")
			}
			e, err := sim.Explore(t.Context(), sim.Config{Reduce: true}, 2, func(ctx context.Context, w *pgas.World) error {
				return meetAtMap(ctx, w, s)
			})
			if err != nil {
				t.Fatal(err)
			}
			if e.Ends == 0 {
				t.Fatalf("no order has come to its end: %+v", e)
			}
			t.Logf("%+v", e)
		})
	}
}

// meetAtMap runs a scenario in one order.
func meetAtMap(ctx context.Context, w *pgas.World, s mapScenario) error {
	m, err := containers.NewMap[int, mapPair](ctx, w, containers.Capacity(100))
	if err != nil {
		return err
	}
	words, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	a := mapMeeting{m: m, yes: pgas.AtomicOf(words, 0)}
	for key := 0; len(a.more) < 2; key++ {
		if m.Home(key) != 0 {
			continue
		}
		if len(a.keys) == s.before {
			a.more = append(a.more, key)
			continue
		}
		a.keys = append(a.keys, key)
		if w.PE() == 0 {
			if err := m.Set(ctx, key, pairOf(1)); err != nil {
				return err
			}
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	sim.Start(ctx)
	if err := s.does[w.PE()](ctx, a); err != nil {
		return err
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() != 0 {
		return nil
	}
	return s.after(a)
}

var mapMutants = []mutant.Bug{
	mutant.New("an insert takes no lock", "map_write.go", "MapExplored/InsertInsert",
		"lock.CompareSwap(s.pe, 0, uint64(t.members.Me)+1) != 0;", "lock.CompareSwap(s.pe, 0, uint64(t.members.Me)+1) > 9;"),
	mutant.New("unlocks before the slot is there", "map_write.go", "MapExplored/UpdateUpdate",
		"\tt.fence(s.pe)\n\tt.lockOf(s)", "\tt.lockOf(s)"),
	mutant.New("believes a slot that is being written", "map_find.go", "MapTorn",
		"if slotCheck(hash, t.value) == state {", "if true {"),
	mutant.New("a find believes what it has seen before the segment was there", "map_find.go", "MapMessages",
		"if right && !existed {", "if existed = true; right && !existed {"),
	mutant.New("a loop believes a slot that is being written", "map_iterate.go", "MapTorn",
		"\t\t\t\ttorn = true\n", "\t\t\t\ttorn = false\n"),
	mutant.New("a split removes keys before it shows the new segment", "map_split.go", "MapExplored/GrowFind",
		"\tt.store(from, 0, stay)\n", "", "\tt.store(to, 0, move)\n", "\tt.store(from, 0, stay)\n\tt.fence(to.pe)\n\tt.store(to, 0, move)\n"),
	mutant.New("a split does not lock the new segment", "map_split.go", "MapSplitAdversaries",
		"if err := t.lock(ctx, to); err != nil {", "if err := context.Cause(ctx); err != nil {"),
	mutant.New("who waits for room for a key receives no bytes of keys", "mailbox.go", "StringMapOnlyInserts$/^sim$",
		"\tif err == nil && b.beside != nil {\n", "\tif err == nil && b.beside != nil && !b.sending() {\n",
		"func (b *Mailbox[T]) tellAll()", "func (b *Mailbox[T]) sending() bool { return b.backlog > 0 }\n\nfunc (b *Mailbox[T]) tellAll()"),
	mutant.New("a promise of inserts ends before they are there", "map_promise.go", "MapOnlyInserts$/^sim$",
		"\tif held == onlyInserts {\n\t\terr = m.end(ctx, op)\n\t} else {", "\tif held == onlyInserts {\n\t\tm.busy, m.shards.alone = \"\", false\n\t\terr = m.members.Team.Barrier(ctx)\n\t} else {"),
	mutant.New("an insert replaces what is there", "map_batch.go", "MapOnlyInserts$/^sim$",
		"\tif found {\n\t\treturn mapLeave\n\t}\n", ""),
	mutant.New("a value is found of which a part is gone", "map_strings.go", "TextMapReplaced$/^sim$",
		"\t\tif !ok {\n\t\t\treturn \"\", false\n\t\t}\n", "\t\t_ = ok\n"),
	mutant.New("values that were replaced stay", "map_texts.go", "TextMapMemory",
		"\treturn t.erase(ctx, obsolete)\n", "\t_ = obsolete\n\treturn nil\n"),
	mutant.New("a key moves as its slot becomes free", "map_split.go", "MapOracle/goroutines|MapGrows",
		"slot[0] == slotDead && !keep", "slot[0] == slotDead && (keep || !keep)"),
	mutant.New("a dead slot hides what is behind it", "map_write.go", "MapOracle/goroutines",
		"held.slots[((i+1)&last)*size] != slotFree", "false"),
}
