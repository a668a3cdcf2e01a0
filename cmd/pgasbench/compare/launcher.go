package compare

// For package growth: single programs, run where and as the rows run them.

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/gopgas/gopgas/cmd/pgasbench/result"
)

// A Place is where the PEs of a program run: PEs on this host, or if Hosts is more than one, one on each of so many
// hosts.
type Place struct{ PEs, Hosts int }

// A Launcher runs programs.
type Launcher struct{ t *tools }

// NewLauncher builds the programs in source, the top of the module ("": it is looked for), and makes so many hosts.
// What cannot be had is said by what needs it.
func NewLauncher(ctx context.Context, source string, hosts int, peers bool, news io.Writer) (*Launcher, error) {
	t, err := newTools(ctx, needs{osh: peers, hosts: hosts}, places{source: source}, news)
	if err != nil {
		return nil, err
	}
	return &Launcher{t}, nil
}

// Close removes what NewLauncher has made.
func (l *Launcher) Close() error { return l.t.close() }

// Ours runs pgasbench as PEs.
func (l *Launcher) Ours(ctx context.Context, limit time.Duration, p Place, flags ...string) ([]result.Result, error) {
	program := append([]string{"pgasbench", "-json"}, flags...)
	if p.Hosts > 1 {
		return l.run(ctx, limit, needs{hosts: p.Hosts}, oursOnHosts(p.Hosts, program...))
	}
	return l.run(ctx, limit, needs{}, pgasrun(p.PEs, program...))
}

// OSHMEM runs the peer.
func (l *Launcher) OSHMEM(ctx context.Context, limit time.Duration, p Place, flags ...string) ([]result.Result, error) {
	program := append([]string{"osh"}, flags...)
	if p.Hosts > 1 {
		return l.run(ctx, limit, needs{osh: true, hosts: p.Hosts}, oshmemOnHosts(p.Hosts, program...))
	}
	return l.run(ctx, limit, needs{osh: true}, oshmem(p.PEs, chosen, program...))
}

// Alone runs pgasbench without a launcher.
func (l *Launcher) Alone(ctx context.Context, limit time.Duration, args ...string) ([]result.Result, error) {
	return l.run(ctx, limit, needs{}, func(t *tools) []string { return append([]string{t.bin("pgasbench")}, args...) })
}

// Floor measures the floor: of this host, or of TCP between two.
func (l *Launcher) Floor(ctx context.Context, limit time.Duration, p Place, flags ...string) ([]result.Result, error) {
	if p.Hosts > 1 {
		return l.run(ctx, limit, needs{hosts: 2}, func(t *tools) []string { return append(suiteNamed(floorHostsSuite).argv(t), flags...) })
	}
	return l.run(ctx, limit, needs{}, func(t *tools) []string { return append(suiteNamed(floorSuite).argv(t), flags...) })
}

func (l *Launcher) run(ctx context.Context, limit time.Duration, n needs, argv func(*tools) []string) ([]result.Result, error) {
	if err := l.t.lacks(n); err != nil {
		return nil, err
	}
	out, _, err := runChild(ctx, limit, argv(l.t))
	if err != nil {
		return nil, err
	}
	return result.Read(out)
}

// A FloorPart is so many of one figure of `pgasbench floor`.
type FloorPart struct {
	Times float64
	Bench string
	Bytes int
}

// FloorOf returns what an operation at a place cannot do without on this machine, and the same in words; nothing if it
// has no meaningful floor.
func FloorOf(p Place, bench string, bytes int) (parts []FloorPart, inWord string) {
	suite := of("ours", p.PEs)
	if p.Hosts > 1 {
		suite = ofHosts("ours", p.Hosts)
	}
	found := row{ours: point{suite, bench, bytes}}.floor(runtime.NumCPU())
	for _, f := range found {
		parts = append(parts, FloorPart{f.times, f.point.bench, f.point.bytes})
	}
	return parts, inWords(found)
}

// Machine names the CPU and the number of CPUs.
func Machine() string { return strings.Trim(machine(), " ()") }

// Versions names what was measured: the peer, as its launcher says.
func (l *Launcher) Versions(ctx context.Context) string {
	out, _, err := runChild(ctx, 10*time.Second, []string{"ompi_info", "--version"})
	if err != nil {
		return "no Open MPI"
	}
	return fmt.Sprint(firstLine(string(out), "Open MPI"))
}
