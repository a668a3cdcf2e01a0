package locks_test

// A PE that is killed while it holds a lock, or waits for one: all others must get an error that names it,
// on processes of one host and of two. How long that takes is logged, and a hang fails.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopgas/gopgas/locks"
	"github.com/gopgas/gopgas/pgas"
	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/boot/launch"
	"github.com/gopgas/gopgas/pgas/pgastest"
	"github.com/gopgas/gopgas/pgas/pgastest/hang"
	"github.com/gopgas/gopgas/pgas/pgastest/netns"
)

// killedIn is set in the PEs of a job in which one is killed: "D-MCS/holding".
const killedIn = "LOCKS_TEST_KILLED_IN"

// victim is the PE that is killed.
const victim = 1

// killable are all locks. The server of the last is no victim.
var killable = append(slices.Clone(ours), lockMaker{"SRSL", makeSRSL})

func TestKilled(t *testing.T) {
	if in := os.Getenv(killedIn); in != "" {
		name, role, _ := strings.Cut(in, "/")
		os.Exit(survive(name, role == "holding"))
	}
	if testing.Short() {
		t.Skip("no PE is a goroutine here")
	}
	t.Run("processes", func(t *testing.T) {
		killInAll(t, []boot.Host{{Name: launch.Local, PEs: 4}})
	})
	t.Run("hosts", func(t *testing.T) {
		hosts := pgastest.NewHosts(t, 2)
		killInAll(t, []boot.Host{{Name: hosts.Names[0], PEs: 2}, {Name: hosts.Names[1], PEs: 2}})
	})
}

func killInAll(t *testing.T, hosts []boot.Host) {
	for _, o := range killable {
		for _, role := range []string{"holding", "waiting"} {
			t.Run(o.name+"/"+role, func(t *testing.T) { killIn(t, hosts, o.name+"/"+role) })
		}
	}
}

// killIn runs a job, and once more if UCX has aborted a survivor: version 1.13 does so, with this assertion, if
// a peer dies while something is still to be sent for making the connection.
func killIn(t *testing.T, hosts []boot.Host, in string) {
	const abort = "ucp_request.c:684  Assertion"
	out := killOnce(t, hosts, in)
	if strings.Contains(out, abort) {
		t.Logf("again, since UCX aborted a PE:\n%.300s", out[strings.Index(out, abort):])
		out = killOnce(t, hosts, in)
	}
	var killed, last int64
	told := 0
	for line := range strings.Lines(out) {
		var at int64
		if _, err := fmt.Sscanf(line, "killed at %d", &at); err == nil {
			killed = at
		}
		if _, err := fmt.Sscanf(line, "told at %d", &at); err == nil {
			told, last = told+1, max(last, at)
		}
	}
	if told != 3 {
		t.Fatalf("%d of 3 PEs were told that PE %d was killed:\n%s", told, victim, out)
	}
	t.Logf("the last PE was told after %v", time.Duration(last-killed))
}

// killOnce runs a job of which a PE is killed, and returns what it has printed.
func killOnce(t *testing.T, hosts []boot.Host, in string) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := hang.Context(t.Context())
	defer cancel()
	var out bytes.Buffer
	res, err := launch.Run(ctx, launch.Spec{
		Hosts: slices.Clone(hosts), Program: self, Args: []string{"-test.run=^TestKilled$"}, KeepGoing: true,
		Env:    []string{killedIn + "=" + in},
		Stdout: &out, Stderr: &out, Template: netns.Template, Agent: []string{"env", boot.EnvAgent + "=1", self},
	})
	if err != nil || res.First == nil || res.First.PE != victim || res.First.Signal() != syscall.SIGKILL {
		t.Fatalf("%v, first failure %v:\n%s", err, res.First, &out)
	}
	return out.String()
}

// survive runs a PE of the job. It returns the exit status of its process.
func survive(name string, holding bool) int {
	ctx := context.Background()
	w, err := pgas.Init(ctx)
	if err == nil {
		err = untilKilled(ctx, w, name, holding)
	}
	var peer *pgas.PeerError
	if !errors.As(err, &peer) || peer.PE != victim {
		fmt.Printf("PE %s: %v\n", os.Getenv("PGAS_PE"), err)
		return 1
	}
	fmt.Printf("told at %d\n", time.Now().UnixNano())
	return 0
}

// untilKilled makes one PE hold the lock and all others wait for it, and then the victim killed. It returns
// what the program is told.
func untilKilled(ctx context.Context, w *pgas.World, name string, holding bool) error {
	i := slices.IndexFunc(killable, func(o lockMaker) bool { return o.name == name })
	l, err := killable[i].make(ctx, w)
	if err != nil {
		return err
	}
	// All are connected before one dies: UCX 1.13 aborts a process whose peer dies while the two connect.
	l.Waiting()
	if err := w.Barrier(ctx); err != nil {
		return err
	}
	holder := 0
	if holding {
		holder = victim
	}
	if w.PE() == holder {
		err = l.Lock(ctx)
	}
	if err := errors.Join(err, w.Barrier(ctx)); err != nil {
		return err
	}
	if w.PE() == victim {
		go dieAmong(w, l)
	}
	if w.PE() == holder {
		return w.Barrier(ctx) //pgasvet:ok no other PE comes
	}
	return l.Lock(ctx)
}

// dieAmong kills this process when all PEs but one wait for l.
func dieAmong(w *pgas.World, l locks.Lock) {
	for l.Waiting() < w.NPEs()-1 {
		w.Yield()
	}
	fmt.Printf("killed at %d\n", time.Now().UnixNano())
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
