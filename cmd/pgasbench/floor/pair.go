package floor

// Benches of two processes or more. The leader is pgasbench itself; the followers are further processes of the same
// program, which end with the leader. All run the same batches; the leader decides how many, and tells the followers
// through shared memory.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// followerEnv makes pgasbench a follower. Its value is an order in JSON.
const followerEnv = "PGASBENCH_FLOOR_FOLLOWER"

// An order says what the follower is to do.
type order struct {
	Bench string
	Bytes int
	CPU   int
	Point time.Duration
	Host  string // the network namespace that the process enters; "": none

	Processes int // the number of processes of the bench
	Number    int // the number of this process; the leader has 0
}

// A pair is one of the two processes of a bench, or of more.
type pair struct {
	*shared
	leads bool
	n, of int   // the number of the process, and how many there are
	made  int64 // the number of agreements
	bytes int
	host  string
	fd    int // the file descriptor of the TCP connection
	line  []byte
}

// errGone reports that the other process has ended.
var errGone = errors.New("another process of the bench has ended before its time")

// await waits until w is want. Waiters yield: the processes may share a CPU.
func (p *pair) await(w *word, want int64) error {
	for {
		switch v := w.Load(); {
		case v == want:
			return nil
		case v < 0:
			return errGone
		}
		yield()
	}
}

// agree returns the leader's value in all processes.
func (p *pair) agree(value int) (int, error) {
	p.made++
	if p.leads {
		p.value.Store(int64(value))
		p.shared.made.Store(p.made)
		for i := 1; i < p.of; i++ {
			if err := p.await(&p.taken[i], p.made); err != nil {
				return value, err
			}
		}
		return value, nil
	}
	if err := p.await(&p.shared.made, p.made); err != nil {
		return 0, err
	}
	value = int(p.value.Load())
	p.taken[p.n].Store(p.made)
	return value, nil
}

// abandon tells a process that waits for another one that it is gone, unless it writes its own turn into the word just
// then.
func (s *shared) abandon() {
	words := []*word{&s.ball, &s.sleep, &s.made, &s.address, &s.arrived}
	for i := range s.taken {
		words = append(words, &s.taken[i])
	}
	for _, w := range words {
		w.Store(-1)
		w.wake()
	}
}

// run measures the bench of this pair.
func (p *pair) run(b pairBench, point time.Duration) (result.Series, error) {
	if b.prepare != nil {
		if err := b.prepare(p); err != nil {
			return result.Series{}, err
		}
		defer unix.Close(p.fd)
	}
	return result.Standard(point).Measure(result.Work{
		Batch: func(first, n int) error { return b.batch(p, first, n) }, Step: b.step, Agree: p.agree,
	})
}

// together measures a bench by this process on the given CPU, and those that it starts.
func together(ctx context.Context, o order, cpu int, host string) (s result.Series, err error) {
	done := make(chan struct{})
	go func() { // on a thread of its own that ends with it: the thread has a CPU and a network that others must not get
		defer close(done)
		runtime.LockOSThread()
		s, err = lead(ctx, o, cpu, host)
	}()
	<-done
	return s, err
}

func lead(ctx context.Context, o order, cpu int, host string) (result.Series, error) {
	fd, err := newMemory(sharedBytes)
	if err != nil {
		return result.Series{}, err
	}
	memory := os.NewFile(uintptr(fd), "words")
	defer memory.Close()
	words, err := mapWords(fd)
	if err != nil {
		return result.Series{}, err
	}
	f, err := startFollowers(ctx, o, memory, words)
	if err != nil {
		return result.Series{}, err
	}
	s, err := measureOn(cpu, &pair{shared: words, leads: true, of: o.Processes, bytes: o.Bytes, host: host}, o)
	ended := f.end()
	unmapWords(words)
	if context.Cause(ctx) != nil {
		return s, context.Cause(ctx)
	}
	if errors.Is(err, errGone) {
		return s, fmt.Errorf("%w: %w", errGone, ended)
	}
	return s, err
}

// followers are the processes that the leader has started.
type followers struct {
	all   []*exec.Cmd
	gone  chan error    // how each follower has ended
	ended chan struct{} // closed when the leader waits for nothing any more
}

// watch waits until c is gone, and has the leader hear of it, whatever it is doing.
func (f *followers) watch(c *exec.Cmd, words *shared) {
	const again = 5 * time.Millisecond
	err := c.Wait()
	for wait := time.Duration(0); ; wait = again {
		select {
		case <-f.ended:
			f.gone <- err
			return
		case <-time.After(wait):
			words.abandon()
		}
	}
}

// startFollowers starts them from this thread, with which they die.
func startFollowers(ctx context.Context, o order, memory *os.File, words *shared) (*followers, error) {
	f := &followers{gone: make(chan error, o.Processes), ended: make(chan struct{})}
	for o.Number = 1; o.Number < o.Processes; o.Number++ {
		c, err := startFollower(ctx, o, memory)
		if err != nil {
			f.end()
			return nil, err
		}
		f.all = append(f.all, c)
		go f.watch(c, words)
	}
	return f, nil
}

// end kills all of them, and returns how the first that is gone has ended.
func (f *followers) end() error {
	close(f.ended)
	for _, c := range f.all {
		c.Process.Kill()
	}
	var first error
	for i := range f.all {
		if err := <-f.gone; i == 0 {
			first = err
		}
	}
	return first
}

func startFollower(ctx context.Context, o order, memory *os.File) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self)
	c.Env = append(os.Environ(), followerEnv+"="+string(text))
	c.Stderr, c.ExtraFiles = os.Stderr, []*os.File{memory}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c, c.Start()
}

// measureOn measures on a CPU. The collector, whose threads would run there too, rests meanwhile.
func measureOn(cpu int, p *pair, o order) (result.Series, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if err := pin(cpu); err != nil {
		return result.Series{}, err
	}
	if err := enterHost(p.host); err != nil {
		return result.Series{}, err
	}
	return p.run(pairBenchNamed(o.Bench), o.Point)
}

// IsFollower reports whether this process is to follow another one: Follow is to be called then.
func IsFollower() bool { return os.Getenv(followerEnv) != "" }

// Follow does what the leader does, until the leader kills this process. It returns the exit status of a failure.
func Follow() int {
	runtime.LockOSThread()
	fmt.Fprintf(os.Stderr, "pgasbench: a further process of the floor: %v\n", follow(os.Getenv(followerEnv)))
	return 1
}

// follow returns only if it fails.
func follow(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("%s is not for users: %w", followerEnv, err)
	}
	words, err := mapWords(3) // the first of ExtraFiles
	if err != nil {
		return err
	}
	if _, err = measureOn(o.CPU, &pair{shared: words, n: o.Number, of: o.Processes, bytes: o.Bytes, host: o.Host}, o); err != nil {
		return err
	}
	select {} // the leader ends this process when it has read what this one wrote last
}
