package main

import (
	"testing"

	"github.com/gopgas/gopgas/cmd/internal/manual"
	"github.com/gopgas/gopgas/cmd/internal/manual/manualtest"
)

// TestManualIsFresh: the manual pages in docs/use/man are what -h prints.
func TestManualIsFresh(t *testing.T) { manualtest.Fresh(t, commands(), "../../docs/use/man") }

// flagSets are the flags of pgasrun and its subcommands.
func flagSets() map[string]*flagSet {
	return map[string]*flagSet{
		"pgasrun": new(jobOptions).flags(), "pgasrun plan": new(jobOptions).flags(), "pgasrun static": staticFlags(new(peOptions)),
		"pgasrun k8s": new(k8sOptions).flags(), "pgasrun doctor": new(doctorOptions).flags(), "pgasrun env": new(envOptions).flags(),
		"pgasrun trace": traceFlags(new(bool)), "pgasrun checkpoint": checkpointFlags(), "pgasrun version": versionFlags(new(bool)),
	}
}

// TestEveryFlagIsInHelp: every flag of a command stands under a heading of its -h, and so in its manual page.
func TestEveryFlagIsInHelp(t *testing.T) {
	sets := flagSets()
	for _, c := range append(commands().Listed(), commands()) {
		set := sets[c.Name]
		if set == nil {
			t.Errorf("the flags of %s are not known here", c.Name)
			continue
		}
		manualtest.HasFlags(t, &manual.Command{Name: c.Name, Short: c.Short, Help: c.Help}, &set.FlagSet)
	}
}

// mostFlags bounds the flags of a job. Before another one is added, look for one that says the same.
const mostFlags = 26

func TestFewFlags(t *testing.T) {
	n := 0
	for _, g := range flagSets()["pgasrun"].groups {
		n += len(g.names)
	}
	if n > mostFlags {
		t.Errorf("pgasrun has %d flags, want %d at most", n, mostFlags)
	}
}
