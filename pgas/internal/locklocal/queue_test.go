package locklocal

// Every order of events of a few PEs and goroutines at one lock: the seats are the real ones, the words
// and the steps between them are a model of lock.go, one atomic update or one call of the seat a step.
// Whatever happens, at most one goroutine holds the lock, nobody waits for what cannot come, and in the
// end everything is as it was at the beginning.

import (
	"fmt"
	"strings"
	"testing"
)

// What a goroutine of the model does next.
type step uint8

const (
	stepArrive   step = iota
	stepInLine        // waits for an order
	stepEnter         // swaps the tail
	stepLink          // tells the one before
	stepFollow        // waits for the turn
	stepHold          // has the lock
	stepBehind        // looks at next
	stepTail          // compares and swaps the tail
	stepAwait         // waits for next
	stepHandOver      // sets the turn of the one behind
	stepAway          // tells the seat
	stepTry           // as stepArrive, without waiting
	stepTryTail       // compares and swaps the tail
	stepNone          // a keeper that does not run
	stepDone
)

// Goroutines of the model's PE p are p*perPE to p*perPE+perPE-1; the last is its keeper.
const (
	modelPEs = 3
	perPE    = 3
)

type modelGoroutine struct {
	step   step
	rounds int8 // that are left
	quits  bool // it may give up whenever it waits
	tries  bool // it tries only
	before int8
	order  Directive // if in line: as far as it has been told
}

type modelPE struct {
	next, turn int8
	stage      state
	line       [perPE]int8 // goroutines, -1 for nobody
}

// A bug is planted in the model to see that it is caught.
type bug uint8

const (
	noBug       bug = iota
	bugForsakes     // who gives up leaves the place in the queue to nobody
	bugHurries      // who finds no next does not wait for it
	bugOldTurn      // the word turn is not put back
	bugOldNext      // the word next is not put back
	bugKeeps        // a keeper does not pass on
	bugBarges       // who gives up in the queue says that the PE is away
	numBugs
)

// A model is a value, so that it is its own key.
type model struct {
	bug  bug
	tail int8
	pes  [modelPEs]modelPE
	gs   [modelPEs * perPE]modelGoroutine
}

// seatOf makes the real seat of PE p, with the waiters of its line, and store puts it back.
func (m *model) seatOf(p int) (*Queue, map[*Waiter]int8) {
	s, who := &Queue{state: m.pes[p].stage}, map[*Waiter]int8{}
	for _, g := range m.pes[p].line {
		if g >= 0 {
			w := &Waiter{Wake: make(chan struct{})}
			who[w] = g
			s.Line = append(s.Line, w)
		}
	}
	return s, who
}

func (m *model) store(p int, s *Queue, who map[*Waiter]int8) {
	m.pes[p].stage = s.state
	for w, g := range who {
		if w.Directive != Wait {
			m.gs[g].order = w.Directive
		}
	}
	for i := range m.pes[p].line {
		m.pes[p].line[i] = -1
		if i < len(s.Line) {
			m.pes[p].line[i] = who[s.Line[i]]
		}
	}
}

// withSeat calls f with the seat of goroutine g's PE.
func (m *model) withSeat(g int, f func(*Queue)) {
	s, who := m.seatOf(g / perPE)
	f(s)
	m.store(g/perPE, s, who)
}

// moves are the models that one step of goroutine g makes of m, none if it must wait; and those that it
// makes by giving up.
func (m model) moves(g int) (steps, quits []model) {
	p := g / perPE
	me, pe, now := &m.gs[g], &m.pes[p], m.gs[g].step
	switch now {
	case stepArrive, stepTry:
		if now == stepTry {
			ok := false
			m.withSeat(g, func(s *Queue) { ok = s.Try() })
			me.step = stepTryTail
			if !ok {
				m.endRound(g)
			}
			return []model{m}, nil
		}
		s, who := m.seatOf(p)
		o, w := s.Join()
		if w != nil {
			who[w] = int8(g)
		}
		m.store(p, s, who)
		me.order = o
		m.obey(g)
		return []model{m}, nil
	case stepInLine:
		if me.order != Wait {
			told := m
			told.obey(g)
			steps = append(steps, told)
		}
		if me.quits {
			quit := m
			s, who := quit.seatOf(p)
			mine := &Waiter{Directive: me.order}
			for w, x := range who {
				if int(x) == g {
					mine = w
				}
			}
			o := s.Leave(mine)
			delete(who, mine)
			quit.store(p, s, who)
			quit.gs[g].order = o
			quit.obey(g)
			quits = append(quits, quit)
		}
		return steps, quits
	case stepEnter:
		if me.quits {
			quit := m
			quit.withSeat(g, (*Queue).Left)
			quit.endRound(g)
			quits = append(quits, quit)
		}
		m.prepare(p)
		me.before = m.tail - 1
		m.tail = int8(p) + 1
		me.step = stepLink
		if me.before < 0 {
			m.withSeat(g, (*Queue).Acquired)
			me.step = stepHold
		}
		return []model{m}, quits
	case stepLink:
		m.pes[me.before].next = int8(p) + 1
		me.step = stepFollow
		return []model{m}, nil
	case stepFollow:
		if me.quits && pe.turn == 0 {
			quit := m
			follower := false
			quit.withSeat(g, func(s *Queue) {
				if follower = s.Abandon(); !follower && (m.bug == bugForsakes || m.bug == bugBarges) {
					s.Orphaned()
				}
				if m.bug == bugBarges && !follower {
					s.Left()
				}
			})
			if !follower && m.bug != bugForsakes && m.bug != bugBarges {
				quit.gs[p*perPE+perPE-1].step = stepFollow
			}
			quit.endRound(g)
			quits = append(quits, quit)
		}
		if pe.turn == 0 {
			return nil, quits
		}
		if m.isKeeper(g) {
			inherited := false
			m.withSeat(g, func(s *Queue) { inherited = s.Inherit() })
			me.step = stepBehind
			if inherited || m.bug == bugKeeps {
				me.step = stepNone
			}
			return []model{m}, quits
		}
		m.withSeat(g, (*Queue).Acquired)
		me.step = stepHold
		return []model{m}, quits
	case stepHold:
		ok := false
		m.withSeat(g, func(s *Queue) { ok = s.Release() })
		if !ok {
			panic("the seat does not know that the lock is held")
		}
		me.step = stepBehind
		return []model{m}, nil
	case stepBehind:
		me.step = stepTail
		if pe.next != 0 {
			me.step = stepHandOver
		}
		return []model{m}, nil
	case stepTail:
		me.step = stepAwait
		if m.bug == bugHurries {
			me.step = stepAway
		}
		if m.tail == int8(p)+1 {
			m.tail = 0
			me.step = stepAway
		}
		return []model{m}, nil
	case stepAwait:
		if pe.next == 0 {
			return nil, nil
		}
		me.step = stepHandOver
		return []model{m}, nil
	case stepHandOver:
		m.pes[pe.next-1].turn = 1
		me.step = stepAway
		return []model{m}, nil
	case stepAway:
		m.withSeat(g, (*Queue).Left)
		m.endRound(g)
		return []model{m}, nil
	case stepTryTail:
		m.prepare(p)
		if m.tail == 0 {
			m.tail = int8(p) + 1
			m.withSeat(g, (*Queue).Acquired)
			me.step = stepHold
			return []model{m}, nil
		}
		m.withSeat(g, (*Queue).Left)
		m.endRound(g)
		return []model{m}, nil
	}
	return nil, nil
}

// prepare puts the words of PE p back.
func (m *model) prepare(p int) {
	if m.bug != bugOldNext {
		m.pes[p].next = 0
	}
	if m.bug != bugOldTurn {
		m.pes[p].turn = 0
	}
}

func (m *model) isKeeper(g int) bool { return g%perPE == perPE-1 }

// obey does what goroutine g has been told.
func (m *model) obey(g int) {
	me := &m.gs[g]
	o := me.order
	me.order = Wait
	switch o {
	case Wait:
		me.step = stepInLine
	case Enter:
		me.step = stepEnter
	case Follow:
		me.step = stepFollow
	case Granted:
		me.step = stepHold
	case Withdrawn:
		m.endRound(g)
	}
}

// endRound begins the next round of goroutine g, if there is one. Fields that matter no more are zeroed,
// so that models which do not differ are equal.
func (m *model) endRound(g int) {
	me := &m.gs[g]
	me.before = 0
	if m.isKeeper(g) {
		me.step = stepNone
		return
	}
	me.rounds--
	switch {
	case me.rounds <= 0:
		*me = modelGoroutine{step: stepDone}
	case me.tries:
		me.step = stepTry
	default:
		me.step = stepArrive
	}
}

// check says what is wrong with m, or "".
func (m *model) check(stuck bool) string {
	holders := 0
	over := true
	for _, g := range m.gs {
		if g.step == stepHold {
			holders++
		}
		over = over && (g.step == stepDone || g.step == stepNone)
	}
	switch {
	case holders > 1:
		return "two goroutines hold the lock"
	case !stuck:
		return ""
	case !over:
		return "nobody can do anything, and not all are through"
	case m.tail != 0:
		return "all are through, and the lock is not free"
	}
	for p := range m.pes {
		if s := m.pes[p]; s.stage != stateAbsent || s.line[0] >= 0 {
			return fmt.Sprintf("all are through, and PE %d has a seat that is not empty", p)
		}
	}
	return ""
}

// A cast says which goroutines there are: for each PE a word, for each goroutine a letter. L locks, Q
// locks and may give up at any time, T tries; a capital does it once, a small letter twice.
func newModel(cast string) model {
	var m model
	for g := range m.gs {
		m.gs[g].step = stepDone
		if m.isKeeper(g) {
			m.gs[g].step = stepNone
		}
	}
	for p := range m.pes {
		m.pes[p].line = [perPE]int8{-1, -1, -1}
	}
	for p, word := range strings.Fields(cast) {
		for i, c := range word {
			me := modelGoroutine{rounds: 1}
			if c >= 'a' {
				me.rounds = 2
				c -= 'a' - 'A'
			}
			me.quits, me.tries = c == 'Q', c == 'T'
			if me.tries {
				me.step = stepTry
			}
			m.gs[p*perPE+i] = me
		}
	}
	return m
}

// explore visits everything that can become of m, and returns what is wrong and how many there were.
func explore(m model) (wrong string, states int) {
	seen := map[model]bool{m: true}
	for todo := []model{m}; len(todo) > 0; {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		moved := false
		for g := range m.gs {
			steps, quits := m.moves(g)
			moved = moved || len(steps) > 0
			for _, next := range append(steps, quits...) {
				if !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
		}
		// To give up is no way out: nobody has to.
		if wrong := m.check(!moved); wrong != "" {
			return fmt.Sprintf("%s: %+v", wrong, m), len(seen)
		}
	}
	return "", len(seen)
}

func TestLockEveryOrder(t *testing.T) {
	casts := []string{
		"L", "l l", "q", "q q", "LL LL", "qL L", "QQ LL", "QQ QQ", "q q l", "q L Q", "QL QL L", "qq q", "ll l",
		"tL l", "T Q L", "tQ q L", "QQ QQ Q",
	}
	caught := map[bug]bool{}
	for _, cast := range casts {
		m := newModel(cast)
		wrong, states := explore(m)
		if wrong != "" {
			t.Errorf("%s: %s", cast, wrong)
		}
		t.Logf("%s: %d states", cast, states)
		for m.bug = noBug + 1; m.bug < numBugs && states < 10000; m.bug++ {
			if wrong, _ := explore(m); wrong != "" {
				caught[m.bug] = true
			}
		}
	}
	for b := noBug + 1; b < numBugs; b++ {
		if !caught[b] {
			t.Errorf("bug %d, planted in the model, is not found", b)
		} else {
			t.Logf("bug %d of the model, caught by every order of its events", b)
		}
	}
}
