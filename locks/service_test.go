package locks_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/locks/lockstest"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/sim"
)

// A named is one name of a service, as a lock.
type named struct {
	*locks.Service
	name string
}

func (n named) Lock(ctx context.Context) error  { return n.Service.Lock(ctx, n.name) }
func (n named) RLock(ctx context.Context) error { return n.Service.RLock(ctx, n.name) }
func (n named) TryLock() bool                   { return n.Service.TryLock(n.name) }
func (n named) TryRLock() bool                  { return n.Service.TryRLock(n.name) }
func (n named) Unlock()                         { n.Service.Unlock(n.name) }
func (n named) RUnlock()                        { n.Service.RUnlock(n.name) }

func (n named) Holder() (int, bool) {
	pe, held, err := n.Service.Holder(context.Background(), n.name)
	if err != nil {
		panic(err)
	}
	return pe, held
}

func (n named) Waiting() int {
	count, err := n.Service.Waiting(context.Background(), n.name)
	if err != nil {
		panic(err)
	}
	return count
}

func makeNamed(ctx context.Context, w *pgas.World) (locks.Lock, error) {
	s, err := locks.NewService(ctx, w, locks.ServiceOptions{Places: 2})
	return named{s, "a name"}, err
}

func TestServiceIsALock(t *testing.T) { lockstest.Run(t, 3, lockstest.FirstServed, makeNamed) }

func TestServiceAdversaries(t *testing.T) {
	lockstest.Adversaries(t, sim.Config{}, 5, 6, 100, lockstest.Plan{"lr", "rq", "sct"}, makeNamed)
}

func TestServiceDeaths(t *testing.T) { lockstest.Deaths(t, twoOnHost, 4, 40, makeNamed) }

// collide has PEs use names of a service that has one bucket for each PE, and counts for each name
// in steps between which no other PE may hold it. Some give up.
func collide(rounds, names int) func(ctx context.Context, w *pgas.World) error {
	return func(ctx context.Context, w *pgas.World) error {
		s, err := locks.NewService(ctx, w, locks.ServiceOptions{Places: names, Names: 1})
		if err != nil {
			return err
		}
		counts, err := pgas.Alloc[int64](ctx, w, 2*names)
		if err != nil {
			return err
		}
		for range rounds {
			if err := collideOnce(ctx, w, s, counts, int(w.Random()%uint64(names)), names); err != nil {
				return err
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		// Each PE takes the names that it has given up, so that nothing lingers.
		for len(s.InUse()) > 0 {
			for _, name := range s.InUse() {
				if err := s.Lock(ctx, name); err != nil {
					return err
				}
				s.Unlock(name)
			}
		}
		if err := w.Barrier(ctx); err != nil {
			return err
		}
		for i := range names {
			if a, b := counts.At(i).Get(0), pgas.AtomicOf(counts, names+i).Fetch(0); a != b {
				return fmt.Errorf("name %d: %d were counted under the lock, want %d", i, a, b)
			}
		}
		if n := locks.NamesInUse(s); n != 0 {
			return fmt.Errorf("%d names of this PE's directory are in use, and none is wanted", n)
		}
		return w.Barrier(ctx)
	}
}

func collideOnce(ctx context.Context, w *pgas.World, s *locks.Service, counts pgas.Sym[int64], i, names int) error {
	name := fmt.Sprint("name ", i)
	soon, cancel := ctx, context.CancelFunc(func() {})
	if w.Random()%4 == 0 {
		soon, cancel = w.WithTimeout(ctx, time.Duration(w.Random()%100)*time.Microsecond)
	}
	defer cancel()
	lock, unlock := s.Lock, s.Unlock
	reads := w.Random()%3 == 0
	if reads {
		lock, unlock = s.RLock, s.RUnlock
	}
	if err := lock(soon, name); err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
		return err
	}
	n := counts.At(i).Get(0)
	w.Yield()
	if reads {
		if again := counts.At(i).Get(0); again != n {
			return fmt.Errorf("a reader of %q saw %d and %d", name, n, again)
		}
	} else {
		counts.At(i).Put(0, n+1)
		pgas.AtomicOf(counts, names+i).Add(0, 1)
	}
	unlock(name)
	return nil
}

func TestServiceCollides(t *testing.T) { pgastest.Run(t, 4, collide(100, 8)) }

func TestServiceCollidesAdversaries(t *testing.T) {
	if err := sim.Seeds(t.Context(), sim.Config{MaxEvents: 3_000_000}, 2, 200, collide(40, 5)); err != nil {
		t.Fatal(err)
	}
}

func TestServiceHasBounds(t *testing.T) {
	pgastest.RunGoroutines(t, 2, func(ctx context.Context, w *pgas.World) error {
		s, err := locks.NewService(ctx, w, locks.ServiceOptions{Places: 2, Names: 1})
		if err != nil {
			return err
		}
		for _, name := range []string{"a", "b"} {
			if err := s.RLock(ctx, name); err != nil {
				return err
			}
		}
		if err := s.RLock(ctx, "c"); err == nil || !strings.Contains(err.Error(), "Places") {
			return fmt.Errorf("a third name: %v", err)
		}
		if s.TryLock("c") {
			return errors.New("a third name was locked")
		}
		if got := strings.Join(s.InUse(), " "); got != "a b" {
			return fmt.Errorf("in use are %q", got)
		}
		s.RUnlock("a")
		s.RUnlock("b")
		if names := s.InUse(); len(names) != 0 {
			return fmt.Errorf("in use are %q", names)
		}
		if err := s.RLock(ctx, "c"); err != nil {
			return err
		}
		s.RUnlock("c")
		return s.Free(ctx)
	})
}

func TestServiceIsFull(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		s, err := locks.NewService(ctx, w, locks.ServiceOptions{Places: 100, Names: 4})
		if err != nil {
			return err
		}
		held := 0
		for ; held < 100; held++ {
			if err = s.Lock(ctx, fmt.Sprint(held)); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "Names") || held < 5 {
			return fmt.Errorf("%d names of 9 at most, and then: %v", held, err)
		}
		for i := range held {
			s.Unlock(fmt.Sprint(i))
		}
		if n := locks.NamesInUse(s); n != 0 {
			return fmt.Errorf("%d names are in use", n)
		}
		return nil
	})
}

func TestServiceMisuse(t *testing.T) {
	pgastest.RunGoroutines(t, 1, func(ctx context.Context, w *pgas.World) error {
		s, err := locks.NewService(ctx, w, locks.ServiceOptions{})
		if err != nil {
			return err
		}
		for what, unlock := range map[string]func(string){"Unlock": s.Unlock, "RUnlock": s.RUnlock} {
			err := func() (err error) {
				defer func() { err, _ = recover().(error) }()
				unlock("nobody's")
				return nil
			}()
			var usage *pgas.UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), `"nobody's"`) {
				return fmt.Errorf("%s of what is not held: %v", what, err)
			}
		}
		return nil
	})
}

// Programs of the host use the service of PE 0 over a socket.
func TestServicePrograms(t *testing.T) {
	body := func(ctx context.Context, w *pgas.World) error { return servingPrograms(ctx, w, usedByPrograms) }
	pgastest.RunGoroutines(t, 2, body)
	pgastest.RunProcesses(t, 2, body)
}

// TestServiceProgramsRace: the detector of races sees the order that programs that are PEs make by the service, also by
// the end of a connection, and no more than that.
func TestServiceProgramsRace(t *testing.T) {
	for name, test := range map[string]struct {
		races bool
		use   programs
	}{
		"right":         {false, usedByPrograms},
		"closed":        {false, closedByPrograms},
		"put before it": {true, usedTooEarly},
	} {
		t.Run(name, func(t *testing.T) {
			body := func(ctx context.Context, w *pgas.World) error { return servingPrograms(ctx, w, test.use) }
			err := pgastest.Goroutines(t.Context(), 2, pgastest.Options{Races: true}, body)
			var races *pgastest.RacesError
			if errors.As(err, &races) != test.races || err != nil && !test.races {
				t.Errorf("%v", err)
			}
			if !test.races {
				pgastest.RunProcesses(t, 2, body, "PGAS_CHECK=race")
			}
		})
	}
}

// TestClientClosesBesideAStoppedServer: Close returns although the server reads nothing, also under the detector of
// races, which has something to tell the server before the connection ends.
func TestClientClosesBesideAStoppedServer(t *testing.T) {
	err := pgastest.Goroutines(t.Context(), 1, pgastest.Options{Races: true}, func(ctx context.Context, w *pgas.World) error {
		path := filepath.Join(t.TempDir(), "locks")
		stopped, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		defer stopped.Close()
		c, err := locks.Dial(ctx, path)
		if err != nil {
			return err
		}
		asked := make(chan error, 1)
		go func() { asked <- c.Lock(ctx, strings.Repeat("n", 4<<20)) }() // more than a socket buffers
		conn, err := stopped.Accept()
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err != nil { // the request has begun, and cannot end
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		if err := <-asked; err == nil {
			return errors.New("a lock was taken from a server that answers nobody")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestClientGivesUpBesideAStoppedServer: a request ends with its context while it cannot be written, and so does one
// that waits for its turn to be written. The first closes the connection, and the second leaves it open.
func TestClientGivesUpBesideAStoppedServer(t *testing.T) {
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	near, far := net.Pipe() // it buffers nothing
	defer far.Close()
	c := locks.NewClient(near)
	begin := func(name string) (end context.CancelCauseFunc, asked chan error) {
		asked = make(chan error, 1)
		own, end := context.WithCancelCause(ctx)
		go func() { asked <- c.Lock(own, name) }()
		return end, asked
	}
	endFirst, first := begin("a name")
	if _, err := far.Read(make([]byte, 1)); err != nil { // the request has begun, and cannot end
		t.Fatal(err)
	}
	endSecond, second := begin("another name")
	for _, r := range []struct {
		end   context.CancelCauseFunc
		asked chan error
		cause error
	}{{endSecond, second, errors.New("the second ends")}, {endFirst, first, errors.New("the first ends")}} {
		select {
		case err := <-first:
			t.Fatalf("the connection has ended early: %v", err)
		default:
		}
		r.end(r.cause)
		select {
		case err := <-r.asked:
			if err != r.cause {
				t.Errorf("%v, want: %v", err, r.cause)
			}
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
	}
	if err := c.Lock(ctx, "a name"); err == nil || !strings.Contains(err.Error(), "closed the connection") {
		t.Errorf("a request after a part of another gives %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// programs is what each PE does as a program, by a connection to path, while a PE serves s there.
type programs func(ctx context.Context, w *pgas.World, s *locks.Service, path string) error

// closedByPrograms makes each PE write a word under a lock that the end of its connection releases.
func closedByPrograms(ctx context.Context, w *pgas.World, _ *locks.Service, path string) error {
	counts, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	for range 3 {
		c, err := locks.Dial(ctx, path)
		if err != nil {
			return err
		}
		if err := c.Lock(ctx, "n"); err != nil {
			return err
		}
		counts.At(0).Put(0, counts.At(0).Get(0)+1)
		if err := errors.Join(w.Quiet(ctx), c.Close()); err != nil {
			return err
		}
	}
	return nil
}

// usedTooEarly makes each PE write a word before it locks. The writes take turns for Go's own detector of races. It
// would report them under -race, where the test is of the detector that knows PEs.
func usedTooEarly(ctx context.Context, w *pgas.World, _ *locks.Service, path string) error {
	counts, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	c, err := locks.Dial(ctx, path)
	if err != nil {
		return err
	}
	put := func(v int64) error {
		goroutinesTurn.Lock()
		defer goroutinesTurn.Unlock()
		counts.At(0).Put(0, v)
		return w.Quiet(ctx)
	}
	err = errors.Join(put(1), w.Sync(ctx), c.Lock(ctx, fmt.Sprint(w.PE())))
	return errors.Join(err, put(2), c.Close())
}

var goroutinesTurn sync.Mutex // of usedTooEarly: no lock between PEs

// servingPrograms has PE 0 serve programs while all PEs use the service.
func servingPrograms(ctx context.Context, w *pgas.World, use programs) error {
	s, err := locks.NewService(ctx, w, locks.ServiceOptions{})
	if err != nil {
		return err
	}
	var dir string
	if w.PE() == 0 {
		if dir, err = os.MkdirTemp("", "locks"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	name, err := pgas.BroadcastSlice(ctx, w.Team(), []byte(dir), 0)
	if err != nil {
		return err
	}
	path := filepath.Join(string(name), "locks")
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	if w.PE() == 0 {
		l, err := net.Listen("unix", path)
		if err != nil {
			stop()
			return err
		}
		go func() { ended <- s.Serve(serving, l) }()
	}
	if err := w.Barrier(ctx); err != nil {
		stop()
		return err
	}
	err = errors.Join(use(ctx, w, s, path), w.Barrier(ctx))
	stop()
	if w.PE() == 0 {
		if got := <-ended; !errors.Is(got, context.Canceled) {
			err = errors.Join(err, fmt.Errorf("Serve returned %w", got))
		}
	}
	return err
}

// usedByPrograms makes a program of each PE compete with the other's, and with both PEs.
func usedByPrograms(ctx context.Context, w *pgas.World, s *locks.Service, path string) error {
	c, err := locks.Dial(ctx, path)
	if err != nil {
		return err
	}
	counts, err := pgas.Alloc[int64](ctx, w, 1)
	if err != nil {
		return err
	}
	const rounds = 50
	for i := range rounds {
		if i%2 == 0 {
			err = c.Lock(ctx, "n")
		} else {
			err = s.Lock(ctx, "n")
		}
		if err != nil {
			return err
		}
		counts.At(0).Put(0, counts.At(0).Get(0)+1)
		if err := w.Quiet(ctx); err != nil {
			return err
		}
		if i%2 == 0 {
			err = c.Unlock("n")
		} else {
			s.Unlock("n")
		}
		if err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if n := counts.At(0).Get(0); n != 2*rounds {
		return fmt.Errorf("%d were counted under the lock, want %d", n, 2*rounds)
	}
	if err := c.Unlock("n"); err == nil {
		return errors.New("a program has unlocked what it does not hold")
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	return programsGo(ctx, w, s, c)
}

// programsGo: a program gives up, one that goes gives back what it held.
func programsGo(ctx context.Context, w *pgas.World, s *locks.Service, c *locks.Client) error {
	if w.PE() == 1 {
		if err := c.Lock(ctx, "m"); err != nil {
			return err
		}
		if err := c.RLock(ctx, "r"); err != nil {
			return err
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if w.PE() == 0 {
		if ok, err := c.TryLock("m"); ok || err != nil {
			return fmt.Errorf("TryLock of what another program holds: %t, %v", ok, err)
		}
		soon, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if err := c.Lock(soon, "m"); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("Lock of what another program holds: %v", err)
		}
		if ok, err := c.TryRLock("r"); !ok || err != nil {
			return fmt.Errorf("TryRLock of what another program shares: %t, %v", ok, err)
		}
	}
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	for _, name := range []string{"m", "r"} {
		if err := s.Lock(ctx, name); err != nil {
			return err
		}
		s.Unlock(name)
	}
	if err := c.Lock(ctx, "m"); err == nil {
		return errors.New("a connection that is closed has locked")
	}
	return nil
}
