package launch

// Launch and exchange at the size of clusters, simulated (simhost_test.go): what grows with the number of hosts, and a
// model of it for sizes beyond. The table is printed by
//
//	go test ./pgas/boot/launch -run TestGrowthSimulated -v

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"github.com/gopgas/gopgas/pgas/boot/launch/internal/agent"
	"golang.org/x/sys/unix"
)

// simSize is that of a simulated job.
type simSize struct{ hosts, pes, fanOut int } // pes: of each host

// simCost is what a start has cost. Rounds are messages between hosts that have had to follow one another.
type simCost struct {
	simSize
	launchRounds, wireRounds int     // until all PEs ran; from then until each had found those it talks to
	launcherLinks, links     int     // commands that the launcher, and any relay, had started
	agentConns               int     // of the agent that has most: its PEs, its callers, its parent, the launcher
	launcherBytes, bytes     float64 // that the launcher, and the busiest other process, have sent and received
	messages                 int     // of the launcher
}

// simulate runs a job without faults.
func simulate(t *testing.T, size simSize) (c simCost) {
	c.simSize = size
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation()
		begun := time.Now()
		res, err := Run(t.Context(), s.spec(size.hosts, size.pes, size.fanOut))
		if err != nil || res.Status != 0 || res.First != nil || len(s.errs) > 0 {
			t.Fatalf("%v: %+v, %v, %v", size, res, err, s.errs)
		}
		s.checkEnded(t)
		c.launchRounds, c.wireRounds = int(s.started.Sub(begun)/latency), int(s.wired.Sub(s.started)/latency)
		c.launcherLinks, c.launcherBytes, c.messages = s.launcher.most, float64(s.launcher.bytes.Load()), int(s.launcher.messages.Load())
		for _, p := range s.processes {
			c.links, c.bytes = max(c.links, p.node.most), max(c.bytes, float64(p.node.bytes.Load()))
			if p.node.most == 0 {
				c.agentConns = max(c.agentConns, int(p.node.conns.Load()))
			}
		}
	})
	return c
}

// checkEnded fails if a process is left when Run has returned, or if agents were told what is wrong. It lets goroutines
// end that in a process would end with it.
func (s *simulation) checkEnded(t *testing.T) {
	s.mu.Lock()
	if s.running != 0 {
		t.Errorf("%d processes are left", s.running)
	}
	for _, err := range s.errs {
		if errors.Is(err, errPlaces) {
			t.Error(err)
		}
	}
	for term, n := range s.alive {
		if n != 0 {
			t.Errorf("%d PEs of term %s are left", n, term)
		}
	}
	s.mu.Unlock()
	time.Sleep(2 * agent.OrphanTime)
}

// levels returns how many levels below the launcher the tree of agents has, and below the root that of the exchange.
func (z simSize) levels() (launch, exchange int) {
	var below func(n int) int
	// growTree, by the number of hosts alone: its first group is one of the largest or the next to
	below = func(n int) int {
		if n <= z.fanOut {
			return 1
		}
		return 1 + below((n+z.fanOut-1)/z.fanOut-1)
	}
	for host := z.hosts - 1; host > 0; host = agent.ExchangeParent(host, z.fanOut) {
		exchange++
	}
	return below(z.hosts), exchange
}

// rounds is the model of the rounds: for each level of relays a command, its greeting and what it is to start; then
// greeting, configuration, readiness and start pass all levels. Wiring up takes wireRounds for each level of the
// exchange.
func (z simSize) rounds(perLevel, atRoot int) (launch, wire int) {
	l, x := z.levels()
	return 7*l - 2, perLevel*x + atRoot
}

// line is a cost that grows with the hosts: at n it is a + b*n.
type line struct{ a, b float64 }

func through(x, y simCost, of func(simCost) float64) line {
	b := (of(y) - of(x)) / float64(y.hosts-x.hosts)
	return line{of(x) - b*float64(x.hosts), b}
}

func (l line) at(n int) float64 { return l.a + l.b*float64(n) }

// bytesOf are the costs in bytes.
var bytesOf = map[string]func(simCost) float64{
	"the launcher":              func(c simCost) float64 { return c.launcherBytes },
	"the busiest other process": func(c simCost) float64 { return c.bytes },
}

// TestGrowthSimulated: rounds grow with the levels of a tree, connections do not grow beyond the fan-out, and bytes
// grow as the number of hosts, which the busiest process has to know or to tell. A model of two sizes holds at the
// others.
//
//ci:weekly
func TestGrowthSimulated(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("simulates thousands of hosts, which have more goroutines than the race detector can follow")
	}
	const fanOut = 32
	var costs []simCost
	for _, n := range []int{16, 64, 256, 512, 1024, 4096} {
		costs = append(costs, simulate(t, simSize{n, 1, fanOut}))
		runtime.GC()
	}
	small, large := costs[2], costs[3]
	perLevel, atRoot := wireModel(t, costs[0], costs[1])
	for _, c := range costs {
		c.checkBounds(t, 1)
		if launch, wire := c.rounds(perLevel, atRoot); c.launchRounds != launch || c.wireRounds != wire {
			t.Errorf("%v: %d rounds until PEs run and %d until they are wired up, and the model says %d and %d", c.simSize, c.launchRounds, c.wireRounds, launch, wire)
		}
	}
	models := map[string]line{}
	for what, of := range bytesOf {
		models[what] = through(small, large, of)
		for _, c := range costs[2:] {
			if said := models[what].at(c.hosts); math.Abs(said/of(c)-1) > 0.15 {
				t.Errorf("%v: %s has %.0f bytes, and the model says %.0f", c.simSize, what, of(c), said)
			}
		}
	}
	for _, n := range []int{16384, 100000} {
		c := simCost{simSize: simSize{n, 1, fanOut}, launcherLinks: -1}
		c.launchRounds, c.wireRounds = c.rounds(perLevel, atRoot)
		c.launcherBytes, c.bytes = models["the launcher"].at(n), models["the busiest other process"].at(n)
		costs = append(costs, c)
	}
	t.Log("\n" + formatCosts(costs))
	checkPage(t, costs)
}

// page says what TestGrowthSimulated finds.
const page = "../../../docs/figures/start.md"

// checkPage fails if page has no row for a cost, or other numbers: of bytes it may be off by as much as rounding and
// the length of random numbers explain.
func checkPage(t *testing.T, costs []simCost) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range costs {
		levels, _ := c.levels()
		row := fmt.Sprintf("\n| %d | %d | %d | %d | ", c.hosts, levels, c.launchRounds, c.wireRounds)
		_, rest, found := strings.Cut(string(content), row)
		var links, launcher, busiest float64
		if _, err := fmt.Sscanf(rest, "%g | %g | %g |", &links, &launcher, &busiest); !found || err != nil {
			t.Errorf("%s has no row%s: %v", page, row, err)
			continue
		}
		if c.launcherLinks >= 0 && links != float64(c.launcherLinks) || math.Abs(launcher*1e6/c.launcherBytes-1) > 0.05 || math.Abs(busiest*1e6/c.bytes-1) > 0.05 {
			t.Errorf("%s says%s%g | %g | %g, and the simulation %+v", page, row, links, launcher, busiest, c)
		}
	}
}

// wireModel returns the rounds of a level of the exchange's tree, and those of its root, as two sizes show them.
func wireModel(t *testing.T, x, y simCost) (perLevel, atRoot int) {
	_, a := x.levels()
	_, b := y.levels()
	if a == b {
		t.Fatalf("%v and %v have as many levels", x.simSize, y.simSize)
	}
	perLevel = (y.wireRounds - x.wireRounds) / (b - a)
	return perLevel, x.wireRounds - a*perLevel
}

// checkBounds checks the connections of each process.
func (c simCost) checkBounds(t *testing.T, pes int) {
	t.Helper()
	if c.launcherLinks > c.fanOut || c.links > c.fanOut+1 || c.agentConns > pes+c.fanOut+2 {
		t.Errorf("%v: the launcher has started %d commands, a relay %d, and an agent has %d connections", c.simSize, c.launcherLinks, c.links, c.agentConns)
	}
}

// TestSimulatedSmallFanOut: the same with many levels, where what each of them adds is plain.
func TestSimulatedSmallFanOut(t *testing.T) {
	sizes := []int{2, 6, 14, 30, 62}
	if raceEnabled {
		sizes = sizes[:4]
	}
	var costs []simCost
	for _, n := range sizes {
		costs = append(costs, simulate(t, simSize{n, 3, 2}))
	}
	perLevel, atRoot := wireModel(t, costs[0], costs[1])
	for _, c := range costs {
		c.checkBounds(t, 3)
		if launch, wire := c.rounds(perLevel, atRoot); c.launchRounds != launch || c.wireRounds != wire {
			t.Errorf("%v: %d rounds until PEs run and %d until they are wired up, and the model says %d and %d", c.simSize, c.launchRounds, c.wireRounds, launch, wire)
		}
	}
}

func formatCosts(costs []simCost) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "hosts\tlevels\trounds: launch\twire-up\tlauncher: links\tmessages\tMB\tbusiest other: MB\trelay links\tagent connections\t")
	for _, c := range costs {
		levels, _ := c.levels()
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t", c.hosts, levels, c.launchRounds, c.wireRounds)
		if c.launcherLinks < 0 {
			fmt.Fprintf(w, "\tmodel\t%.3g\t%.3g\t\t\t\n", c.launcherBytes/1e6, c.bytes/1e6)
			continue
		}
		fmt.Fprintf(w, "%d\t%d\t%.3g\t%.3g\t%d\t%d\t\n", c.launcherLinks, c.messages, c.launcherBytes/1e6, c.bytes/1e6, c.links, c.agentConns)
	}
	w.Flush()
	return b.String()
}

// TestSimulatedFaults: one host that fails is named in one line, in time, and everything ends, however many hosts there
// are.
func TestSimulatedFaults(t *testing.T) {
	hosts, fanOut := 600, 8
	if raceEnabled {
		hosts, fanOut = 40, 3
	}
	tree := growTree(makeHosts(hosts), fanOut)
	relay := tree[1].head.index
	deep := tree[1]
	for len(deep.rest) > 0 {
		deep = deep.rest[len(deep.rest)-1]
	}
	for name, test := range map[string]struct {
		host  int
		fault simFault
		want  string
		most  time.Duration
	}{
		"an agent that never greets":      {deep.head.index, neverGreets, "has not answered within 30s", 45 * time.Second},
		"a relay that never greets":       {relay, neverGreets, "has not answered within 30s", 45 * time.Second},
		"an agent that sends noise":       {deep.head.index, sendsGarbage, "sends what no agent does", 20 * time.Second},
		"a relay that sends noise":        {relay, sendsGarbage, "sends what no agent does", 20 * time.Second},
		"an agent that breaks a frame":    {deep.head.index, breaksFrame, "sends what no agent does (a frame of 4294967295 bytes", 20 * time.Second},
		"an agent of another version":     {deep.head.index, greetsNewer, "its pgasrun is v9.9.9 (protocol 99), and this one is ", 20 * time.Second},
		"a relay of another version":      {relay, greetsNewer, "its pgasrun is v9.9.9 (protocol 99), and this one is ", 20 * time.Second},
		"an agent of an older version":    {deep.head.index, greetsOlder, "its pgasrun is older (protocol 5), and this one is ", 20 * time.Second},
		"an agent that is ready for what": {deep.head.index, garbledReady, "its agent is of another version", 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSimulation()
				spec := s.spec(hosts, 1, fanOut)
				s.fault[spec.Hosts[test.host].Name] = test.fault
				begun := time.Now()
				res, err := Run(t.Context(), spec)
				s.checkError(t, err, spec.Hosts[test.host].Name, test.want)
				if took := time.Since(begun); took > test.most || res.First != nil {
					t.Errorf("it has taken %v: %+v", took, res)
				}
				s.checkEnded(t)
			})
		})
	}
}

func makeHosts(n int) (hosts []*host) {
	for i := range n {
		hosts = append(hosts, &host{index: i})
	}
	return hosts
}

// checkError fails if err is not one line about a host.
func (s *simulation) checkError(t *testing.T, err error, host, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "host "+host) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is %v", err)
	}
}

// TestSimulatedRelayDies: a relay with many hosts behind it is killed while PEs run, and while hosts start. Its host is
// named, all ends, and the launcher has no more children at once than ever, though it sweeps up on all hosts that are
// lost.
func TestSimulatedRelayDies(t *testing.T) {
	size := simSize{600, 1, 8}
	if raceEnabled {
		size = simSize{40, 1, 3}
	}
	launch, _ := size.rounds(0, 0)
	for when, after := range map[string]time.Duration{
		"PEs run": time.Duration(launch)*latency + time.Second, "hosts start": time.Duration(launch-6) * latency,
	} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSimulation()
				s.linger = time.Hour
				spec := s.spec(size.hosts, size.pes, size.fanOut)
				lost := growTree(makeHosts(size.hosts), size.fanOut)[1].head.index
				name := spec.Hosts[lost].Name
				time.AfterFunc(after, func() { s.relayOf(name).signalled(unix.SIGKILL) })
				begun := time.Now()
				res, err := Run(t.Context(), spec)
				s.checkError(t, err, name, "killed")
				if took := time.Since(begun); took > time.Minute {
					t.Errorf("it has taken %v: %+v", took, res)
				}
				if s.launcher.most > 2*size.fanOut {
					t.Errorf("the launcher had %d children at once", s.launcher.most)
				}
				s.checkEnded(t)
			})
		})
	}
}

// relayOf returns the relay on a host.
func (s *simulation) relayOf(host string) *simProcess {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.processes, func(p *simProcess) bool { return p.node.host == host && p.node.most > 0 })
	return s.processes[i]
}

var errEnough = errors.New("enough")

// TestSimulatedCancel: a job of many hosts that is cancelled while PEs wait ends.
func TestSimulatedCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation()
		s.linger = time.Hour
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errEnough)
		defer cancel()
		begun := time.Now()
		if res, err := Run(ctx, s.spec(40, 2, 3)); err != errEnough || time.Since(begun) > 5*time.Second {
			t.Errorf("%+v, %v after %v", res, err, time.Since(begun))
		}
		s.checkEnded(t)
	})
}
