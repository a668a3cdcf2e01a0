package main

// A test a hundred times, on a busy machine: what fails once in many runs does so here, before a run of all tests
// is red by chance. Each time is a process of its own, as in a run of go test, of a binary that is built once.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

const (
	hundredTimes = 100
	busyLoops    = 8
)

// hundred runs the tests that match pattern, a pattern of go test -run, in the packages that have some of these
// tests, or in those of dirs that have.
func hundred(ctx context.Context, pattern string, dirs []string, times, loops int) error {
	found, err := packagesWith(pattern, dirs)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "gopgas-hundred-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var binaries []string
	for i, dir := range found {
		binary := filepath.Join(tmp, fmt.Sprint(i), filepath.Base(dir)+".test")
		if err := show(ctx, nil, "go", "test", "-c", "-vet=off", "-o", binary, dir); err != nil {
			return err
		}
		binaries = append(binaries, binary)
	}
	fmt.Printf("== %d busy loops run beside the tests\n", loops)
	end, err := busy(ctx, loops)
	if err != nil {
		return err
	}
	defer end()
	var bad []error
	for i, dir := range found {
		bad = append(bad, repeat(ctx, dir, binaries[i], pattern, times))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(bad...)
}

// packagesWith returns the directories of packages that have tests whose names match the first level of pattern.
func packagesWith(pattern string, dirs []string) (found []string, err error) {
	first, _, _ := strings.Cut(pattern, "/")
	re, err := regexp.Compile(first)
	if err != nil {
		return nil, usageError{fmt.Errorf("run-tests: -hundred: %w", err)}
	}
	tests, err := functions(".", anyTest)
	if err != nil {
		return nil, err
	}
	for i, dir := range dirs {
		dirs[i] = "./" + filepath.ToSlash(filepath.Clean(dir))
	}
	for _, t := range tests {
		if re.MatchString(t.name) && t.name != "TestMain" && !slices.Contains(found, t.pkg) && (len(dirs) == 0 || slices.Contains(dirs, t.pkg)) {
			found = append(found, t.pkg)
		}
	}
	if len(found) == 0 {
		return nil, usageError{fmt.Errorf("run-tests: -hundred: no test matches %s: name one, and behind it directories of packages, if any: ./run-tests -hundred '^TestPut$' ./pgas", pattern)}
	}
	return found, nil
}

// repeat runs the tests of one package, prints how far it is and the output of the first failure, and returns how many
// times which tests failed.
func repeat(ctx context.Context, dir, binary, pattern string, times int) error {
	begin := time.Now()
	c := counts{failed: map[string]int{}}
	converter, err := output(ctx, "go", "tool", "-n", "test2json")
	if err != nil {
		return err
	}
	argv := []string{strings.TrimSpace(converter), "-p", dir, binary, "-test.v=test2json", "-test.timeout=0", "-test.run=" + pattern}
	for n := 1; n <= times; n++ {
		var out bytes.Buffer
		s, err := goTestRunIn(ctx, dir, &out, nil, argv, quietLimit)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s == nil {
			return err
		}
		ran := s.packages[dir]
		if err == nil && (ran == nil || len(ran.passed) == 0) {
			return fmt.Errorf("%s: no test that matches %s passes, all are skipped: see go test -v", dir, pattern)
		}
		if err != nil {
			c.take(s, dir)
			if c.runs == 1 {
				fmt.Printf("%s== %s: the first failure, in run %d, is above\n", out.Bytes(), dir, n)
			}
		}
		if n == times || n%max(1, times/10) == 0 {
			fmt.Printf("== %s: %d of %d runs, %d failed, %.0f s\n", dir, n, times, c.runs, time.Since(begin).Seconds())
		}
	}
	return c.err(dir, times)
}

// counts are how many runs of a package failed, and how often each test.
type counts struct {
	runs   int
	failed map[string]int
}

func (c *counts) take(s *summary, pkg string) {
	c.runs++
	p := s.packages[pkg]
	if p == nil || len(p.failed) == 0 {
		c.failed["the package, outside of a test that has ended"]++
		return
	}
	for _, name := range p.failed {
		c.failed[name]++
	}
}

func (c *counts) err(pkg string, times int) error {
	if c.runs == 0 {
		return nil
	}
	text := fmt.Sprintf("run-tests: %s failed in %d of %d runs:", pkg, c.runs, times)
	var names []string
	for name := range c.failed {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text += fmt.Sprintf("\n  %3d  %s", c.failed[name], name)
	}
	return errors.New(text)
}

// busy starts a process that computes on n threads, for no purpose, until end is called or this process ends.
func busy(ctx context.Context, n int) (end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := command(ctx, self, "busy", fmt.Sprint(n))
	in, err := cmd.StdinPipe() // which the kernel closes if this process is killed
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	end = func() {
		in.Close()
		cmd.Wait()
		cancel()
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		end()
		return nil, fmt.Errorf("the busy loops do not start: %w", err)
	}
	return end, nil
}

// busyCommand is the command that busy starts: it computes until its input ends.
func busyCommand(args []string) error {
	var n int
	if len(args) != 1 {
		return usageError{errors.New("ci busy is run by ./run-tests -hundred: use that")}
	}
	if _, err := fmt.Sscan(args[0], &n); err != nil {
		return usageError{fmt.Errorf("ci busy: %w", err)}
	}
	runtime.GOMAXPROCS(n + 1) // one for what waits for the end
	var ended atomic.Bool
	for range n {
		go func() {
			for !ended.Load() {
			}
		}()
	}
	fmt.Println("busy")
	_, err := io.Copy(io.Discard, os.Stdin)
	ended.Store(true)
	return err
}
