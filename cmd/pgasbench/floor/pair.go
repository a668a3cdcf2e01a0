package floor

// Benches of two processes. The leader is pgasbench itself; the follower is a second process of the same program, which ends
// with the leader. Both run the same batches; the leader decides how many, and tells the follower through shared memory.

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
	Host  string // the network namespace that it enters; "": none
}

// A pair is one of the two processes.
type pair struct {
	*shared
	leads bool
	made  int64 // agreements
	bytes int
	host  string
	fd    int // of the TCP connection
	line  []byte
}

// errGone reports that the other process has ended.
var errGone = errors.New("the second process of the bench has ended before its time")

// await waits until w is want. Waiters yield: the two may share a CPU.
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

// agree returns the leader's value in both processes.
func (p *pair) agree(value int) (int, error) {
	p.made++
	if p.leads {
		p.value.Store(int64(value))
		p.shared.made.Store(p.made)
		return value, p.await(&p.taken, p.made)
	}
	if err := p.await(&p.shared.made, p.made); err != nil {
		return 0, err
	}
	value = int(p.value.Load())
	p.taken.Store(p.made)
	return value, nil
}

// abandon tells a process that waits for the other one that it is gone.
func (s *shared) abandon() {
	for _, w := range []*word{&s.ball, &s.sleep, &s.made, &s.taken, &s.address} {
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

// together measures a bench by two processes on the given CPUs: this one, and one that it starts.
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
	follower, err := startFollower(ctx, o, memory)
	if err != nil {
		return result.Series{}, err
	}
	gone := make(chan error, 1)
	go func() {
		err := follower.Wait()
		words.abandon()
		gone <- err
	}()
	s, err := measureOn(cpu, &pair{shared: words, leads: true, bytes: o.Bytes, host: host}, o)
	follower.Process.Kill()
	ended := <-gone
	unmapWords(words)
	if context.Cause(ctx) != nil {
		return s, context.Cause(ctx)
	}
	if errors.Is(err, errGone) {
		return s, fmt.Errorf("%w: %w", errGone, ended)
	}
	return s, err
}

// startFollower starts it from this thread, with which it dies.
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
	fmt.Fprintf(os.Stderr, "pgasbench: the second process of the floor: %v\n", follow(os.Getenv(followerEnv)))
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
	if _, err = measureOn(o.CPU, &pair{shared: words, bytes: o.Bytes, host: o.Host}, o); err != nil {
		return err
	}
	select {} // the leader ends this process when it has read what this one wrote last
}
