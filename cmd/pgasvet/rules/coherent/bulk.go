package coherent

// Bulk accesses to a Slice that may not be present. A loop of a program's own that faults can be preempted between
// faults. The assembly behind copy, clear and the like cannot, so a stop of the world waits for all of its faults. A
// system call takes the faults in the kernel, which is not permitted everywhere.

import (
	"fmt"
	"go/types"
	"maps"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/gopgas/gopgas/cmd/pgasvet/internal/flow"
)

// present has the arrays, by path, that have been viewed since the last fence on every path.
type present map[string]bool

// bulkAccesses reports bulk accesses to the Slice of an array with no View before them.
func bulkAccesses(fn *ssa.Function, known origins, fencing map[*ssa.Function]bool) (found []analysis.Diagnostic) {
	f := flow.Flow[present]{
		Start: present{}, Equal: maps.Equal[present, present],

		Join: func(a, b present) present {
			both := maps.Clone(a)
			maps.DeleteFunc(both, func(array string, _ bool) bool { return !b[array] })
			return both
		},
		Step: func(s present, i ssa.Instruction) present { return viewed(s, i, known, fencing) },
	}
	f.Visit(fn, func(s present, i ssa.Instruction) {
		name, args := bulk(i)
		for _, arg := range args {
			if o := known[arg]; o != nil && o.access == whole && !s[o.array] {
				found = append(found, analysis.Diagnostic{Pos: flow.PositionOf(i, o.call.Pos()), Message: fmt.Sprintf(
					"%s on the Slice of a coherent array with no View of it since the last fence: its page faults hold up the whole program, or it fails with EFAULT in a system call; call View before it, or Update or Overwrite if it writes to it",
					name)})
				return
			}
		}
	})
	return found
}

// viewed returns the arrays that are present after an instruction.
func viewed(s present, i ssa.Instruction, known origins, fencing map[*ssa.Function]bool) present {
	call, ok := i.(*ssa.Call)
	if !ok {
		return s
	}
	if fenceName(&call.Call, fencing) != "" {
		return present{}
	}
	if o := known[call]; o != nil && o.access == checked && o.call == call && !s[o.array] {
		s = maps.Clone(s)
		s[o.array] = true
	}
	return s
}

// bulk returns the name of a bulk access and the values that it accesses, or "".
func bulk(i ssa.Instruction) (name string, args []ssa.Value) {
	call, ok := i.(ssa.CallInstruction)
	if !ok {
		return conversion(i)
	}
	c := call.Common()
	switch name := builtin(c); name {
	case "copy", "clear", "append":
		return name, c.Args
	case "":
	default:
		return "", nil
	}
	fn := c.Method // of an interface
	if fn == nil {
		fn = called(c)
	}
	if fn == nil || fn.Pkg() == nil || !isBulk(fn) {
		return "", nil
	}
	if fn.Signature().Recv() != nil {
		return fn.Name(), c.Args
	}
	return fn.Pkg().Name() + "." + fn.Name(), c.Args
}

// conversion returns the operand of a conversion between bytes and a string, which copies.
func conversion(i ssa.Instruction) (name string, args []ssa.Value) {
	c, ok := i.(*ssa.Convert)
	if !ok {
		return "", nil
	}
	if t, ok := c.Type().Underlying().(*types.Basic); ok && t.Info()&types.IsString != 0 {
		return "a conversion to string", []ssa.Value{c.X}
	}
	return "", nil
}

// isBulk reports whether a function accesses its arguments by assembly or in the kernel. Those of package slices that
// are loops in Go are none.
func isBulk(fn *types.Func) bool {
	name := fn.Name()
	if fn.Signature().Recv() != nil {
		switch name {
		case "Read", "Write", "ReadAt", "WriteAt", "ReadFrom", "WriteTo", "ReadMsgUDP", "WriteMsgUDP", "ReadFromUDP", "WriteToUDP":
			return fn.Pkg().Path() != dsmPath
		}
		return false
	}
	switch fn.Pkg().Path() {
	case "bytes", "syscall", "golang.org/x/sys/unix":
		return true
	case "slices":
		switch name {
		case "Clone", "Concat", "Repeat", "Insert", "Delete", "DeleteFunc", "Replace", "Grow", "Compact", "CompactFunc":
			return true
		}
	case "io":
		return name == "ReadFull" || name == "ReadAtLeast"
	case "os":
		return name == "WriteFile"
	}
	return false
}
