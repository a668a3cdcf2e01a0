package calls

// What kinds of calls there are: those that all PEs make together, those that wait, and those that order.

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Team returns what names the PEs of a collective: the World, or the Team. ok reports whether c is a collective.
func (c Call) Team() (team ssa.Value, ok bool) {
	switch c.Package {
	case "pgas":
		return c.teamOfPGAS()
	case "containers", "arena":
		return c.teamOfContainer()
	case "locks":
		return c.argument("World"), c.Type == "" && (strings.HasPrefix(c.Name, "Alloc") || c.Name == "Tune" || c.Name == "NewService") ||
			c.Is("locks", "Table.Free", "Service.Free")
	case "input":
		return c.argument("Team"), c.Is("input", "ReadShare", "WriteShare")
	case "progress":
		return c.argument("World"), c.Is("progress", "New", "Progress.End")
	case "dsm":
		return c.argument("World"), c.Is("dsm", "Open", "Alloc", "AllocLayout", "NewEvent", "NewMutex", "NewRWMutex",
			"Region.Barrier", "Region.Close", "Region.Report", "Region.Run")
	}
	return nil, false
}

func (c Call) teamOfPGAS() (team ssa.Value, ok bool) {
	switch c.Type {
	case "World":
		switch c.Name {
		case "Barrier", "Sync", "Close", "Topology":
			return c.Recv, true
		}
	case "Team":
		switch c.Name {
		case "Barrier", "Sync", "Destroy", "Split2D", "SplitColor", "SplitHost", "SplitLevel", "SplitList", "SplitStrided":
			return c.Recv, true
		}
	case "Sym":
		return nil, c.Name == "Free" || c.Name == "Realloc"
	case "":
		switch {
		case strings.HasPrefix(c.Name, "Alloc") || c.Name == "Agree":
			return c.argument("World"), true
		case c.argument("Team") != nil:
			return c.argument("Team"), true
		}
	}
	return nil, false
}

// argument returns the argument that is of a type of package pgas, or nil.
func (c Call) argument(typ string) ssa.Value {
	for _, a := range c.Args {
		if IsType(a.Type(), typ) {
			return a
		}
	}
	return nil
}

// Context returns the argument that is a context.Context, or nil.
func (c Call) Context() ssa.Value {
	for _, a := range c.Args {
		if IsContext(a.Type()) {
			return a
		}
	}
	return nil
}

// IsContext reports whether t is context.Context.
func IsContext(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == "Context" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "context"
}

// Completes reports whether after c all puts that this PE has issued are complete at least locally, and ordered before
// what follows.
func (c Call) Completes() bool {
	if _, collective := c.Team(); collective {
		return (c.Package != "containers" || c.isNew() || c.Name == "Free") && !c.OnlyMeets()
	}
	if c.isJoin() {
		return true
	}
	switch c.Name {
	case "Quiet", "MustQuiet":
		return c.Type == "World" || c.Type == "Context"
	case "Close":
		return c.Type == "Context"
	}
	return false
}

// isJoin reports whether c waits for goroutines of this PE, which may have done anything.
func (c Call) isJoin() bool { return c.Is("pgas", "Group.Wait") }

// OnlyMeets reports whether c is a collective that completes and orders no put: all but barriers, allocations and the
// making of teams.
func (c Call) OnlyMeets() bool {
	if c.Package != "pgas" {
		return false
	}
	return c.Name == "Sync" && (c.Type == "World" || c.Type == "Team") ||
		c.Type == "" && c.argument("Team") != nil
}

// Orders reports whether c orders earlier puts before later ones, at least to one PE.
func (c Call) Orders() bool {
	switch c.Name {
	case "Fence", "FencePE", "QuietPE":
		return c.Package == "pgas"
	}
	return c.Completes()
}

// Synchronizes reports whether after c this PE may know that another has done something: c waits for other PEs, or
// fetches a word that they may have updated. Time that passes tells nothing, so Sleep and Yield do not.
func (c Call) Synchronizes() bool {
	if _, collective := c.Team(); collective {
		return true
	}
	switch c.Package {
	case "pgas":
	case "input", "progress":
		return false
	default:
		return true
	}
	switch c.Type {
	case "LocalCompletion":
		return false
	case "Group":
		return c.isJoin()
	case "Request", "WaitSet", "NoteQueue", "LockRef":
		return true
	}
	return strings.HasPrefix(c.Name, "Fetch") || strings.HasPrefix(c.Name, "WaitUntil") || strings.HasSuffix(c.Name, "Swap") || c.Name == "Test"
}
