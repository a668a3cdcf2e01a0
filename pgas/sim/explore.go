package sim

// Explorations: runs in every order of operations. Package internal/explorer says how.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gopgas/gopgas/pgas/boot"
	"github.com/gopgas/gopgas/pgas/sim/internal/explorer"
)

// Exploration counts what Explore has done.
type Exploration struct {
	Runs    int // schedules tried, most of them cut short at a known state
	Ends    int // schedules that ran to their end
	States  int // different states
	Longest int // choices of the longest schedule
}

// Explore runs body on npes PEs in every order of the operations that come after each PE's call of Start. The
// error is that of the first run that fails, a *Failure, or says that ctx ended.
func Explore(ctx context.Context, cfg Config, npes int, body Body) (Exploration, error) {
	var e Exploration
	r := explorer.NewSearch(cfg.Reduce)
	var mem []byte
	cfg.Timeline = nil
	for {
		s, err := newSimIn(ctx, cfg, npes, body, mem)
		if err != nil {
			return e, err
		}
		mem = s.mem
		s.explore(nil, r)
		taken := s.explorer.Taken()
		e.Runs++
		e.States = r.States()
		e.Longest = max(e.Longest, len(taken))
		if s.net.Engine.Err() == nil {
			e.Ends++
		} else if !errors.Is(s.net.Engine.Err(), explorer.ErrSeen) {
			boot.UnmapAnonymous(mem)
			return e, s.failure(schedule(taken))
		}
		if !r.Backtrack() {
			return e, boot.UnmapAnonymous(mem)
		}
		if err := context.Cause(ctx); err != nil {
			boot.UnmapAnonymous(mem)
			return e, fmt.Errorf("the exploration was ended after %d schedules: %w", e.Runs, err)
		}
	}
}

// Replay runs body in one order: that of a Failure of Explore, with the same cfg and npes. The error is that of the
// run, or says that choices is no schedule.
func Replay(ctx context.Context, cfg Config, npes int, choices string, body Body) error {
	var prefix []int
	for choice := range strings.SplitSeq(choices, ".") {
		n, err := strconv.Atoi(choice)
		if err != nil || n < 0 {
			return fmt.Errorf("sim: %q is no schedule: they look like 0.2.1", choices)
		}
		prefix = append(prefix, n)
	}
	cfg.Timeline = nil
	s, err := newSimIn(ctx, cfg, npes, body, nil)
	if err != nil {
		return err
	}
	defer s.close()
	s.explore(prefix, nil)
	return s.failure(choices)
}

// schedule returns the choices as a Failure shows them.
func schedule(taken []int) string {
	parts := make([]string, len(taken))
	for i, n := range taken {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ".")
}

// explore runs s along prefix, or along a path that r has not been on.
func (s *sim) explore(prefix []int, r *explorer.Search) {
	s.explorer = explorer.New(s.net, s.cfg.Reduce, prefix, r)
	s.start()
	s.net.Engine.Run()
	if s.net.Engine.Err() == nil && !s.explorer.Started() {
		s.net.Engine.Fail(nil, errors.New("every PE must call sim.Start, where the exploration begins"))
	}
}

// Start marks where an exploration begins: when all PEs have called it. In other runs it does nothing.
func Start(ctx context.Context) {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p == nil || p.s.explorer == nil {
		return
	}
	p.s.explorer.Start(p.s.net.Engine.Running())
}

// Shares tells an exploration with Config.Reduce that the body, up to its next operation, reads or writes what the
// simulator does not see: variables of Go that PEs share, contexts of other PEs, or its own memory through Local.
// Without such calls Explore may leave out orders that matter.
func Shares(ctx context.Context) {
	p, _ := ctx.Value(peKey{}).(*pe)
	if p != nil && p.s.explorer != nil {
		p.s.explorer.Shares(&p.net.PE)
	}
}

// begin starts the exploration if all PEs have called Start, and reports whether it has.
func (s *sim) begin() bool {
	if s.explorer == nil || !s.explorer.Started() {
		return false
	}
	var heapEnd uint64
	for _, p := range s.pes {
		heapEnd = max(heapEnd, p.world.HeapUsage().High)
	}
	s.explorer.Begin(heapEnd)
	s.planFaults()
	return true
}
