package main

// pgasrun checkpoint: what jobs have saved in a directory.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/gopgas/gopgas/internal/cuts"
	"github.com/gopgas/gopgas/internal/plural"
)

const checkpointHelp = `pgasrun checkpoint lists, checks and removes what jobs have saved with package ckpt.

usage: pgasrun checkpoint ls DIR
       pgasrun checkpoint verify DIR [CUT ...]
       pgasrun checkpoint rm DIR CUT ...

  pgasrun -n 4 -checkpoint /shared/heat ./samples/heat -version saved
                                                 saves in /shared/heat
  pgasrun checkpoint ls /shared/heat             each cut with its PEs, size and items, the newest first
  pgasrun checkpoint verify /shared/heat         reads all of it, and says which cuts are whole
  pgasrun checkpoint rm /shared/heat c000002-t0001

A cut is what all PEs have saved at one moment. A job goes on from the newest cut that is whole. STARTS is how many jobs
have begun from a cut and saved nothing: after two of them an older cut has its turn. A cut that was removed is gone:
a job that has no other begins anew. No job may run with the directory while a cut is removed.

`

var checkpointWords = []string{"ls", "verify", "rm"}

const checkpointHint = "`pgasrun checkpoint ls DIR`, `pgasrun checkpoint -h` says more"

func checkpointFlags() *flagSet { return newFlags("pgasrun checkpoint", checkpointHint, nil) }

// checkpointUsage is what -h prints.
func checkpointUsage() string { return checkpointHelp + checkpointFlags().help() }

// runCheckpoint is pgasrun checkpoint.
func runCheckpoint(args []string, out io.Writer) (int, error) {
	wrong := func(format string, args ...any) (int, error) {
		return statusUsage, fmt.Errorf("checkpoint: %s: %s", fmt.Sprintf(format, args...), checkpointHint)
	}
	s := checkpointFlags()
	if err := s.parse(args); err != nil {
		return statusUsage, err
	}
	if s.NArg() == 0 {
		return wrong("say what to do: %s", strings.Join(checkpointWords, ", "))
	}
	do := map[string]func(context.Context, io.Writer, cuts.Store, []cuts.Cut) error{"ls": listCuts, "verify": verifyCuts, "rm": removeCuts}[s.Arg(0)]
	switch {
	case do == nil:
		return wrong("%s: it can %s", s.Arg(0), strings.Join(checkpointWords, ", "))
	case s.NArg() < 2:
		return wrong("%s: which directory?", s.Arg(0))
	case s.Arg(0) == "ls" && s.NArg() > 2:
		return wrong("ls: one directory is enough")
	case s.Arg(0) == "rm" && s.NArg() < 3:
		return wrong("rm: which cuts? `pgasrun checkpoint ls %s` lists them", s.Arg(1))
	}
	var which []cuts.Cut
	for _, text := range s.Args()[2:] {
		c, err := cuts.Parse(text)
		if err != nil {
			return wrong("%v", err)
		}
		which = append(which, c)
	}
	if info, err := os.Stat(s.Arg(1)); err != nil || !info.IsDir() {
		return statusFailed, fmt.Errorf("checkpoint: %s is no directory", s.Arg(1))
	}
	if err := do(context.Background(), out, cuts.Dir(s.Arg(1)), which); err != nil {
		return statusFailed, err
	}
	return 0, nil
}

func listCuts(ctx context.Context, out io.Writer, s cuts.Store, _ []cuts.Cut) error {
	list, err := cuts.List(ctx, s)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CUT\tPES\tBYTES\tSTARTS\tPROGRAM\tITEMS")
	for _, c := range list {
		if c.Err != nil {
			fmt.Fprintf(t, "%v\t-\t-\t-\t-\t%v\n", c.Cut, c.Err)
			continue
		}
		fmt.Fprintf(t, "%v\t%d\t%d\t%d\t%s\t%s\n", c.Cut, c.PEs, c.Bytes, c.Starts, c.Program, strings.Join(c.Items, ","))
	}
	return t.Flush()
}

// verifyCuts checks cuts, or all if none is named.
func verifyCuts(ctx context.Context, out io.Writer, s cuts.Store, which []cuts.Cut) error {
	if len(which) == 0 {
		all, err := cuts.All(ctx, s)
		if err != nil {
			return err
		}
		which = all
	}
	damaged := 0
	for _, c := range which {
		err := cuts.Verify(ctx, s, c)
		if err == nil {
			err = errors.New("whole")
		} else {
			damaged++
		}
		fmt.Fprintf(out, "%v  %v\n", c, err)
	}
	if damaged > 0 {
		return fmt.Errorf("%s of %d cannot be used", plural.Count(damaged, "cut"), len(which))
	}
	return nil
}

func removeCuts(ctx context.Context, _ io.Writer, s cuts.Store, which []cuts.Cut) error {
	for _, c := range which {
		if err := cuts.Remove(ctx, s, c); err != nil {
			return err
		}
	}
	return nil
}
