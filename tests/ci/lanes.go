package main

// Steps run in three lanes. Most run one after another in the first. Those that only compute run in the second,
// beside the steps of the first that come after them: processes that wait for each other leave CPU time, and the
// second lane gets no other. Those that mostly wait for time-outs run in the third, which gets as much as the
// first. What the others print is kept until the first lane is between two steps.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

func (r result) String() string {
	if r.err != nil {
		return fmt.Sprintf("== %s: failed after %.1f s: %v", r.name, r.took.Seconds(), r.err)
	}
	return fmt.Sprintf("== %s: ok, %.1f s", r.name, r.took.Seconds())
}

// runSteps runs every step, also after one that failed. Then it runs the tests again that failed, and lists the steps
// that failed nevertheless.
func runSteps(ctx context.Context, chosen []step, o options) error {
	begin := time.Now()
	failed, all := runLanes(ctx, chosen)
	if ctx.Err() == nil && len(failed) > 0 {
		failed = runAgain(ctx, failed, o)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	showTimes(all)
	showFlaky(o.list)
	took := time.Since(begin).Seconds()
	if len(failed) == 0 {
		fmt.Printf("\nrun-tests: %d steps passed in %.0f s\n", len(chosen), took)
		return nil
	}
	var lines []error
	for _, r := range failed {
		lines = append(lines, fmt.Errorf("  %s: %w (alone: `./run-tests -only %[1]s`)", r.name, r.err))
	}
	return fmt.Errorf("\nrun-tests: %d of %d steps failed, in %.0f s:\n%w", len(failed), len(chosen), took, errors.Join(lines...))
}

// showTimes prints how long each step took and its CPU time, in the order in which they ended: a step that grows
// shows.
func showTimes(all []result) {
	lanes := map[beside]string{alone: "first", computing: "computes", waiting: "waits"}
	fmt.Printf("\n%9s  %9s  %-9s  step\n", "seconds", "CPU time", "lane")
	var sum time.Duration
	for _, r := range all {
		fmt.Printf("%9.1f  %9.1f  %-9s  %s\n", r.took.Seconds(), r.cpu.Seconds(), lanes[r.beside], r.name)
		sum += r.cpu
	}
	fmt.Printf("%9s  %9.1f  %-9s  all steps\n", "", sum.Seconds(), "")
}

// runLanes runs steps and returns their results, and those of the steps that failed.
func runLanes(ctx context.Context, chosen []step) (failed, all []result) {
	q := startLanes(ctx, len(chosen))
	end := func(r result) {
		fmt.Println(r)
		all = append(all, r)
		if r.err != nil {
			failed = append(failed, r)
		}
	}
	for i, s := range chosen {
		fmt.Printf("\n== %d/%d %s: %s\n", i+1, len(chosen), s.name, s.what)
		if s.beside != alone {
			fmt.Printf("== %s: beside the next steps\n", s.name)
			q.add(s)
		} else {
			end(s.time(ctx))
		}
		q.take(end)
		if ctx.Err() != nil {
			break
		}
	}
	q.close(end)
	return failed, all
}

func (s step) time(ctx context.Context) result {
	start, cpu := time.Now(), new(atomic.Int64)
	err := s.run(context.WithValue(ctx, cpuKey{}, cpu))
	return result{step: s, took: time.Since(start), cpu: time.Duration(cpu.Load()), err: err}
}

// besides are the second lane and the third. Each does one step at a time.
type besides struct {
	todo map[beside]chan step
	done chan result
	left int // steps whose results have not been taken
}

// startLanes starts lanes for at most n steps.
func startLanes(ctx context.Context, n int) *besides {
	q := &besides{todo: map[beside]chan step{computing: make(chan step, n), waiting: make(chan step, n)}, done: make(chan result, n)}
	for _, todo := range q.todo {
		go func() {
			for s := range todo {
				if err := ctx.Err(); err != nil {
					q.done <- result{step: s, err: err}
					continue
				}
				q.done <- s.runAside(ctx)
			}
		}()
	}
	return q
}

// runAside runs a step beside others. Several programs may print at once, so that it goes to a file.
func (s step) runAside(ctx context.Context) result {
	out, err := os.CreateTemp("", "run-tests-")
	if err != nil {
		return result{step: s, err: err}
	}
	defer out.Close()
	os.Remove(out.Name())
	r := s.time(inLane(ctx, lane{out: out, low: s.beside == computing}))
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		r.err = errors.Join(r.err, err)
	}
	if r.printed, err = io.ReadAll(out); err != nil {
		r.err = errors.Join(r.err, err)
	}
	return r
}

func (q *besides) add(s step) {
	q.todo[s.beside] <- s
	q.left++
}

// take shows the steps that have ended, and passes them to end.
func (q *besides) take(end func(result)) {
	for {
		select {
		case r := <-q.done:
			q.show(r, end)
		default:
			return
		}
	}
}

// close waits for all steps, shows them, and passes them to end.
func (q *besides) close(end func(result)) {
	for _, todo := range q.todo {
		close(todo)
	}
	for q.left > 0 {
		q.show(<-q.done, end)
	}
}

func (q *besides) show(r result, end func(result)) {
	q.left--
	fmt.Printf("\n== %s: %s\n%s", r.name, r.what, r.printed)
	end(r)
}
