package node

import (
	"context"
	"runtime"
	"time"

	"github.com/gopgas/gopgas/internal/callsite"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/transport"
)

// YieldAndProgress lets other PEs run, and applies what has arrived from other hosts.
func (n *Node) YieldAndProgress() {
	if n.Sched != nil {
		n.Sched.Yield()
		return
	}
	n.ProgressOnce()
	n.Yield()
}

// ProgressOnce does the service thread's work once, if there is a service thread. A program that polls in a loop may
// keep the only CPU of its host from that thread, and so from applying the update that it polls for. It costs some
// 400 ns.
func (n *Node) ProgressOnce() {
	if n.progresser != nil {
		n.progresser.WaitDoorbell(n.State.Doorbell.Load()+1, 0) // not the present value: no wait
	}
}

// AwaitArrival does the service thread's work, if there is a service thread, until something has arrived, this PE was
// woken, or about d has passed. It reports whether there is one.
func (n *Node) AwaitArrival(d time.Duration) bool {
	if n.progresser != nil {
		n.progresser.WaitDoorbell(n.State.Doorbell.Load(), d)
	}
	return n.progresser != nil
}

// YieldTo yields the CPU if pe may need it to go on: PEs share CPUs, and pe is another PE of this host. It does so
// again while queues hold more PEs than can run: this PE has had its turn, and in a queue again it would only be one
// more.
func (n *Node) YieldTo(pe int) {
	if n.Sched != nil || !n.Policy.Oversubscribed || pe == n.Job.PE || n.Shm.Heap(pe) == nil {
		return
	}
	y := n.beginYields(true)
	defer y.end(false)
	for i := 0; !y.sleeps(); i++ { // PEs that sleep have been woken
		y.yield()
		if !n.Policy.yieldsAgain(i, n.Job.Segment.Header.InQueues.Load()) {
			return
		}
	}
}

// YieldIfScheduled lets other PEs run if a scheduler runs them. Functions that test a condition without waiting call
// it: a program that tests until the condition holds would keep the other PEs from running.
func (n *Node) YieldIfScheduled() {
	if n.Sched != nil {
		n.Sched.Yield()
		n.Sched.AboutToRead()
	}
}

// AboutToRead tells the scheduler, if there is one, that this PE is about to read or store to a word of its own heap
// outside of a wait.
func (n *Node) AboutToRead() {
	if n.Sched != nil {
		n.Sched.AboutToRead()
	}
}

// shownSleep is how long a sleep is of which reports show the place: finding it takes some microseconds.
const shownSleep = 500 * time.Microsecond

// Sleep blocks for d of this PE's time. It returns earlier with an error of EndedError. Reports show the purpose of
// ctx, if it has one, and otherwise nothing.
func (n *Node) Sleep(ctx context.Context, d time.Duration) error {
	n.Learn()
	if err := n.EndedError(ctx); err != nil {
		return err
	}
	if why := (Blocked{Peer: -1}).Within(ctx).shown(); why.Op != boot.NotBlocked {
		defer n.Unblock(n.Block(why))
		if n.Sched == nil && d > shownSleep {
			n.State.Text.Store(why.Name + "\n" + callsite.Program())
		}
	}
	if n.Sched != nil {
		err := n.Sched.Sleep(ctx, d)
		return FirstError(n.PeerFailure(), err)
	}
	for d > MaxSleep {
		if err := n.sleepOnce(ctx, MaxSleep); err != nil {
			return err
		}
		d -= MaxSleep
	}
	return n.sleepOnce(ctx, d)
}

// sleepOnce is a sleep that learns of deaths at its end.
func (n *Node) sleepOnce(ctx context.Context, d time.Duration) error {
	passed, stop := after(d)
	defer stop()
	select {
	case <-passed:
		return n.PeerFailure()
	case <-ctx.Done():
		return n.EndedError(ctx)
	}
}

// WithTimeout is context.WithTimeout in this PE's time.
func (n *Node) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if n.Sched != nil {
		return n.Sched.WithTimeout(ctx, d)
	}
	return context.WithTimeout(ctx, d)
}

// Spawn runs f as another thread of control of this PE.
func (n *Node) Spawn(f func()) {
	if s, ok := n.Remote.(transport.Spawner); ok {
		s.Go(f)
		return
	}
	go f()
}

// Yield lets another PE run. Where PEs are processes it calls the kernel only: a call of the Go scheduler would wake
// idle threads of this process, which would compete with the other PEs. While other programs have the CPU for a time
// slice after a yield it sleeps for a moment instead, after which the kernel gives the CPU back.
func (n *Node) Yield() {
	n.Learn()
	if n.Policy.goroutine {
		runtime.Gosched()
		return
	}
	y := n.beginYields(true)
	defer y.end(false)
	if y.sleeps() {
		n.State.Sleep(n.State.Doorbell.Load(), yieldNap)
		return
	}
	y.yield()
}
