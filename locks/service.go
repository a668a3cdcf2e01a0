package locks

// The keyed lock service (n-cosed 3.1): any number of locks, by name. Each is an N-CoSED lock that exists while a PE
// holds it or waits for it. service_directory.go says where it is.
//
// For each name in use a PE has a keyed: the number of its goroutines that use the name, the PE's place in the queue
// of the lock, and its handle. It ends when no goroutine uses the name. A PE that gave up a wait has left its place
// in the queue: such a keyed lingers until the place has been skipped.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gopgas/gopgas/internal/hook"
	"github.com/gopgas/gopgas/internal/plural"
	"github.com/gopgas/gopgas/pgas"
)

// ServiceOptions are the same on all PEs.
type ServiceOptions struct {
	// Places is the number of names that a PE can hold or wait for at once; 0: 64.
	Places int
	// Names is the number of names in use at once for each PE of the job; 0: four times Places. Names are spread
	// over the PEs by hash.
	Names int
}

// Service is the locks of a job by name. A name that is not in use takes no memory. Goroutines of a PE share its
// Service; each name is an NCoSED to them.
type Service struct {
	w   *pgas.World
	dir directory

	mu        sync.Mutex
	keys      map[string]*keyed
	places    []int // free nodes of this PE
	lingering []*keyed
	spare     []*keyed
	capacity  int
}

// keyed is a name in use on this PE.
type keyed struct {
	name    string
	users   int       // goroutines that hold it, wait for it, or inspect it
	gate    localGate // the gate of the goroutines that claim the name
	lingers bool      // it is in Service.lingering
	claimed bool
	claim   claim
	place   int
	lock    NCoSED
}

const defaultPlaces = 64

// NewService makes a service of all PEs. It is collective. Errors: those of an allocation (AllocNCoSEDNode), and more
// PEs than a service can have.
func NewService(ctx context.Context, w *pgas.World, o ServiceOptions) (*Service, error) {
	if o.Places == 0 {
		o.Places = defaultPlaces
	}
	if o.Names == 0 {
		o.Names = 4 * o.Places
	}
	if o.Places < 0 || o.Names < 0 {
		hook.Misuse("NewService", "%s and %s: neither can be negative", plural.Count(o.Places, "place"), plural.Count(o.Names, "name"))
	}
	s := &Service{w: w, keys: map[string]*keyed{}, capacity: o.Places}
	if err := s.dir.alloc(ctx, w, o); err != nil {
		return nil, err
	}
	for i := range o.Places {
		s.places = append(s.places, o.Places-i)
	}
	return s, nil
}

// Lock blocks until this PE holds the name alone: first come, first served. Errors: *pgas.PeerError if a PE of the job
// dies, the cause of ctx's end, and too many names in use (ServiceOptions).
func (s *Service) Lock(ctx context.Context, name string) error {
	return s.lockBy(ctx, name, (*NCoSED).Lock)
}

// RLock blocks until this PE holds the name in shared mode. Errors: those of Lock.
func (s *Service) RLock(ctx context.Context, name string) error {
	return s.lockBy(ctx, name, (*NCoSED).RLock)
}

// TryLock takes the name if no PE holds it or waits for it. If too many names are in use, it returns false. It panics
// with *pgas.PeerError as the interface Lock has it.
func (s *Service) TryLock(name string) bool { return s.tryBy(name, (*NCoSED).TryLock) }

// TryRLock takes the name in shared mode if no writer holds it or waits for it. Otherwise it is as TryLock.
func (s *Service) TryRLock(name string) bool { return s.tryBy(name, (*NCoSED).TryRLock) }

// Unlock completes what this PE has issued on its default context, and releases the name. It panics as the interface
// Lock has it.
func (s *Service) Unlock(name string) {
	k := s.held("Service.Unlock", name)
	k.lock.Unlock()
	s.drop(k)
}

// RUnlock is Unlock for a reader.
func (s *Service) RUnlock(name string) {
	k := s.held("Service.RUnlock", name)
	k.lock.RUnlock()
	s.drop(k)
}

// Holder returns the PE that held the name alone a moment ago. It reads every PE's memory. Errors: those of Lock.
func (s *Service) Holder(ctx context.Context, name string) (pe int, held bool, err error) {
	err = s.inspect(ctx, name, func(l *NCoSED) { pe, held = l.Holder() })
	return pe, held, err
}

// Waiting returns the number of writers and readers that were seen waiting for the name. It reads every PE's memory.
// Errors: those of Lock.
func (s *Service) Waiting(ctx context.Context, name string) (n int, err error) {
	err = s.inspect(ctx, name, func(l *NCoSED) { n = l.Waiting() })
	return n, err
}

// InUse returns the names that this PE holds, waits for, or has given up without having been skipped yet.
func (s *Service) InUse() []string {
	s.reclaim()
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.keys))
	for name := range s.keys {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Free ends the service. It is collective, and no name may be in use. Errors: those of Free of an allocation.
func (s *Service) Free(ctx context.Context) error { return s.dir.free(ctx) }

// lockBy uses the name, and keeps it in use if lock succeeds.
func (s *Service) lockBy(ctx context.Context, name string, lock func(*NCoSED, context.Context) error) (err error) {
	checkUsable(ctx, s.w)
	defer recoverPeer(&err)
	k, err := s.use(ctx, name)
	if err != nil {
		return fmt.Errorf("locking %q: %w", name, err)
	}
	if err := lock(&k.lock, ctx); err != nil {
		s.drop(k)
		return fmt.Errorf("locking %q: %w", name, err)
	}
	return nil
}

func (s *Service) tryBy(name string, try func(*NCoSED) bool) bool {
	checkMade(s.w)
	k, err := s.use(context.Background(), name)
	if peer, ok := errors.AsType[*pgas.PeerError](err); ok {
		panic(peer)
	}
	if err != nil {
		return false
	}
	if !try(&k.lock) {
		s.drop(k)
		return false
	}
	return true
}

func (s *Service) inspect(ctx context.Context, name string, look func(*NCoSED)) (err error) {
	checkUsable(ctx, s.w)
	defer recoverPeer(&err)
	k, err := s.use(ctx, name)
	if err != nil {
		return fmt.Errorf("looking at %q: %w", name, err)
	}
	look(&k.lock)
	s.drop(k)
	return nil
}

// held returns the keyed of a name in use on this PE. It panics with *pgas.UsageError if there is none; that the PE
// does not hold a name in use, the lock itself finds out.
func (s *Service) held(op, name string) *keyed {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[name]
	if k == nil || !k.claimed {
		hook.Misuse(op, "this PE does not hold %q: only what has been locked can be unlocked, and once", name)
	}
	return k
}

// use makes this goroutine a user of the name, which has a lock from then on. Errors: those of Lock.
func (s *Service) use(ctx context.Context, name string) (*keyed, error) {
	s.reclaim()
	k, err := s.user(name)
	if err != nil {
		return nil, err
	}
	if err := s.ready(ctx, k); err != nil {
		s.drop(k)
		return nil, err
	}
	return k, nil
}

func (s *Service) user(name string) (*keyed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[name]
	if k == nil {
		n := len(s.places)
		if n == 0 {
			return nil, fmt.Errorf("this PE holds or waits for %s already: ServiceOptions.Places has to be more", plural.Count(s.capacity, "name"))
		}
		k = s.fresh()
		k.name, k.place = name, s.places[n-1]
		s.places = s.places[:n-1]
		s.keys[name] = k
	}
	k.users++
	return k, nil
}

// fresh returns a keyed without a name.
func (s *Service) fresh() *keyed {
	n := len(s.spare)
	if n == 0 {
		return new(keyed)
	}
	k := s.spare[n-1]
	s.spare = s.spare[:n-1]
	return k
}

// ready claims the name for this PE, once.
func (s *Service) ready(ctx context.Context, k *keyed) (err error) {
	if err := k.gate.enter(ctx); err != nil {
		return err
	}
	defer k.gate.leave()
	defer recoverPeer(&err)
	if k.claimed {
		return nil
	}
	c, err := s.dir.claim(k.name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k.claim, k.claimed = c, true
	k.lock.w, k.lock.use = s.w, hook.LockUse(s.w)
	if s.w.Checks() {
		k.lock.record = newMutex(s.w, s.dir.nodes[k.place].Ref(), fmt.Sprintf("lock %q of a Service", k.name)).record
	}
	s.dir.open(&k.lock.queue, c, k.place)
	s.dir.nodes[k.place].Lock().Set(s.w.PE(), k.lock.queue.lockID)
	return nil
}

// drop ends a use. The last one ends the keyed of this PE, now or later.
func (s *Service) drop(k *keyed) {
	s.mu.Lock()
	k.users--
	last := k.users == 0
	if last && !k.lingers {
		k.lingers = true
		s.lingering = append(s.lingering, k)
	}
	s.mu.Unlock()
	if last {
		s.reclaim()
	}
}

// reclaim ends each keyed that no goroutine uses and whose place no other PE accesses.
func (s *Service) reclaim() {
	for k := s.unused(); k != nil; k = s.unused() {
		if k.claimed {
			s.dir.nodes[k.place].Lock().Set(s.w.PE(), 0)
			s.dir.release(k.claim)
		}
		s.mu.Lock()
		s.places = append(s.places, k.place)
		k.claimed = false
		s.spare = append(s.spare, k)
		s.mu.Unlock()
	}
}

// unused takes such a keyed out of the table, or returns nil.
func (s *Service) unused() (gone *keyed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i < len(s.lingering); i++ {
		k := s.lingering[i]
		if k.users == 0 && k.claimed && !s.dir.idle(k.place) {
			continue
		}
		s.lingering = slices.Delete(s.lingering, i, i+1)
		i--
		k.lingers = false
		if k.users == 0 {
			delete(s.keys, k.name)
			return k
		}
	}
	return nil
}
